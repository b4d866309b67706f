"""Columns of vertical text: cut between their characters whatever specks there are, and read twice."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from knowledge.parsers.ocr.columns import as_row, own_part, parts_of
from knowledge.parsers.ocr.lines import ImageLines
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
def test_a_line_drawn_along_a_column_is_not_of_it_however_much_ink_it_has() -> None:
    text, pitch, left = "一三二川小十", 40, 8
    column = drawn(text, pitch, width=60, left=left)
    ImageDraw.Draw(column).line((50, 0, 50, column.height), fill=20, width=3)

    begin, end = own_part(column)

    assert begin * column.width < left + 3
    assert left + 30 <= end * column.width <= 49


def moved(corner: tuple[float, float]) -> tuple[float, float]:
    """Where a corner of a page 400 pixels high is once the page is turned clockwise."""
    return 400 - corner[1], corner[0]


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
def test_parts_of_a_box_are_its_own_lines_and_no_wider_than_they_need() -> None:
    page, font = Image.new("L", (900, 400), 255), ImageFont.truetype(str(FONT), 28)
    draw = ImageDraw.Draw(page)
    for at in range(5):
        draw.text((200, 100 + 36 * at), "文書の題名の言葉を入力します", font=font, fill=0)
    # What the network found has the middles of the second to the fourth line; its box is wider by 60 pixels.
    a, b, c, d = (140.0, 86.0), (650.0, 86.0), (650.0, 292.0), (140.0, 292.0)
    on_its_side = page.transpose(Image.Transpose.ROTATE_270)

    across = ImageLines(page, None).parts((a, b, c, d), 60.0)
    down = ImageLines(on_its_side, None).parts((moved(d), moved(a), moved(b), moved(c)), 60.0)

    for one, other in zip(across, down, strict=True):
        turned = (moved(one[3]), moved(one[0]), moved(one[1]), moved(one[2]))
        assert np.array(other) == pytest.approx(np.array(turned), abs=1.5)
    for at, ((left, top), _b, (right, low), _d) in enumerate(across, 1):
        assert (top + low) / 2 == pytest.approx(120 + 36 * at, abs=8)
        assert low - top < 50
        assert 180 < left < 205
        assert 585 < right < 610
    assert len(across) == 3


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
@pytest.mark.parametrize(("ground", "ink"), [(235, 60), (40, 250)])
def test_lines_that_were_taken_for_one_are_parted_and_one_that_is_cut_is_left_out(ground: int, ink: int) -> None:
    label, font = Image.new("L", (220, 100), ground), ImageFont.truetype(str(FONT), 24)
    draw = ImageDraw.Draw(label)
    for top, text in ((-14, "切れた行です"), (24, "教育資金を"), (54, "まとめて贈与")):
        draw.text((20, top), text, font=font, fill=ink)
    draw.line((10, 88, 210, 88), fill=ink, width=2)

    (first, middle), (other, end) = parts_of(label, as_thick=0.6)

    assert 12 < first * label.height < 26
    assert middle == other
    assert 52 < middle * label.height < 62
    assert end == 1.0


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
@pytest.mark.parametrize("text", ["二", "三", "昌", "ニ三", "こ二", "申請する、", "i：；"])
def test_strokes_of_one_line_are_no_lines(text: str) -> None:
    line = Image.new("L", (40 * len(text), 48), 235)
    ImageDraw.Draw(line).text((4, 4), text, font=ImageFont.truetype(str(FONT), 32), fill=60)
    assert parts_of(line, as_thick=0.6) == [(0.0, 1.0)]


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
