"""Words of a page that OCR read are boxed where they stand in its picture."""

from __future__ import annotations

import pytest

from knowledge.originals.places import PagePart
from knowledge.originals.read_pages import mark_reading
from knowledge.types.ocr import PageReading, ReadLine


def line(text: str, left: float, top: float, *, down: bool = False) -> ReadLine:
    width, height = (20.0, 20.0 * len(text)) if down else (20.0 * len(text), 20.0)
    quad = ((left, top), (left + width, top), (left + width, top + height), (left, top + height))
    centres = tuple((at + 0.5) / len(text) for at in range(len(text)))
    return ReadLine(text=text, confidence=0.97, quad=quad, centres=centres, is_vertical=down)


def reading(*lines: ReadLine) -> PageReading:
    return PageReading(engine="test/1", width=400, height=600, lines=lines)


def test_words_in_the_middle_of_a_line_are_boxed_alone() -> None:
    found = mark_reading(
        PagePart(page=3, pieces=("三秒以内",), at=0.0), reading(line("応答時間は三秒以内とする。", 40, 100))
    )
    (page,) = found
    assert (page.page, page.width, page.height) == (3, 400, 600)
    assert page.boxes == ((140.0, 100.0, 80.0, 20.0),)


def test_words_over_two_lines_have_a_box_in_each() -> None:
    lines = (line("応答時間は三秒", 40, 100), line("以内とする。", 40, 130))
    (page,) = mark_reading(PagePart(page=1, pieces=("三秒以内とする",), at=0.0), reading(*lines))
    assert page.boxes == ((140.0, 100.0, 40.0, 20.0), (40.0, 130.0, 100.0, 20.0))


def test_vertical_words_are_boxed_down_their_column() -> None:
    (page,) = mark_reading(PagePart(page=1, pieces=("時間",), at=0.0), reading(line("応答時間", 300, 100, down=True)))
    assert page.boxes == ((300.0, 140.0, 20.0, 40.0),)


@pytest.mark.parametrize("piece", ["別の文書の文章である", ""])
def test_what_is_not_there_is_not_boxed(piece: str) -> None:
    assert mark_reading(PagePart(page=1, pieces=(piece,), at=0.0), reading(line("応答時間", 40, 100))) == []
