"""The cell of a table that says yes or no, such as ○ and ×, or 有 and 無, with its row and its column by name. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.answering.asked import AskedThing, Wanted
from knowledge.answering.sentences import PlacedSentence
from knowledge.index.morphemes import ENGLISH_STOP_WORDS
from knowledge.text.folding import fold_terms, normalise
from knowledge.text.tables import cells_of

_MARK = re.compile(
    r"(?:[○◯〇●◎△▲×xX✕✖✗✘✓✔✅❌－ー―—-]|有り?|無し?|あり|なし|不?可|不?要|必須|任意|済み?|未|はい|いいえ|対象外?|非対象"
    r"|[Yy]es|[Nn]o|YES|NO|[YyNn])(?: ?[(※*].{1,60})?"
)
_MARKUP = re.compile(r"<br ?/?>|\*\*|`")
# What tells things apart: each kanji, since 取消 and 取り消す are one act, and whole words of other letters.
_LETTERS = re.compile(r"[\u3005\u3400-\u4dbf\u4e00-\u9fff]|[ァ-ヴー]{2,}|[a-z0-9]+")
_ONLY_ASKS = re.compile(r"可能|必要|不要|許可|許さ|対象|有無|可否|要否|是非|出来")
_LEAST_NAME = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedCell:
    """What a cell says of its row, both as they are written; ``column`` is empty where the table names none."""

    row: str
    column: str
    mark: str

    def __str__(self) -> str:
        """Name the row and the column before what the cell says: 予約の取消 / 一般利用者: ×."""
        return f"{' / '.join(filter(None, [self.row, self.column]))}: {self.mark}"


def marked_cell(question: str, asked: AskedThing, one: PlacedSentence) -> MarkedCell | None:
    """Find the cell of a row that answers a yes-or-no question; None where the row is about something else.

    The question names the column, unless one cell alone says yes or no; and all else that it names is in the row or
    above it, and some of it in the row.
    """
    if asked.kind is not Wanted.YES_NO or not one.text.startswith("|"):
        return None
    cells = [_MARKUP.sub(" ", cell).strip() for cell in cells_of(one.text)]
    columns = [_MARKUP.sub("", cell).strip() for cell in cells_of(one.header)] if one.header else []
    marks = [place for place, cell in enumerate(cells) if _MARK.fullmatch(normalise(cell))]
    folded = fold_terms(question)
    place = _column_named(folded, columns, marks)
    if place is None:
        return None
    column = columns[place] if place < len(columns) else ""
    names = [cell for at, cell in enumerate(cells) if at not in marks]
    wanted = _letters(_ONLY_ASKS.sub(" ", folded))
    elsewhere = _letters(fold_terms("\n".join([column, *one.hit.section_path, one.heading, one.hit.title])))
    of_row = wanted - _letters(fold_terms(column))
    in_row = [cell for cell in names if not _letters(fold_terms(cell)).isdisjoint(of_row)]
    if not in_row or not wanted <= elsewhere | _letters(fold_terms(" ".join(names))):
        return None
    return MarkedCell(row=" / ".join(in_row), column=column, mark=cells[place])


def _column_named(question: str, columns: Sequence[str], marks: Sequence[int]) -> int | None:
    """The place of the column with the longest name that the question has; without one the only place with a mark."""
    named = [
        (len(columns[place]), place)
        for place in marks
        if place < len(columns) and len(columns[place]) >= _LEAST_NAME and fold_terms(columns[place]) in question
    ]
    if named:
        return max(named)[1]
    return marks[0] if len(marks) == 1 else None


def _letters(folded: str) -> frozenset[str]:
    return frozenset(_LETTERS.findall(folded)) - ENGLISH_STOP_WORDS
