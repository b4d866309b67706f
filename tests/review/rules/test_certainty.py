"""How sure findings are: from what was counted, never more than that proves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from review.rules.certainty import Certainty, Precision, certainty_of, confidence_of, kind_of, precision_of
from tests.review.markdown import outcome_of, rule_input
from tests.shipped_topics import load_topics

TABLE = json.loads((Path(__file__).resolve().parents[3] / "review" / "data" / "precision.json").read_text("utf-8"))
HELD = 0.98


def test_only_what_held_in_98_of_100_where_nothing_was_mended_for_it_is_sure():
    for kind, counts in TABLE["kinds"].items():
        is_proven = not counts.get("mended_for") and counts["right"] >= HELD * counts["judged"]
        assert is_proven or certainty_of(precision_of(kind).bound) is not Certainty.SURE, kind


@pytest.mark.parametrize(
    ("right", "judged", "first", "certainty"),
    [
        (60, 60, True, "sure"),
        (60, 60, False, "likely"),
        (5, 5, True, "likely"),
        (57, 60, True, "likely"),
        (2, 2, True, "doubtful"),
        (6, 10, True, "doubtful"),
    ],
)
def test_few_judged_findings_and_such_that_rules_were_mended_for_prove_less(right, judged, first, certainty):
    precision = Precision(right=right, judged=judged, is_own=True, is_first_shot=first)

    assert certainty_of(precision.bound) == certainty


def test_a_kind_that_nobody_judged_is_never_sure():
    confidence, basis = confidence_of("style.no_such_rule", {})

    assert certainty_of(confidence) is not Certainty.SURE
    assert "まだ判定されていない" in basis.ja


def test_findings_of_one_rule_are_of_several_kinds():
    assert kind_of("coverage.missing_topic", {"certainty_kind": "known"}) == "coverage.missing_topic:known"


def test_each_finding_says_how_sure_it_is_and_what_its_rule_counted():
    text = "# 設計書\n\n## 1. 概要\n\nサーバーとサーバーとサーバを置く。\n"

    (found,) = outcome_of("terminology.variant", rule_input(text)).findings

    assert found.confidence == confidence_of("terminology.variant", found.data)[0]
    assert found.data["share"] == pytest.approx(2 / 3, abs=1e-3)
    assert found.confidence_basis is not None


STRANGE = "# 文書\n\n" + "\n\n".join(f"## {number}. 第{number}の話\n\n本文を述べる。" for number in range(1, 9))
NEAR = "\n\n## 9. 約束事\n\n名称の付け方と呼び方を決め、マイルストーンと判定会議の日取りを示す。\n"


def test_topics_with_lines_near_to_them_are_to_be_looked_at_together_where_headings_are_hardly_known():
    target = rule_input(STRANGE + NEAR, document_type="test_plan", topics=load_topics("test_plan"))

    found = outcome_of("coverage.missing_topic", target).findings
    (near,) = (each for each in found if each.data.get("status") == "undecided")
    missing = {each.data["topic"]: each.data["status"] for each in found}

    assert "tp_schedule" in near.data["topics"]
    assert near.severity == "minor"
    assert any("マイルストーン" in target.text[line.start : line.end] for line in near.evidence)
    assert certainty_of(near.confidence or 0.0) is Certainty.DOUBTFUL
    assert missing["tp_risk"] == "missing"
    assert "tp_schedule" not in missing


def test_in_a_document_of_known_headings_the_same_topic_is_missing():
    known = (
        "# 計画書\n\n## 1. 目的\n\n確かめる。\n\n## 2. テスト範囲\n\n全機能を試す。\n\n## 3. テスト環境\n\n検証機。\n"
    )
    target = rule_input(known + NEAR, document_type="test_plan", topics=load_topics("test_plan"))

    found = {each.data["topic"]: each for each in outcome_of("coverage.missing_topic", target).findings}

    assert found["tp_schedule"].data["status"] == "mentioned"
    assert found["tp_schedule"].severity == "major"
