"""Columns of vertical text: cut between their characters whatever specks there are, and read twice."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from knowledge.parsers.ocr.columns import as_row, own_part
from knowledge.parsers.ocr.recognition import LineText
from knowledge.parsers.ocr.two_readings import joined
from tests.knowledge.parsers.scans import FONT


def read(text: str, chance: float = 0.95, **surer: float) -> LineText:
    """A reading whose characters are all as sure, but for those that are named."""
    places = tuple((at + 0.5) / len(text) for at in range(len(text)))
    chances = tuple(surer.get(char, chance) for char in text)
    return LineText(text=text, confidence=sum(chances) / len(chances), centres=places, chances=chances)


def drawn(text: str, pitch: int, *, width: int, left: int, size: int = 32, lying: str = "") -> Image.Image:
    """A column of characters, those of ``lying`` turned as vertical text has them."""
    column = Image.new("L", (width, pitch * len(text)), 235)
    font = ImageFont.truetype(str(FONT), size)
    for row, char in enumerate(text):
        cell = Image.new("L", (pitch, pitch), 235)
        ImageDraw.Draw(cell).text((0, -size // 5), char, font=font, fill=60)
        if char in lying:
            cell = cell.crop((0, 0, size, size)).rotate(-90)
        column.paste(cell, (left, row * pitch))
    return column


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
def test_specks_of_a_bad_scan_do_not_hide_where_characters_end() -> None:
    text, pitch = "利用者は窓口で申請する、", 40
    column = Image.new("L", (46, pitch * len(text)), 235)
    draw, font = ImageDraw.Draw(column), ImageFont.truetype(str(FONT), 32)
    for row, char in enumerate(text):
        draw.text((7, row * pitch - 6), char, font=font, fill=60)
    pixels = np.asarray(column).copy()
    specks = np.random.default_rng(1).random(pixels.shape) < 0.004
    pixels[specks] = 0

    clean, noisy = as_row(column), as_row(Image.fromarray(pixels))

    assert clean is not None
    assert noisy is not None
    assert len(clean.cells) == len(noisy.cells) == len(text)
    assert np.allclose(clean.cells, noisy.cells, atol=0.01)


def test_small_marks_come_from_the_row_and_characters_that_look_alike_from_the_column() -> None:
    whole = joined(read("利用者は申請できます担当者は確認する"), read("利用者は串請できます。担当者は確誌する。"))
    assert whole.text == "利用者は申請できます。担当者は確認する。"
    assert len(whole.centres) == len(whole.chances) == len(whole.text)
    assert whole.confidence == pytest.approx(0.95)


def test_the_row_counts_where_it_is_surer_and_not_where_it_guesses() -> None:
    assert joined(read("検索の宋件を入力", 宋=0.5), read("検索の条件を入力")).text == "検索の条件を入力"
    assert joined(read("検索の条件を入力"), read("検索の条件一を入力", 一=0.3)).text == "検索の条件を入力"


def test_a_row_that_was_cut_through_its_characters_does_not_count() -> None:
    column = read("検索の条件を入力する")
    assert joined(column, read("木父弐わ彡斤に、ハ丶")) == column


def test_a_column_without_characters_has_no_text() -> None:
    nothing = LineText(text="", confidence=0.0)
    assert joined(nothing, nothing) == nothing
    assert joined(nothing, read("二")) == nothing


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
def test_ruby_and_parts_of_a_neighbour_are_not_of_a_column() -> None:
    text, pitch, left = "利用者は窓口で申請する、", 40, 30
    column = drawn(text, pitch, width=100, left=left)
    bare = own_part(column)
    ruby, draw = ImageFont.truetype(str(FONT), 14), ImageDraw.Draw(column)
    for row in (0, 1, 2, 4, 5, 7, 8):
        for at, char in enumerate("かな"):
            draw.text((left + 37, row * pitch + 18 * at), char, font=ruby, fill=60)
    draw.text((-8, 3 * pitch), "た", font=ruby, fill=60)

    begin, end = own_part(column)

    assert bare == (0.0, 1.0)
    assert 0.0 <= begin * column.width < left + 3
    assert left + 30 <= end * column.width <= left + 40


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
def test_parentheses_stand_up_in_the_row_and_a_mark_after_one_has_its_own_place() -> None:
    text, pitch = "適用する（一部）。国", 40
    column = drawn(text, pitch, width=46, left=7, lying="（）")
    row = as_row(column)

    assert row is not None
    cells = np.asarray(row.image) < 128
    side = row.image.height
    tall = [np.ptp(np.nonzero(cells[:, at * side : (at + 1) * side])[0]) for at in range(len(row.cells))]
    wide = [np.ptp(np.nonzero(cells[:, at * side : (at + 1) * side])[1]) for at in range(len(row.cells))]
    assert len(row.cells) == len(text)
    assert tall[4] > 2 * wide[4]
    assert tall[7] > 2 * wide[7]
    assert wide[5] > 2 * tall[5]  # 一 lies


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
def test_characters_of_a_small_column_are_not_cut_by_their_neighbours() -> None:
    text, pitch = "研究機関接触期間", 23
    column = drawn(text, pitch, width=46, left=12, size=20)

    row = as_row(column)

    assert row is not None
    cells = np.asarray(row.image) < 160
    widths = [np.ptp(np.nonzero(part)[1]) for part in np.split(cells, len(row.cells), axis=1)]
    assert len(row.cells) == len(text)
    assert min(widths) > 0.7 * row.image.height


def test_brackets_that_only_the_row_has_stay_where_both_read_different_characters() -> None:
    assert joined(read("国立の図書館で調べる"), read("「国五の図書館で調べる」")).text == "「国立の図書館で調べる」"
    assert joined(read("国立の図書館"), read("「因五の図書館", **{"「": 0.9})).text == "「国立の図書館"
    assert joined(read("国立の図書館"), read("「因五の図書館", **{"「": 0.4})).text == "国立の図書館"
