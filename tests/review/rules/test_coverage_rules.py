from __future__ import annotations

from tests.review.markdown import outcome_of, rule_input
from tests.shipped_topics import load_topics


def findings(rule: str, text: str, **params):
    target = rule_input(text, topics=load_topics("basic_design"), params=params)
    return outcome_of(rule, target).findings


DESIGN = """# 設計書

## 1. 目的
受付を電子化する。

## 2. 非機能要件

### 2.1 性能
応答は 3 秒以内とする。

### 2.2 可用性
TBD
"""


def test_a_missing_topic_says_where_was_searched_and_where_to_add_it():
    (found,) = findings(
        "coverage.missing_topic",
        DESIGN.replace("電子化する。", "現行システムから電子化する。"),
        topics=["nfr_migration"],
    )

    assert found.data["topic"] == "nfr_migration"
    assert found.searched == ("設計書", "1. 目的", "2. 非機能要件", "2.1 性能", "2.2 可用性")
    assert found.evidence == ()
    assert "2.1 性能" in found.suggestion.content.ja
    assert found.suggestion.example.endswith("移行する。")


def test_without_a_section_beside_it_the_place_is_only_proposed():
    """The chapter that the check list names may be another one in this document, or none."""
    (found,) = findings(
        "coverage.missing_topic", "# 設計書\n\n## 1. 目的\n受付を電子化する。\n", topics=["system_architecture"]
    )

    assert found.suggestion.content.ja.startswith("この文書の構成に合う位置（目安は")
    assert "where it fits this document (proposed: " in found.suggestion.content.en


def test_a_topic_that_another_check_item_tells_is_left_to_it():
    topics = {found.data["topic"] for found in findings("coverage.missing_topic", DESIGN)}
    left = {
        found.data["topic"] for found in findings("coverage.missing_topic", DESIGN, **{"except": ["change_history"]})
    }

    assert topics - left == {"change_history"}


def test_a_topic_with_an_empty_section_is_empty_and_not_missing():
    (found,) = findings("coverage.empty_section", DESIGN)

    assert found.data["topic"] == "nfr_availability"
    assert "nfr_availability" not in {f.data["topic"] for f in findings("coverage.missing_topic", DESIGN)}


def test_a_title_line_and_a_parent_of_sections_are_not_empty():
    assert findings("coverage.empty_section", "# 設計書\n\n## 受付システム\n\n## 1. 概要\n\n### 1.1 目的\n文。\n") == ()


def test_a_type_without_topics_is_not_judged():
    outcome = outcome_of("coverage.missing_topic", rule_input("# 議事録\n文。\n"))

    assert outcome.skip_reason
