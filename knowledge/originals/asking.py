"""Having a parser child look at an original while somebody waits: within limits, a few at once, what it made kept."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.turns import Turns
from hub.core.errors import Conflict, Unavailable
from hub.core.languages import shown as in_reader_language
from hub.core.processes import PerProcess
from hub.core.temporary import temp_dir
from knowledge.ingest.stages import parse_limits
from knowledge.models import DocumentVersion
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.made_files import read_made_file
from knowledge.parsers.office.conversion import PAGED, PAGES_TASK, programs
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.storage import get_blob_store

MOST_KEPT_BYTES = 64 * 1024 * 1024
# Somebody waits in one of the request threads, so that looking has to be quick and leave threads for others.
AT_ONCE, MOST_WAIT_S, MOST_CPU_S, MOST_MEMORY_BYTES = 3, 15.0, 10.0, 1024 * 1024 * 1024
# Pages of an office document are made once, and then looked at. What failed would fail again, and is not tried at once.
MAKING_AT_ONCE, MOST_MAKING_S, MOST_MAKING_CPU_S, TRIED_AGAIN_AFTER_S = 2, 60.0, 45.0, 600.0
# What took too long on a busy machine may be quick in a moment, for everybody who looks at the same file.
SLOW, SLOW_TRIED_AGAIN_AFTER_S = "timeout", 60.0
ERROR_BYTES, MOST_KEPT_FAILURES = 1024, 4096
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Value = TypeVar("Value")


class NoSuchPage(Conflict):
    """The original has no such page."""


class Kept(Generic[Key, Value]):
    """What was made last, up to a number of bytes; nothing that is more than half of that. Safe for several threads."""

    def __init__(self, most_bytes: int, *, size: Callable[[Value], int]) -> None:
        self._most_bytes = most_bytes
        self._size = size
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Key, value: Value) -> None:
        """Keep a value in place of the one before."""
        with self._lock:
            if self._size(value) > self._most_bytes // 2:
                return
            self._drop(key)
            self._kept[key] = value
            self._bytes += self._size(value)
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        if key in self._kept:
            self._bytes -= self._size(self._kept.pop(key))


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """Why a child could not do something, and when that was found out (monotonic seconds)."""

    error: ParseError
    at: float = dataclasses.field(default_factory=time.monotonic)

    def holds(self) -> bool:
        """Whether it was not long ago."""
        lasts = SLOW_TRIED_AGAIN_AFTER_S if self.error.code == SLOW else TRIED_AGAIN_AFTER_S
        return time.monotonic() - self.at < lasts


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The PDF that was made of a file, or why none could be."""

    data: bytes = b""
    failure: Failure | None = None

    def holds(self) -> bool:
        """Whether it still counts: a PDF for good, a failure for a while."""
        return self.failure is None or self.failure.holds()


def is_converted(version: DocumentVersion) -> bool:
    """Whether pages of a version are those that LibreOffice makes, which is installed here."""
    return version.format in PAGED and programs() is not None


def takes_a_while(version: DocumentVersion) -> bool:
    """Whether the pages of a version have yet to be made, which takes seconds."""
    return is_converted(version) and _kept_pages(version) is None


def ask_original(
    principal: Principal,
    row: DocumentVersion,
    load: Callable[[dict[str, Any], Path], Result],
    task: str,
    /,
    **arguments: object,
) -> Result:
    """Have a parser child look at a version's file, or at its pages, as one of `AT_ONCE` within `limits_of_looking`.

    Pages that have to be made are made in a turn of the caller's. What could not be done is not tried again for
    `TRIED_AGAIN_AFTER_S`, what took too long for `SLOW_TRIED_AGAIN_AFTER_S`. No permissions are applied.

    :raises Conflict: it can't be looked at. :raises NoSuchPage: there is none of that number.
    :raises TooManyAtOnce: the caller has as many pages made, or waits for as many, as may be.
    :raises Unavailable: the processes that look are gone, or others look at so much that no turn came.
    """
    try:
        with _file_of(principal, row) as path, _remembering(row, task, arguments), turn_of(_places):
            return run_isolated(
                task, path, load, filename=row.filename, limits=limits_of_looking(), arguments=arguments
            )
    except ParseError as error:
        kind = NoSuchPage if error.code == "page_not_found" else Conflict
        reason = in_reader_language(error.text)
        raise kind(_("The original can't be shown: {reason}"), code="original_not_shown", reason=reason) from error
    except HostLost as error:
        raise Unavailable(_("The original can't be shown now. Try again in a moment.")) from error


