from __future__ import annotations

import logging
import re
from dataclasses import replace
from string import Formatter

import pytest

from hub.core.texts import Text
from knowledge.types.requirements import Article, Topic
from review.rules import Rule, RuleCrash, UnknownRuleError, base, get_rule, list_rules, run_rule
from review.types import Master, RuleInput, RuleOutcome
from tests.review.markdown import rule_input

CONTRACT_IDS = {
    "coverage.missing_topic",
    "coverage.empty_section",
    "document.version_mismatch",
    "document.missing_history",
    "structure.duplicate_number",
    "structure.number_order",
    "structure.skipped_level",
    "terminology.variant",
    "traceability.undefined_reference",
    "traceability.unreferenced_definition",
    "traceability.duplicate_definition",
    "traceability.numbering_gap",
    "traceability.no_upstream_reference",
    "wording.ambiguous",
}


@pytest.fixture
def broken_rule(monkeypatch):
    monkeypatch.setattr(base, "_rules", dict(base._rules))

    def broken(target: RuleInput) -> RuleOutcome:
        raise ZeroDivisionError

    base.register(named_rule("test.broken", Text(ja="壊れた規則", en="Broken"), broken))


TOPIC = Topic(code="purpose", label_ja="目的", label_en="Purpose")
ARTICLE = Article(code="GL-1", number="1", title="題", guideline="gl", guideline_name="指針", prefix="GL-", edition=1)


def named_rule(rule_id: str, title: Text, check: base.RuleFunction) -> Rule:
    return Rule(id=rule_id, title=title, looks_at=Text(ja="-", en="-"), check=check)


def test_a_rule_is_given_only_what_it_says_that_it_reads(monkeypatch):
    monkeypatch.setattr(base, "_rules", dict(base._rules))
    given: dict[str, RuleInput] = {}
    target = replace(
        rule_input("# 表題\n"), topics=(TOPIC,), articles=(ARTICLE,), unavailable=frozenset({Master.RELATED})
    )

    def looking(name: str) -> base.RuleFunction:
        def look(target: RuleInput) -> RuleOutcome:
            given[name] = target
            return RuleOutcome(examined=1)

        return look

    for name, reads in (("test.nothing", ()), ("test.topics", (Master.TOPICS,)), ("test.related", (Master.RELATED,))):
        register_reading(name, looking(name), reads)
    nothing, topics, related = (run_rule(name, target) for name in ("test.nothing", "test.topics", "test.related"))

    assert isinstance(nothing, RuleOutcome)
    assert isinstance(topics, RuleOutcome)
    assert isinstance(related, RuleOutcome)
    assert (given["test.nothing"].topics, given["test.nothing"].articles) == ((), ())
    assert (given["test.topics"].topics, given["test.topics"].articles) == ((TOPIC,), ())
    assert (nothing.reads, topics.reads) == (frozenset(), frozenset({Master.TOPICS}))
    assert related.skip_reason is not None
    assert related.reads == {Master.RELATED}
    assert "test.related" not in given


def register_reading(rule_id: str, check: base.RuleFunction, reads: tuple[Master, ...]) -> None:
    text = Text(ja="-", en="-")
    base.register(Rule(id=rule_id, title=text, looks_at=text, check=check, reads=frozenset(reads)))


def results_of(*rule_ids: str, target: RuleInput | None = None) -> dict[str, RuleOutcome | RuleCrash]:
    target = target or rule_input("# 表題\n\n### 深い\n")
    return {rule_id: run_rule(rule_id, target) for rule_id in rule_ids}


def test_all_rules_of_the_contract_are_listed_in_order_with_titles_in_both_languages():
    rules = list_rules()

    assert {rule.id for rule in rules} >= CONTRACT_IDS
    assert [rule.id for rule in rules] == sorted(rule.id for rule in rules)
    assert all(rule.title.ja and rule.title.en and rule.looks_at.ja and rule.looks_at.en for rule in rules)


