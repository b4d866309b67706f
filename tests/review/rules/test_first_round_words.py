"""Words that the first round of unseen documents showed: vague ones, keys, hidden names."""

from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input


@pytest.mark.parametrize("word", ["大量", "安定稼働", "安定して", "堅牢", "快適", "見やすい"])
def test_a_degree_without_a_figure_is_vague_in_a_requirement(word):
    text = f"# 要件\n\n- 窓口の端末は{word}な処理をすること。\n"

    (found,) = outcome_of("wording.ambiguous", rule_input(text)).findings

    assert word in text[found.evidence[0].start : found.evidence[0].end]


def test_the_keys_of_a_keyboard_are_no_abbreviations():
    text = "# 操作\n\n利用者はESCキーで中止し、TABキーで移る。\n"

    assert outcome_of("terminology.undefined_abbreviation", rule_input(text)).findings == ()


def test_a_hidden_name_is_no_repeated_word():
    text = "# 拠点\n\n対象は「ああああ」の店舗とする。この件はまだまだまだある。\n"

    found = outcome_of("style.successive_word", rule_input(text)).findings

    assert all("あああ" not in text[span.start : span.end] for each in found for span in each.evidence)
