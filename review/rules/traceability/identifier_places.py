"""Where identifiers stand and what they are called there."""

from __future__ import annotations

from collections.abc import Iterable

from knowledge.text.folding import fold_compact
from knowledge.text.identifier_shapes import Mention
from knowledge.text.tables import Row, Table
from review.types import RuleInput, Span


def mention_spans(mentions: Iterable[Mention]) -> tuple[Span, ...]:
    """Return where the identifiers stand, in document order, none twice."""
    return tuple(Span(start=start, end=end) for start, end in sorted({(m.start, m.end) for m in mentions}))


def home(mention: Mention, tables: tuple[Table, ...]) -> tuple[Table | None, Row | None]:
    """Return the table and row that an identifier stands in, or None twice."""
    for table in tables:
        for row in table.rows:
            if row.start <= mention.start < row.end:
                return table, row
    return None, None


def name_of(mention: Mention, row: Row | None, target: RuleInput) -> str:
    """Return what the definition calls the thing: the rest of its cell, else the next cell; or the rest of the line."""
    if row is None:
        line_end = target.text.find("\n", mention.end)
        return fold_compact(target.text[mention.end : line_end if line_end >= 0 else len(target.text)]).strip(
            ":：*_-）)】]"
        )
    cells = [cell for cell in row.cells if cell.end > mention.start]
    inside = fold_compact(target.text[mention.end : cells[0].end]).strip(":：*_-（()）") if cells else ""
    return inside or (fold_compact(cells[1].text) if len(cells) > 1 else "")


def same_thing(first: str, second: str) -> bool:
    """Names that share two neighbouring characters are taken for two wordings of one name."""
    if not first or not second or first in second or second in first:
        return True
    return any(first[index : index + 2] in second for index in range(len(first) - 1))
