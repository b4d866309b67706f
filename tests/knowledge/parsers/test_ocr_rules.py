"""Rules drawn on a page, and the order of columns between them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from knowledge.parsers.ocr.order import in_order
from knowledge.parsers.ocr.rules import Rule, Rules, rules_of
from tests.knowledge.parsers.scans import FONT
from tests.knowledge.parsers.test_ocr_order import line

SIZE = (1600, 2200)
FRAME = (300, 200, 1100, 2000)
TIER = 1100


def page_of(*, paper: int, ink: int, text: str = "") -> Image.Image:
    page = Image.new("L", SIZE, paper)
    draw = ImageDraw.Draw(page)
    draw.rectangle(FRAME, outline=ink, width=3)
    draw.line((FRAME[0], TIER, FRAME[2], TIER), fill=ink, width=2)
    for at in range(12 if text else 0):
        draw.text((1150, 220 + 60 * at), text, font=ImageFont.truetype(str(FONT), 28), fill=ink)
    return page


def nearest(rules: tuple[Rule, ...], at: float) -> Rule:
    return min(rules, key=lambda rule: (abs(rule.at - at), rule.begin - rule.end))


@pytest.mark.parametrize("degrees", [0.0, -0.7, 0.9])
def test_rules_of_a_pale_and_noisy_scan_are_found_where_they_are_once_its_skew_is_undone(degrees: float) -> None:
    skew = math.tan(math.radians(degrees))
    page = page_of(paper=225, ink=110)
    steps = (1, skew, 0, -skew, 1, 0)
    sloping = page.transform(SIZE, Image.Transform.AFFINE, steps, Image.Resampling.BICUBIC, fillcolor=225)
    noise = np.random.default_rng(3).normal(0, 9, (SIZE[1], SIZE[0]))
    scan = Image.fromarray(np.clip(np.asarray(sloping) + noise, 0, 255).astype(np.uint8))

    rules = rules_of(scan, skew)

    for at in (FRAME[1], TIER, FRAME[3]):
        found = nearest(rules.across, at)
        assert found.at == pytest.approx(at, abs=6)
        assert found.end - found.begin > 0.9 * (FRAME[2] - FRAME[0])
    for at in (FRAME[0], FRAME[2]):
        assert nearest(rules.down, at).at == pytest.approx(at, abs=6)
    assert list(rules.crossing(1, (310, 250, 1090, 1950)))


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
def test_rows_of_strokes_and_black_areas_are_no_rules() -> None:
    page = page_of(paper=255, ink=0, text="二三一王工土ー三二一二三王")
    ImageDraw.Draw(page).rectangle((200, 2050, 1500, 2150), fill=0)

    rules = rules_of(page, 0.0)

    assert all(rule.end <= FRAME[2] + 4 for rule in rules.across)
    assert all(rule.at <= FRAME[3] + 4 for rule in rules.across)


def test_a_picture_of_lines_has_no_more_rules_than_are_looked_at() -> None:
    page = Image.new("L", (1200, 1600), 255)
    for at in range(0, 1600, 4):
        ImageDraw.Draw(page).line((0, at, 1200, at), fill=0)
    assert len(rules_of(page, 0.0).across) <= 200


def test_a_framed_table_of_two_tiers_is_read_before_the_text_left_of_it_that_ends_below_its_tier() -> None:
    upper = [line(f"改正後{at}", (1050 - 50.0 * at, 220, 1090 - 50.0 * at, 1080)) for at in range(6)]
    lower = [line(f"改正前{at}", (1050 - 50.0 * at, 1120, 1090 - 50.0 * at, 1900)) for at in range(6)]
    left = [
        line("左の文", (230, 210, 270, 1110)),
        line("次の文", (180, 210, 220, 900)),
        line("注", (180, 1700, 220, 1950)),
    ]
    lines = [*upper, *lower, *left]
    rules = Rules(
        across=(Rule(1100, 300, 1100),),
        down=(Rule(300, 200, 2000), Rule(1100, 200, 2000), Rule(640, 220, 1080)),
        same=6,
    )
    shuffled = random.Random(2).sample(lines, len(lines))

    assert [one.text for one in in_order(shuffled, 0.0, lambda: rules)] == [one.text for one in lines]
    # A rule that a column goes on through parts nothing.
    through = [*lines, line("通る列", (750, 220, 790, 1950))]
    assert len(in_order(through, 0.0, lambda: rules)) == len(through)
