"""Columns of vertical text: cut between their characters whatever specks there are, and read twice."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from knowledge.parsers.ocr.columns import as_row
from knowledge.parsers.ocr.recognition import LineText
from knowledge.parsers.ocr.two_readings import joined
from tests.knowledge.parsers.scans import FONT


def read(text: str, chance: float = 0.95, **surer: float) -> LineText:
    """A reading whose characters are all as sure, but for those that are named."""
    places = tuple((at + 0.5) / len(text) for at in range(len(text)))
    chances = tuple(surer.get(char, chance) for char in text)
    return LineText(text=text, confidence=sum(chances) / len(chances), centres=places, chances=chances)


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
