"""A copy of a workbook with notes on its cells. Run in parser children.

Notes are written into the parts that hold them; the cells, and every part that has no notes, keep their bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from knowledge.parsers.annotated.notes import Markup, Note, Placed, load_markup, outcome
from knowledge.parsers.annotated.package import PackageEditor
from knowledge.parsers.annotated.xlsx_cells import CellPlaces
from knowledge.parsers.annotated.xlsx_notes import SheetNotes, sheet_parts
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.xlsx.parser import read_workbook

Place = tuple[int, int]


def annotate(
    path: Path,
    *,
    limits: ParseLimits,
    folder: Path,
    filename: str,
    markdown: str,
    notes: Sequence[Mapping[str, Any]],
    written: str,
    list_title: str,
) -> str:
    """Write the copy into ``folder``. :raises ParseError: as reading the workbook."""
    markup = load_markup(markdown, notes, written, list_title)
    document, sheets = read_workbook(path, limits)
    editor = PackageEditor(path)
    parts = sheet_parts(editor)
    places = CellPlaces(document, sheets, markup.markdown)
    found = [places.find(note) for note in markup.notes]
    placed = [(where if where is None or where.sheet in parts else None) for where in found]
    _write(editor, parts, markup, placed)
    return outcome(
        "annotated.xlsx", [where.placed if where else Placed.LISTED for where in placed], editor.packed(), folder
    )


def _write(editor: PackageEditor, parts: Mapping[str, str], markup: Markup, placed: Sequence[Any]) -> None:
    """Write what is said of each cell as one note; what has no cell, on the first cell of the first sheet."""
    by_sheet: dict[str, dict[Place, list[Note]]] = defaultdict(lambda: defaultdict(list))
    listed = []
    for note, where in zip(markup.notes, placed, strict=True):
        if where is None:
            listed.append(note)
        else:
            by_sheet[where.sheet][where.row, where.column].append(note)
    if listed and parts:
        by_sheet[next(iter(parts))][1, 1].append(markup.listed(listed))
    for name, cells in by_sheet.items():
        SheetNotes(editor, parts[name]).add({place: cells[place] for place in sorted(cells)})
