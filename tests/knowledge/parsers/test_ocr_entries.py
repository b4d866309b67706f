"""Entries of contents pages in columns: leaders are no text, what they lead to is a number, notes are two lines."""

from __future__ import annotations

import random

import pytest
from PIL import Image, ImageDraw, ImageFont

from knowledge.parsers.ocr.engine import FoundLine, OcrUnavailable
from knowledge.parsers.ocr.entries import parted_at_tiers
from knowledge.parsers.ocr.leaders import Part, Strip, notes_in, parts_down, strip_of
from knowledge.parsers.ocr.lines import ImageLines
from knowledge.parsers.ocr.numerals import with_zeros
from knowledge.parsers.ocr.order import in_order
from knowledge.parsers.ocr.reading import read_image
from knowledge.parsers.ocr.recognition import LineText
from knowledge.parsers.ocr.task import make_engine
from knowledge.types.ocr import Quad
from tests.knowledge.parsers.scans import FONT

SIZE, PITCH = 32, 36
needs_font = pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")


def down(draw: ImageDraw.ImageDraw, text: str, left: float, top: float, size: int = SIZE) -> float:
    """Draw characters one below the other, and say where the next one would stand."""
    font = ImageFont.truetype(str(FONT), size)
    for char in text:
        draw.text((left, top - size // 5), char, font=font, fill=40)
        top += PITCH * size / SIZE
    return top


def dots(draw: ImageDraw.ImageDraw, left: float, top: float, bottom: float, step: float) -> None:
    while top < bottom:
        middle = left + SIZE / 2
        draw.ellipse((middle - 2, top - 2, middle + 2, top + 2), fill=40)
        top += step


def entry(draw: ImageDraw.ImageDraw, left: float, title: str, number: str, *, step: float = 12) -> None:
    """A title, dots and digits side by side."""
    end = down(draw, title, left, 100)
    dots(draw, left, end + 20, 800, step)
    font = ImageFont.truetype(str(FONT), 24)
    draw.text((left + SIZE / 2 - draw.textlength(number, font=font) / 2, 812), number, font=font, fill=40)


def strip(page: Image.Image, left: float = 10) -> Strip:
    return strip_of(page, left + SIZE / 2, float(SIZE))


@needs_font
@pytest.mark.parametrize("step", [12, PITCH])
def test_dots_are_leaders_and_what_is_below_them_is_of_the_column(step: float) -> None:
    page = Image.new("L", (52, 1400), 235)
    draw = ImageDraw.Draw(page)
    entry(draw, 10, "利用者の申請", "42", step=step)
    down(draw, "次の段", 10, 905)  # as far from the number as leaders may be from one

    (title, begin, end), (leaders, start, stop), (number, top, low) = parts_down(strip(page))

    assert [title, leaders, number] == [Part.TEXT, Part.LEADERS, Part.TEXT]
    assert begin == pytest.approx(102, abs=6)
    assert end == pytest.approx(100 + 6 * PITCH, abs=10)
    assert start > end
    assert stop == pytest.approx(795, abs=PITCH)
    assert 805 < top < low < 845  # and not the next tier


@needs_font
@pytest.mark.parametrize("text", ["申請する、コーヒー", "窓口・・担当", "ー一ーニ三"])
def test_a_column_without_leaders_has_no_parts(text: str) -> None:
    page = Image.new("L", (52, 600), 235)
    down(ImageDraw.Draw(page), text, 10, 20)
    assert parts_down(strip(page)) == []


@needs_font
def test_an_ellipsis_in_a_sentence_leads_to_nothing() -> None:
    page = Image.new("L", (52, 700), 235)
    draw = ImageDraw.Draw(page)
    end = down(draw, "申請を受けて", 10, 20)
    dots(draw, 10, end + 8, end + 2 * PITCH - 6, 12)
    down(draw, "確認した", 10, end + 2 * PITCH)
    assert parts_down(strip(page)) == []


@needs_font
def test_two_narrow_lines_are_found_with_the_paper_between_them() -> None:
    page = Image.new("L", (52, 500), 235)
    draw = ImageDraw.Draw(page)
    end = down(draw, "利用者の申請", 10, 20)
    for at, note in enumerate(("窓口で受付", "夜間に複製")):
        down(draw, note, 10 + (17, 0)[at], end + 10, size=15)

    ((begin, low, middle),) = notes_in(strip(page), int(end), 500)

    assert begin == pytest.approx(end + 10, abs=5)
    assert low - begin == pytest.approx(5 * PITCH * 15 / SIZE, abs=8)
    assert middle == pytest.approx(26, abs=3)
    assert notes_in(strip(page), 20, int(end) - 4) == []


def test_the_zero_among_kanji_numerals_is_one_and_no_other_ring() -> None:
    def read(text: str) -> str:
        places = tuple(at / len(text) for at in range(len(text)))
        return with_zeros(LineText(text=text, confidence=1.0, centres=places, chances=(1.0,) * len(text))).text

    assert read("一0三頁") == "一〇三頁"
    assert read("二OO九年") == "二〇〇九年"
    assert read("○申請する") == "○申請する"
    assert read("○一つ目") == "○一つ目"
    assert read("HOME10") == "HOME10"


def test_parts_of_a_column_stay_together_in_their_order() -> None:
    def line(text: str, left: float, top: float, *, wide: float = 40, high: float = 300, column: int) -> FoundLine:
        quad = ((left, top), (left + wide, top), (left + wide, top + high), (left, top + high))
        return FoundLine(text=text, confidence=1.0, quad=quad, centres=(), is_vertical=True, column=column)

    columns = [
        [
            line(f"題名の列{at}", 900 - 60 * at, 100, column=at),
            line(f"右の注{at}", 920 - 60 * at, 405, wide=20, high=80, column=at),
            line(f"左の注{at}", 900 - 60 * at, 404, wide=20, high=80, column=at),
            line(f"頁の番号{at}", 900 - 60 * at, 490, column=at),
        ]
        for at in range(6)
    ]
    lines = [one for parts in random.Random(1).sample(columns, len(columns)) for one in parts]
    assert [one.text for one in in_order(lines, 0.0)] == [one.text for parts in columns for one in parts]


@needs_font
def test_numbers_of_pages_are_read_and_leaders_are_not() -> None:
    try:
        engine = make_engine("ppocr")
    except OcrUnavailable as error:
        pytest.skip(str(error))
    page = Image.new("L", (800, 1000), 255)
    draw = ImageDraw.Draw(page)
    entries = [
        ("申請を受け付ける窓口", "12"),
        ("文書の版を選ぶ", "38"),
        ("検索の条件を入力する", "57"),
        ("結果を確認", "106"),
    ]
    for at, (title, number) in enumerate(entries):
        entry(draw, 600 - 80 * at, title, number)

    reading = read_image(engine, page, scale=0.36)

    assert [line.text for line in reading.lines] == [f"{title}……{number}" for title, number in entries]
    for line in reading.lines:
        assert len(line.centres) == len(line.text)
        assert list(line.centres) == sorted(line.centres)


@needs_font
def test_columns_of_two_tiers_that_were_taken_for_one_are_parted_at_the_paper_between_them() -> None:
    page = Image.new("L", (1000, 900), 255)
    draw = ImageDraw.Draw(page)
    quads: list[Quad] = []
    for at in range(8):
        left, is_one = 850 - 60 * at, at == 4
        down(draw, "上の段の文字の列です"[: 10 if is_one else 7], left, 40)
        down(draw, "下の段の文字", left, 416)
        boxes = [(30, 640)] if is_one else [(30, 300), (406, 640)]
        quads += [((left - 8, top), (left + 40, top), (left + 40, low), (left - 8, low)) for top, low in boxes]
    date = ((200.0, 30.0), (248.0, 30.0), (248.0, 640.0), (200.0, 640.0))
    down(draw, "発行の日と所の列です", 208, 40)

    parted = parted_at_tiers(ImageLines(page, None), [*quads, date], 0.0)

    assert len(parted) == len(quads) + 2
    assert date in parted
    ((upper, lower),) = [
        (one, other)
        for one in parted
        for other in parted
        if one not in quads and other not in quads and one[3] == other[0]
    ]
    assert 395 < upper[3][1] < 420
    assert (upper[0], lower[2]) == (quads[8][0], quads[8][2])
