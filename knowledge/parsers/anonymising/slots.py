"""Texts of a file that can be written again, in the order in which they are read: lines, paragraphs, tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from hub.core.masking import Masking, chosen_masking
from knowledge.text.folding import normalise
from knowledge.types.anonymising import KINDS, Anonymising

_NAME = re.compile(r"\[[A-Z_]{1,20}-\d{1,9}\]")
_AROUND_LABELS = re.compile(r"[\s*＊※:：]+")
# Labels of cells beside or below which a value needs no form of its own to be of a kind.
_LABELS = (
    (
        "PHONE",
        re.compile(r"(?:自宅|連絡先|勤務先|携帯|代表)?(?:電話|TEL|FAX)(?:番号)?|携帯(?:番号)?", re.IGNORECASE),
        re.compile(r"0?[1-9]\d{8,9}"),
    ),
    ("BANK_ACCOUNT", re.compile(r"(?:振込先|普通|当座)?口座(?:番号)?"), re.compile(r"\d{6,8}")),
    ("ADDRESS", re.compile(r"(?:自宅|現|連絡先|送付先)?住所"), re.compile(r".+", re.DOTALL)),
)


@dataclass(slots=True, eq=False)
class Slot:
    """A text at one place of the file. The reader of the format that made it writes ``text`` back there."""

    text: str


Cell = Sequence[Slot]
Row = Sequence[Cell]


def label_of(text: str) -> str:
    """Give what a cell calls what stands beside or below it, without blanks and marks, in one width."""
    return _AROUND_LABELS.sub("", normalise(text))


@dataclass(slots=True)
class Replacer:
    """Replaces what was chosen, everywhere in one file: the same value has the same name in all of it."""

    wanted: Anonymising
    masking: Masking = field(init=False)
    whole: dict[str, str] = field(default_factory=dict)
    _labels: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.masking = chosen_masking([KINDS[kind] for kind in self.wanted.kinds], self.wanted.fields)
        self._labels = frozenset(label_of(name) for name in self.wanted.fields)

    def line(self, slots: Sequence[Slot]) -> None:
        """Replace in a paragraph, whose slots are its runs."""
        texts = [slot.text for slot in slots]
        for slot, text in zip(slots, self.masking.mask_parts(texts), strict=True):
            slot.text = text

    def text(self, text: str) -> str:
        """Replace in a text that stands for itself, and as a whole where it is a value that a table had."""
        return self.whole.get(text.strip()) or self.masking.mask_parts([text])[0]

    def grid(self, rows: Sequence[Row], *, is_headed: bool = False) -> None:
        """Replace in a table: what stands beside and below the labels, and what has a form of its own in any cell.

        ``is_headed``: the first row is known to name the columns, so that nothing beside its labels is a value.
        """
        kinds = frozenset(KINDS[kind] for kind in self.wanted.kinds)
        for block, is_first in _blocks(rows):
            for row, column, kind in _Labelled(block, self._labels, kinds, is_headed=is_headed and is_first):
                self._replace(block[row][column], kind)
        for cells in rows:
            bar = Slot("|")
            self.line([slot for cell in cells for slot in (*cell, bar)])

    def _replace(self, cell: Cell, kind: str) -> None:
        text = text_of(cell)
        if not (value := text.strip()) or _NAME.fullmatch(value):
            return
        blank = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        self.whole[value] = name = self.masking.name(value, kind)
        for slot in cell:
            slot.text = ""
        cell[0].text = name.join(blank)


def text_of(cell: Cell) -> str:
    """Give a cell's text as one."""
    return "".join(slot.text for slot in cell)


def _blocks(rows: Sequence[Row]) -> Iterator[tuple[Sequence[Row], bool]]:
    """Cut where a whole row is empty: what follows is another table. With whether it is the first."""
    start, first = 0, True
    for index in range(len(rows) + 1):
        if index == len(rows) or not any(text_of(cell).strip() for cell in rows[index]):
            if index > start:
                yield rows[start:index], first
                first = False
            start = index + 1


class _Labelled:
    """The cells of a table that are values of its labels, each as row, column and kind.

    Labels that stand beside each other name columns, labels that stand below each other name rows. Of a label that has
    no other beside or below, both are taken: too much is gone then, never too little.
    """

    def __init__(self, rows: Sequence[Row], names: Collection[str], kinds: Collection[str], *, is_headed: bool) -> None:
        self._texts = [[text_of(cell).strip() for cell in row] for row in rows]
        self._is_headed = is_headed
        self._labels: dict[tuple[int, int], tuple[str, re.Pattern[str] | None]] = {}
        for row, texts in enumerate(self._texts):
            for column, text in enumerate(texts):
                if len(text) <= 80 and (found := self._label(label_of(text), names, kinds)):
                    self._labels[row, column] = found
        self._by_column = Counter(column for _row, column in self._labels)

    @staticmethod
    def _label(label: str, names: Collection[str], kinds: Collection[str]) -> tuple[str, re.Pattern[str] | None] | None:
        if label in names:
            return "FIELD", None
        for kind, pattern, value in _LABELS:
            if kind in kinds and pattern.fullmatch(label):
                return kind, value
        return None

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        for (row, column), (kind, form) in self._labels.items():
            in_line = {(row, column - 1), (row, column + 1)} & self._labels.keys()
            names_column = bool(in_line) or (self._is_headed and row == 0)
            if not names_column:
                yield from self._beside(row, column, kind, form)
            if names_column or self._by_column[column] == 1:
                yield from self._below(row, column, kind, form)

    def _beside(self, row: int, column: int, kind: str, form: re.Pattern[str] | None) -> Iterator[tuple[int, int, str]]:
        texts = self._texts[row]
        place = next((at for at in range(column + 1, len(texts)) if texts[at] and texts[at] != texts[column]), None)
        if place is not None and self._is_value(row, place, form):
            yield row, place, kind

    def _below(self, row: int, column: int, kind: str, form: re.Pattern[str] | None) -> Iterator[tuple[int, int, str]]:
        for below in range(row + 1, len(self._texts)):
            if column < len(self._texts[below]) and self._is_value(below, column, form):
                yield below, column, kind

    def _is_value(self, row: int, column: int, form: re.Pattern[str] | None) -> bool:
        text = self._texts[row][column]
        if not text or (row, column) in self._labels:
            return False
        return form is None or form.fullmatch(normalise(text)) is not None
