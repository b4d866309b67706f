"""Which cell of a workbook a note comes to stand on."""

from __future__ import annotations

import pytest

from knowledge.parsers.annotated.notes import Note
from knowledge.parsers.annotated.xlsx_cells import CellPlaces
from knowledge.parsers.xlsx.drawings import Shape
from knowledge.parsers.xlsx.parser import document_of
from knowledge.parsers.xlsx.reader import Sheet


@pytest.mark.parametrize(
    ("corner", "expected"), [((3, 3), (2, 2)), ((4, 4), (2, 2)), ((5, 3), (5, 3)), ((2, 6), (2, 6))]
)
def test_words_of_a_shape_over_a_merged_cell_have_their_note_on_its_first(
    corner: tuple[int, int], expected: tuple[int, int]
) -> None:
    shape = Shape(row=corner[0], column=corner[1], text="枠の中の注意書き")
    sheet = Sheet(name="図", cells={(1, 1): "処理の流れ"}, merged={(2, 2): (4, 5)}, shapes=[shape])
    document = document_of("xlsx", [sheet], ())
    start = document.markdown.index("枠の中")
    note = Note(text="指摘", author="Hub", start=start, end=start + 3, is_quote=True)
    place = CellPlaces(document, {"図": sheet}, document.markdown).find(note)
    assert place is not None
    assert (place.row, place.column) == expected
