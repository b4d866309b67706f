"""What a chunk is told about where it stands: the headings above it and its table's header."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from knowledge.chunkers.budget import Budget
from knowledge.chunkers.pieces import Piece, table_header
from knowledge.types.documents import BlockKind, Section

_SEPARATOR = " > "
_PATH_SHARE = 0.25
_HEADER_SHARE = 0.4


class SectionContext:
    """Writes the context prefix of the chunks of one section."""

    def __init__(self, markdown: str, sections: Sequence[Section], budget: Budget) -> None:
        self._markdown = markdown
        self._sections = sections
        self._budget = budget

    def prefix(self, first: Piece) -> str:
        """Return the titles of the sections that began before the piece, then the header of the table it goes on with.

        Each part ends in a newline. The path is trimmed from the top to a quarter of the chunk; a header that would
        take over 2/5 of it is left out.
        """
        titles = [section.title for section in self._sections if section.start < first.start and section.title]
        return self._path(titles) + self._header(first)

    def _path(self, titles: list[str]) -> str:
        while len(titles) > 1 and self._budget.estimate(_SEPARATOR.join(titles)) > _PATH_SHARE:
            titles = titles[1:]
        path = _SEPARATOR.join(titles)
        share = self._budget.estimate(path)
        if share > _PATH_SHARE:
            path = path[: int(len(path) * _PATH_SHARE / share)].rstrip()
        return f"{path}\n" if path else ""

    def _header(self, first: Piece) -> str:
        if first.header is None:
            return ""
        header = self._markdown[slice(*first.header)].rstrip("\n")
        return f"{header}\n" if self._budget.estimate(header) <= _HEADER_SHARE else ""

    def rest_of(self, piece: Piece, start: int) -> Piece:
        """Return what remains of a piece cut at ``start``; the rest of a table knows its header."""
        header = piece.header
        if header is None and piece.block.kind is BlockKind.TABLE:
            header = table_header(self._markdown, piece.block)
        if header is not None and header[1] > start:
            header = None
        return dataclasses.replace(piece, start=start, header=header)
