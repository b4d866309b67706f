"""Replacing in the cells of a workbook: shared strings, texts of their own, numbers, results of formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from knowledge.parsers.anonymising.slots import Replacer, Slot
from knowledge.parsers.anonymising.xml import local
from knowledge.parsers.errors import parse_error

_SHEET = re.compile(r"xl/(?:worksheets|macrosheets|dialogsheets)/[^/]+\.xml", re.IGNORECASE)
_CHAIN = "xl/calcChain.xml"
_COLUMN = re.compile(r"[A-Z]{1,3}")


@dataclass(slots=True, eq=False)
class _Cell:
    element: Any
    column: int
    before: str
    slot: Slot
    shared: int | None


class Workbook:
    """The parts of a workbook as trees, which are changed in place."""

    def __init__(self, parts: Mapping[str, Any], replacer: Replacer, *, most_cells: int) -> None:
        self._parts = parts
        self._replacer = replacer
        self._room = most_cells
        strings = next((tree for name, tree in parts.items() if name.lower() == "xl/sharedstrings.xml"), None)
        self._strings = [] if strings is None else list(strings.getroot().iter("{*}si"))
        self._drops_formulas = False

    def replace(self) -> set[str]:
        """Replace in all sheets; gives the names of parts that have to go."""
        kept: set[int] = set()
        gone: set[int] = set()
        for name, tree in self._parts.items():
            if _SHEET.fullmatch(name):
                for cell in self._replaced_cells(tree.getroot()):
                    (gone if cell.slot.text != cell.before else kept).add(-1 if cell.shared is None else cell.shared)
        for number in gone - kept - {-1}:
            _set_text(self._strings[number], "")
        return self._without_chain() if self._drops_formulas else set()

    def _replaced_cells(self, root: Any) -> Iterator[_Cell]:  # noqa: ANN401
        rows = [[self._cell(cell) for cell in row.iter("{*}c")] for row in root.iter("{*}row")]
        self._room -= sum(map(len, rows))
        if self._room < 0:
            raise parse_error("too_many_cells", limit=f"{sum(map(len, rows)):,}")
        columns = sorted({cell.column for row in rows for cell in row})
        places = {column: place for place, column in enumerate(columns)}
        grid = []
        for row in rows:
            width = 1 + max((places[one.column] for one in row), default=-1)
            cells: list[list[Slot]] = [[] for _place in range(width)]
            for cell in row:
                cells[places[cell.column]] = [cell.slot]
            grid.append(cells)
        self._replacer.grid(grid)
        for row in rows:
            for cell in row:
                self._write(cell)
                yield cell

    def _cell(self, element: Any) -> _Cell:  # noqa: ANN401
        kind, shared, text = element.get("t", "n"), None, ""
        value = next((one.text or "" for one in element if local(one) == "v"), "")
        if kind == "s" and value.isdecimal() and int(value) < len(self._strings):
            shared = int(value)
            text = _text_of(self._strings[shared])
        elif kind == "inlineStr":
            text = "".join(_text_of(one) for one in element if local(one) == "is")
        elif kind in ("n", "str", "d"):
            text = value
        found = _COLUMN.match(element.get("r", ""))
        column = _number(found[0]) if found else 1 + len(list(element.itersiblings(preceding=True)))
        return _Cell(element=element, column=column, before=text, slot=Slot(text), shared=shared)

    def _write(self, cell: _Cell) -> None:
        element = cell.element
        formula = next((one for one in element if local(one) == "f"), None)
        said = (formula.text or "") if formula is not None else ""
        if cell.slot.text == cell.before and (not said or not self._replacer.masking.found(said)):
            return
        if formula is not None:
            if formula.get("t") in ("shared", "array", "dataTable") and formula.get("ref"):
                raise parse_error("holds_files", parts=f"{element.get('r')}: {formula.get('t')} formula")
            self._replacer.text(said)  # what it held is gone as well, and counted
            self._drops_formulas = True
        for child in list(element):
            if local(child) in ("v", "f", "is"):
                element.remove(child)
        space = etree.QName(element).namespace
        element.set("t", "inlineStr")
        inline = etree.Element(f"{{{space}}}is")
        element.insert(0, inline)
        text = etree.SubElement(inline, f"{{{space}}}t")
        text.text = cell.slot.text
        if cell.slot.text != cell.slot.text.strip():
            text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")

    def _without_chain(self) -> set[str]:
        """Take the order of calculation out, which names cells with formulas; Excel makes it anew."""
        for name, tree in self._parts.items():
            if name in ("[Content_Types].xml", "xl/_rels/workbook.xml.rels"):
                for one in list(tree.getroot()):
                    if "calcChain" in (one.get("PartName") or one.get("Target") or ""):
                        tree.getroot().remove(one)
        return {_CHAIN}


def _text_of(item: Any) -> str:  # noqa: ANN401
    """A shared or inline string as it is shown: without readings (ふりがな)."""
    return "".join(one.text or "" for one in item.iter("{*}t") if local(one.getparent()) != "rPh")


def _set_text(item: Any, text: str) -> None:  # noqa: ANN401
    space = etree.QName(item).namespace
    for child in list(item):
        item.remove(child)
    etree.SubElement(item, f"{{{space}}}t").text = text


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
