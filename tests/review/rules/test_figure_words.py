"""What OCR read in a figure: shown to readers, and none of the writer's wording."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knowledge.text.figure_words import LABEL
from review.types import RuleInput
from tests.review.markdown import outcome_of, rule_input

SHOWN = "プロジエクトを登録します。CRMへ送ります。"


def screens(*, ocr: float | None) -> RuleInput:
    target = rule_input(
        f"# 画面設計書\n\nプロジェクトを登録する。プロジェクトを送る。\n\n{LABEL}: {SHOWN}\n\n結果を残す。\n"
    )
    start = target.text.index(LABEL)
    return replace(target, blocks=tuple(replace(b, ocr=ocr) if b.start == start else b for b in target.blocks))


@pytest.mark.parametrize("rule", ["terminology.variant", "terminology.undefined_abbreviation", "style.mixed_tone"])
def test_spellings_words_and_tone_of_a_figure_are_not_the_writers(rule: str):
    assert outcome_of(rule, screens(ocr=None)).findings
    assert outcome_of(rule, screens(ocr=0.9)).findings == ()
