"""The order in which the lines of a page are read, by where they stand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from knowledge.parsers.ocr.engine import FoundLine
from knowledge.parsers.ocr.order import in_order

HEIGHT = 40.0
Box = tuple[float, float, float, float]


def line(text: str, box: Box, *, skew: float = 0.0) -> FoundLine:
    """A line in a box (left, top, right, bottom) of a page whose lines fall by ``skew``."""
    left, top, right, bottom = box
    corners = [(x - skew * y, y + skew * x) for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]
    quad = (corners[0], corners[1], corners[2], corners[3])
    return FoundLine(text=text, confidence=1.0, quad=quad, centres=(), is_vertical=bottom - top > right - left)


def column(name: str, count: int, left: float, *, width: float = 640.0, top: float = 100.0) -> list[FoundLine]:
    return [line(f"{name}{at}", (left, top + 60 * at, left + width, top + 60 * at + HEIGHT)) for at in range(count)]


def read(lines: Sequence[FoundLine], *, skew: float = 0.0) -> list[str]:
    shuffled = random.Random(1).sample(list(lines), len(lines))
    return [one.text for one in in_order(shuffled, skew)]


@pytest.mark.parametrize("second", [2, 3, 20])
@pytest.mark.parametrize("gutter", [30.0, 80.0])
def test_the_second_column_comes_after_the_first_however_short_it_is(second: int, gutter: float) -> None:
    lines = [*column("左", 20, 140.0), *column("右", second, 780.0 + gutter, top=90.0)]
    assert read(lines) == [one.text for one in lines]


def test_a_column_that_has_a_table_stays_a_column_and_the_table_is_read_by_rows() -> None:
    rows = [
        line(f"表{row}{cell}", (left, 400 + 50.0 * row, left + 150, 440 + 50.0 * row))
        for row in range(6)
        for cell, left in (("甲", 860.0), ("乙", 1300.0))
    ]
    lines = [*column("左", 20, 140.0), *column("右", 4, 850.0), *rows, *column("下", 6, 850.0, top=800.0)]
    assert read(lines) == [one.text for one in lines]


def test_a_heading_over_both_columns_and_a_skewed_page_change_nothing() -> None:
    skew = math.tan(math.radians(0.8))
    head = line("見出し", (140, 20, 1480, 70), skew=skew)
    left = [line(f"左{at}", (140, 120 + 60.0 * at, 780, 160 + 60.0 * at), skew=skew) for at in range(15)]
    right = [line(f"右{at}", (840, 130 + 60.0 * at, 1480, 170 + 60.0 * at), skew=skew) for at in range(9)]
    assert read([head, *left, *right], skew=skew) == [one.text for one in (head, *left, *right)]


def test_a_table_with_names_and_descriptions_is_read_row_by_row() -> None:
    rows = [
        line(f"{name}{at}", (left, 100 + 60.0 * at, left + width, 140 + 60.0 * at))
        for at in range(8)
        for name, left, width in (("番号", 140.0, 60.0), ("名称", 260.0, 300.0), ("説明", 700.0, 700.0))
    ]
    assert read(rows) == [one.text for one in rows]


def test_vertical_text_in_two_tiers_is_read_tier_by_tier_before_the_captions_below() -> None:
    tiers = [
        line(f"{name}の段の行{at}", (1400 - 70.0 * at, top, 1440 - 70.0 * at, top + 700))
        for name, top in (("上", 100.0), ("下", 880.0))
        for at in range(14)
    ]
    captions = [line(f"図{at}の説明", (500, 1700 + 60.0 * at, 1100, 1740 + 60.0 * at)) for at in range(2)]
    number = line("20", (1380, 2000, 1420, 2045))
    found = read([*tiers, *captions])
    assert found[: len(tiers)] == [one.text for one in tiers]
    assert sorted(found[len(tiers) :]) == [one.text for one in captions]
    assert read([*tiers, number])[:14] == [one.text for one in tiers[:14]]


def test_columns_of_vertical_text_are_read_from_the_right() -> None:
    lines = [line(f"行の文字{at}", (1400 - 70.0 * at, 100, 1440 - 70.0 * at, 1500)) for at in range(12)]
    assert read(lines) == [one.text for one in lines]


def test_a_heading_beside_two_tiers_and_a_figure_beside_one_do_not_mix_them() -> None:
    """No line can be drawn between the tiers: the heading stands in its way."""
    heading = line("年度の改正の概要", (1480, 100, 1550, 1100))
    first = [line(f"上の段の行{at}", (1380 - 60.0 * at, 100, 1420 - 60.0 * at, 700)) for at in range(6)]
    figure = [line(f"図の中の言葉{at}", (200, 120 + 90.0 * at, 700, 160 + 90.0 * at)) for at in range(6)]
    second = [line(f"中の段の行{at}", (1380 - 60.0 * at, 760, 1420 - 60.0 * at, 1360)) for at in range(19)]
    third = [line(f"下の段の行{at}", (1520 - 60.0 * at, 1420, 1560 - 60.0 * at, 2000)) for at in range(6)]
    lines = [heading, *first, *figure, *second, *third]
    assert read(lines) == [one.text for one in lines]


def test_a_heading_between_columns_of_two_tiers_parts_them() -> None:
    right = [
        line(f"右の{name}{at}", (1400 - 60.0 * at, top, 1440 - 60.0 * at, top + 600))
        for name, top in (("上", 100.0), ("下", 760.0))
        for at in range(5)
    ]
    heading = line("次の記事", (1040, 100, 1120, 1360))
    left = [
        line(f"左の{name}{at}", (960 - 60.0 * at, top, 1000 - 60.0 * at, top + 600))
        for name, top in (("上", 100.0), ("下", 760.0))
        for at in range(5)
    ]
    assert read([*right, heading, *left]) == [one.text for one in (*right, heading, *left)]


def test_numbers_below_the_columns_of_a_list_stay_with_their_columns() -> None:
    entries = [
        line(f"{name}{at}の名前", (1400 - 80.0 * at, top, 1440 - 80.0 * at, bottom))
        for at in range(8)
        for name, top, bottom in (("題", 100.0, 700.0 + 30 * (at % 3)), ("頁", 1200.0, 1290.0))
    ]
    assert read(entries) == [one.text for one in entries]


def test_a_number_alone_below_each_column_stays_with_it_though_columns_are_far_apart() -> None:
    entries = [
        line(f"{name}{at}の名前", box)
        for at in range(6)
        for name, box in (
            ("題", (1400 - 150.0 * at, 100.0, 1440 - 150.0 * at, 700.0 + 40 * (at % 3))),
            ("頁", (1395 - 150.0 * at, 1200.0, 1445 - 150.0 * at, 1220.0)),
        )
    ]
    assert read(entries) == [one.text for one in entries]


def test_a_name_below_a_date_in_its_column_comes_before_the_next_column() -> None:
    lines = [line(f"本文の行{at}", (1400 - 50.0 * at, 100, 1440 - 50.0 * at, 1400)) for at in range(2)]
    lines += [line("令和八年二月", (1300, 160, 1340, 500)), line("大臣の氏名", (1300, 1000, 1340, 1300))]
    lines += [line(f"題名の行{at}", (1250 - 50.0 * at, 200, 1290 - 50.0 * at, 700)) for at in range(2)]
    lines += [line("終わりの行", (1150, 100, 1190, 1400))]
    assert read(lines) == [one.text for one in lines]


def test_a_table_of_tiers_beside_text_of_full_height_is_read_before_what_stands_left_of_it() -> None:
    def tiers(name: str, left: float) -> list[FoundLine]:
        return [
            line(f"{name}の{tier}{at}", (left - 50.0 * at, top, left + 40 - 50.0 * at, top + 600))
            for tier, top in (("改正後", 100.0), ("改正前", 740.0))
            for at in range(4)
        ]

    between = [line(f"間の行{at}", (1060 - 50.0 * at, 100, 1100 - 50.0 * at, 1340)) for at in range(2)]
    lines = [*tiers("表一", 1400.0), *between, *tiers("表二", 900.0)]
    assert read(lines) == [one.text for one in lines]


def test_blocks_beyond_what_a_page_has_are_read_column_by_column() -> None:
    places = [(37.0 * across, 90.0 * down) for across in range(30) for down in range(10)]
    specks = [line("点点", (left, top, left + 8, top + 14)) for left, top in places]
    assert len(read(specks)) == len(specks)


def test_tiers_whose_boxes_touch_are_read_one_after_the_other_between_what_stands_beside_both() -> None:
    title = line("題名の大きな文字の列", (1500, 110, 1600, 1120))
    upper = [line(f"上の段の列{at}", (1420 - 80.0 * at, 30, 1495 - 80.0 * at, 500 + 35 * (at % 8))) for at in range(14)]
    lower = [
        line(f"下の段の列{at}", (1418 - 80.0 * at, 744 + 5 * (at % 2), 1493 - 80.0 * at, 1200 + 40 * (at % 5)))
        for at in range(14)
    ]
    upper[3] = line("上の段の列3", (1180, 30, 1255, 752))
    date = line("発行の日と発行の所の列", (290, 170, 360, 1470))
    assert read([title, *upper, *lower, date]) == [one.text for one in (title, *upper, *lower, date)]