@contextmanager
def _remembering(row: DocumentVersion, task: str, arguments: Mapping[str, object]) -> Iterator[None]:
    """Keep how a look fails in the block, and fail so at once when it is asked for again.

    :raises ParseError: as the look did, or does.
    """
    asked = row.blob_id, task, hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).digest()
    if (failure := _failures.get(asked)) is not None and failure.holds():
        raise failure.error.with_traceback(None)
    try:
        yield
    except ParseError as error:
        _failures.put(asked, Failure(error))
        raise


@contextmanager
def _file_of(principal: Principal, row: DocumentVersion) -> Iterator[Path]:
    """The file whose pages or cells are shown: the original, or the PDF that is made of it."""
    if not is_converted(row):
        with get_blob_store().local_path(row.blob_id) as path:
            yield path
        return
    with tempfile.NamedTemporaryFile(prefix="hub-pages-", suffix=".pdf", dir=temp_dir()) as file:
        file.write(_pages_of(principal, row))
        file.flush()
        yield Path(file.name)


def _pages_of(principal: Principal, row: DocumentVersion) -> bytes:
    """Make a PDF of an office document, one at a time for each person, or give the one that was made before.

    :raises ParseError: none can be made; that is remembered for `TRIED_AGAIN_AFTER_S`. :raises HostLost: try again.
    """
    made = _kept_pages(row)
    if made is None:
        # Who waits for the same document finds it made; of those who ask for more and more, others have a turn.
        with _making.get().taken_by(principal):
            made = _kept_pages(row) or _made(row)
            _pages.put(row.blob_id, made)
    if made.failure is not None:
        raise made.failure.error.with_traceback(None)
    return made.data


def _kept_pages(row: DocumentVersion) -> Pages | None:
    kept = _pages.get(row.blob_id)
    return kept if kept is not None and kept.holds() else None


def _made(row: DocumentVersion) -> Pages:
    try:
        with get_blob_store().local_path(row.blob_id) as path:
            data = run_isolated(PAGES_TASK, path, _load_file, filename=row.filename, limits=_limits_of_making())
    except ParseError as error:
        return Pages(failure=Failure(error))
    return Pages(data=data)


def _load_file(result: dict[str, Any], folder: Path) -> bytes:
    return read_made_file(folder / Path(result["file"]).name)


def limits_of_looking() -> ParseLimits:
    """The limits of a child while somebody waits for a page: a part of those of taking a document in."""
    return _at_most(MOST_CPU_S, MOST_WAIT_S)


def _limits_of_making() -> ParseLimits:
    return _at_most(MOST_MAKING_CPU_S, MOST_MAKING_S)


def _at_most(cpu_s: float, wall_s: float) -> ParseLimits:
    limits = parse_limits()
    return dataclasses.replace(
        limits,
        cpu_s=min(limits.cpu_s, cpu_s),
        wall_s=min(limits.wall_s, wall_s),
        memory_bytes=min(limits.memory_bytes, MOST_MEMORY_BYTES),
    )


@contextmanager
def turn_of(turn: threading.Lock | threading.BoundedSemaphore) -> Iterator[None]:
    """Have a turn inside the block. :raises Unavailable: it did not come in `MOST_WAIT_S`."""
    if not turn.acquire(timeout=MOST_WAIT_S):
        raise Unavailable(_("The original can't be shown now. Try again in a moment."))
    try:
        yield
    finally:
        turn.release()


_pages: Kept[str, Pages] = Kept(MOST_KEPT_BYTES, size=lambda pages: len(pages.data) or ERROR_BYTES)
_failures: Kept[Hashable, Failure] = Kept(MOST_KEPT_FAILURES, size=lambda _failure: 1)
_places = threading.BoundedSemaphore(AT_ONCE)
_making = PerProcess(lambda: Turns(most=MAKING_AT_ONCE, most_waiting=AT_ONCE - 1, wait_s=MOST_WAIT_S))
