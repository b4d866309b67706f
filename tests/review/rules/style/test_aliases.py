"""The aliases mean rules that are there, and agree with the examples of the rules they name."""

from __future__ import annotations

from benchmarks.lint import EXAMPLES, measure
from review.rules.style import ALIASES, aliases_of, style_rules
from tests.conftest import REPOSITORY
from tests.review.markdown import outcome_of, rule_input


def test_every_alias_names_rules_and_parameters_that_exist():
    for alias, uses in ALIASES.items():
        assert alias.startswith("textlint:"), alias
        for use in uses:
            assert set(use.params) <= set(style_rules()[use.rule_id].defaults), alias


def test_aliases_are_listed_at_their_rule():
    assert "textlint:preset-ja-technical-writing/sentence-length" in aliases_of("style.sentence_length")
    assert "textlint:preset-jtf-style/1.1.1.本文" in aliases_of("style.mixed_tone")


def test_the_aliases_cover_the_examples_and_agree_with_them():
    figures = measure(EXAMPLES)
    assert figures.coverage >= 0.6
    assert figures.accuracy >= 0.92


def test_the_rule_on_formal_nouns_asks_for_kana_in_times_too():
    (use,) = ALIASES["textlint:ja-hiragana-keishikimeishi"]
    said = outcome_of(use.rule_id, rule_input("登録した時に通知する。登録した時刻。\n", params=use.params))

    (finding,) = said.findings
    assert [(span.start, span.end) for span in finding.evidence] == [(4, 5)]


def test_every_rule_of_style_is_documented():
    documented = (REPOSITORY / "docs" / "review-rules.md").read_text(encoding="utf-8")
    assert [rule_id for rule_id in style_rules() if f"| `{rule_id}`" not in documented] == []
