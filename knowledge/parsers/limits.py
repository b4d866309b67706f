"""What one parse may use, and how a process binds itself to that."""

from __future__ import annotations

import math
import resource
import signal
from dataclasses import dataclass

from knowledge.parsers.errors import parse_error, readable_size

_MB = 1024 * 1024
_RESERVE_BYTES = 16 * _MB


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """Upper bounds for parsing one file; each one that is passed ends in its own ParseError code.

    ``max_expansion_ratio`` (expanded bytes per stored byte) counts only once an archive expands beyond
    ``ratio_free_bytes``: XML of an honest spreadsheet reaches 50, a zip bomb 1000.
    """

    wall_s: float = 300.0
    cpu_s: float = 240.0
    memory_bytes: int = 2048 * _MB
    max_input_bytes: int = 200 * _MB
    max_output_bytes: int = 64 * _MB
    max_pages: int = 3000
    max_cells: int = 1_000_000
    max_expanded_bytes: int = 1024 * _MB
    max_expansion_ratio: float = 200.0
    ratio_free_bytes: int = 64 * _MB
    max_archive_entries: int = 20_000
    max_figures: int = 500
    max_figure_bytes: int = 16 * _MB
    max_figures_bytes: int = 64 * _MB

    def check_input(self, size_bytes: int) -> None:
        """Refuse a file by its size. :raises ParseError: ``too_large``."""
        if size_bytes > self.max_input_bytes:
            limit = readable_size(self.max_input_bytes)
            raise parse_error("too_large", size=readable_size(size_bytes), limit=limit)


class CellCount:
    """Counts the places that the tables of one document take."""

    def __init__(self, limits: ParseLimits) -> None:
        self._most = limits.max_cells
        self._taken = 0

    def take(self, cells: int) -> None:
        """Count more of them. :raises ParseError: ``too_many_cells``."""
        self._taken += cells
        if self._taken > self._most:
            raise parse_error("too_many_cells", limit=f"{self._most:,}")


def bind_process(limits: ParseLimits, *, inherited_bytes: int = 0) -> None:
    """Lower this process's resource limits for good, and set an alarm that ends it even when orphaned.

    ``memory_bytes`` come on top of the address space that the process had already; `take_reserve` adds a little more.
    """
    cpu_s = math.ceil(limits.cpu_s)
    # The soft limit ends it with SIGXCPU, which names the reason; at the hard one it would be SIGKILL.
    _lower(resource.RLIMIT_CPU, cpu_s, hard=cpu_s + 5)
    memory_bytes = limits.memory_bytes + inherited_bytes
    _lower(resource.RLIMIT_AS, memory_bytes, hard=memory_bytes + _RESERVE_BYTES)
    _lower(resource.RLIMIT_FSIZE, limits.max_output_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    # The parent kills at wall_s; the alarm is for a parent that died.
    signal.alarm(math.ceil(limits.wall_s) + 5)


def take_reserve() -> None:
    """Let this process, which failed and may have no memory left, have what it needs to say why."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _lower(kind: int, soft: int, *, hard: int | None = None) -> None:
    _, ceiling = resource.getrlimit(kind)
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))