def test_rules_can_be_listed_by_tag():
    texts = {rule.id for rule in list_rules(tag="text")}
    assert {"terminology.variant", "wording.ambiguous", "style.mixed_tone"} <= texts
    assert "structure.skipped_level" not in texts


def test_a_crash_in_one_rule_is_an_error_and_the_others_go_on(broken_rule, caplog):
    with caplog.at_level(logging.ERROR):
        results = results_of("test.broken", "structure.skipped_level")

    crash = results["test.broken"]
    assert isinstance(crash, RuleCrash)
    assert crash.error_type == "ZeroDivisionError"
    assert "壊れた規則" in crash.message.ja
    others = results["structure.skipped_level"]
    assert isinstance(others, RuleOutcome)
    assert others.findings
    assert "test.broken" in caplog.text


def test_an_unknown_rule_is_an_error_of_its_own():
    with pytest.raises(UnknownRuleError, match=r"no\.such"):
        run_rule("no.such", rule_input("# 表題\n"))


def test_an_id_can_be_registered_once_only():
    known = get_rule("structure.skipped_level")

    with pytest.raises(ValueError, match="twice"):
        base.register(known)


def words_of(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_what_a_rule_says_is_written_in_both_languages_and_names_no_unknown_word():
    """Japanese may name a word that English leaves out; what a finding may say at all, its rule's texts name."""
    for path in sorted((base.DATA / "rules").glob("*.json")):
        for rule_id, texts in base.shipped(f"rules/{path.stem}").items():
            variants = {name: said for name, said in texts.items() if name not in ("title", "looks_at", "message")}
            for text in (*(texts[name] for name in texts if name not in variants), *every(variants)):
                assert set(text) == {"ja", "en"}, rule_id
                assert all(value.strip() for value in text.values()), rule_id
                assert all(name.isidentifier() for value in text.values() for name in words_of(value)), rule_id


def every(variants: dict[str, dict[str, dict[str, str] | None]]) -> list[dict[str, str]]:
    return [text for said in variants.values() for text in said.values() if text is not None]


ODD_TEXTS = ["", "\n", "# \n", "|\n|-|\n", "```\n", "# A\n## B\n```\n## 2. C\n", "\U0001f600 等", "-", "> 1.\n> -"]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_break_no_rule(text):
    for document_type in ("basic_design", "test_plan", "requirements", "other"):
        results = {rule.id: run_rule(rule.id, rule_input(text, document_type=document_type)) for rule in list_rules()}

        assert not [result for result in results.values() if isinstance(result, RuleCrash)]


ENDLESS = r"(a|aa)+$"
LONG_LINE = "# 設計書\n\n## 概要\n\n" + "a" * 80 + "b\n"


def test_a_stored_pattern_without_an_end_makes_its_rules_errors_that_name_it():
    topic = Topic(code="PURPOSE", label_ja="目的", label_en="Purpose", synonyms=("目的",), cues=(ENDLESS,))
    results = results_of(
        "coverage.missing_topic", "structure.skipped_level", target=rule_input(LONG_LINE, topics=(topic,))
    )

    crash = results["coverage.missing_topic"]
    assert isinstance(crash, RuleCrash)
    for said in (crash.message.ja, crash.message.en):
        assert ENDLESS in said
        assert "PURPOSE" in said
    assert isinstance(results["structure.skipped_level"], RuleOutcome)


def test_a_rule_that_takes_too_long_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setattr(base, "_rules", dict(base._rules))
    monkeypatch.setattr(base, "RULE_S", 0.05)

    def endless(target: RuleInput) -> RuleOutcome:
        return RuleOutcome(examined=len(re.findall(r"(?:a|aa)+$", "a" * 80 + "b")))

    base.register(named_rule("test.endless", Text(ja="終わらない規則", en="Endless"), endless))

    results = results_of("test.endless", "structure.skipped_level")

    crash = results["test.endless"]
    assert isinstance(crash, RuleCrash)
    assert "終わらない規則" in crash.message.ja
    assert "0.05" in crash.message.ja
    others = results["structure.skipped_level"]
    assert isinstance(others, RuleOutcome)
    assert others.findings
