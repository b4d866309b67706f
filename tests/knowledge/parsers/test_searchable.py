"""What OCR read lies unseen over the pages of a scan: copied by programs of others it is the text that was read."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from pdfminer.high_level import extract_text
from PIL import Image, ImageChops

from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ocr.searchable import write
from knowledge.types.ocr import PageReading, ReadLine
from tests.knowledge.parsers.scans import encoded, scanned_pdf

NOISE = Image.effect_noise((1000, 1400), 40)
LINES = ("第１章 総則 2.1 Web API", "𠮷野家は予約を取り消せる。", "①・100 % （税込）")


def line(text: str, left: float, top: float, right: float, bottom: float, *, is_vertical: bool = False) -> ReadLine:
    quad = ((left, top), (right, top), (right, bottom), (left, bottom))
    return ReadLine(text=text, confidence=0.97, quad=quad, centres=(), is_vertical=is_vertical)


def searchable(path: Path, *readings: PageReading) -> pypdfium2.PdfDocument:
    pages = [{"page": number, "reading": one.as_json()} for number, one in enumerate(readings, 1)]
    write(path, limits=ParseLimits(), folder=path.parent, filename=path.name, pages=pages)
    return pypdfium2.PdfDocument(path.parent / "searchable.pdf")


def reading(*lines: ReadLine, width: float = 360, height: float = 504) -> PageReading:
    return PageReading(engine="test/1", width=width, height=height, lines=lines)


def copied(page: pypdfium2.PdfPage) -> list[str]:
    return page.get_textpage().get_text_range().splitlines()


def test_what_is_copied_is_what_was_read_and_the_page_looks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned_pdf([NOISE]))
    lines = [line(text, 30, 40 + 40 * at, 200, 56 + 40 * at) for at, text in enumerate(LINES)]
    document = searchable(path, reading(*lines))
    assert copied(document[0]) == list(LINES)
    assert [text for text in extract_text(str(tmp_path / "searchable.pdf")).strip().split("\n") if text] == list(LINES)
    before, after = (pypdfium2.PdfDocument(path)[0].render().to_pil(), document[0].render().to_pil())
    assert ImageChops.difference(before, after).getbbox() is None


def test_characters_stand_where_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned_pdf([NOISE]))
    across = line("予約AB", 30, 40, 90, 60)
    down = line("縦書き", 300, 100, 320, 160, is_vertical=True)
    page = searchable(path, reading(across, down))[0]
    text = page.get_textpage()
    boxes = [text.get_charbox(at) for at in range(4)]
    assert [round(value) for value in boxes[0]] == [30, 444, 50, 464]
    assert [round(box[0]) for box in boxes[:4]] == [30, 50, 70, 80]
    found = text.search("縦書き").get_next()
    assert found is not None
    first, last = text.get_charbox(found[0]), text.get_charbox(found[0] + 2)
    assert (round(first[0]), round(first[3])) == (300, 404)
    assert (round(last[2]), round(last[1])) == (320, 344)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_is_shown_turned_has_its_text_where_it_is_shown(tmp_path: Path, turn: int) -> None:
    path = tmp_path / "scan.pdf"
    document = pypdfium2.PdfDocument(scanned_pdf([NOISE]))
    document[0].set_rotation(turn)
    document.save(path)
    width, height = document[0].get_size()
    page = searchable(path, reading(line("予約の取消", 30, 40, 130, 60), width=width, height=height))[0]
    assert copied(page) == ["予約の取消"]
    page.set_rotation(0)
    left, bottom, right, top = page.get_textpage().get_charbox(0)
    expected = {90: (40, 30), 180: (310, 40), 270: (300, 454)}[turn]
    assert (round(left), round(bottom)) == expected
    assert (round(right - left), round(top - bottom)) == (20, 20)


def test_the_frames_of_a_picture_become_pages(tmp_path: Path) -> None:
    path = tmp_path / "scan.tiff"
    NOISE.save(path, "TIFF", save_all=True, append_images=[NOISE], dpi=(200, 200))
    readings = [reading(line(text, 60, 80, 700, 120), width=1000, height=1400) for text in ("一枚目", "二枚目")]
    document = searchable(path, *readings)
    assert [copied(page) for page in document] == [["一枚目"], ["二枚目"]]
    assert [round(side) for side in document[0].get_size()] == [360, 504]


def test_a_coloured_picture_keeps_its_colours(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    path.write_bytes(encoded(Image.new("RGB", (400, 400), (200, 30, 30)), "PNG"))
    document = searchable(path, reading(line("朱印", 40, 40, 120, 80), width=400, height=400))
    red, green, _blue = document[0].render().to_pil().convert("RGB").getpixel((20, 20))
    assert (red > 180, green < 60) == (True, True)
