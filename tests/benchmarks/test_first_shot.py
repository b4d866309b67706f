"""The readings of the first-shot documents, and the run that holds the rules against them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.first_shot import readings, running
from benchmarks.first_shot.outputs import write_lines
from benchmarks.first_shot.readings import FOLDER, agreement, cases, rounds, rows_beside, sources
from hub.evaluation.cases import review_case
from review.evaluation.gold_list import DESIGN_TOPICS, TEST_PLAN_TOPICS, is_gold_row
from review.rules import list_rules
from tests.conftest import REPOSITORY

TOPICS = {"test_plan": TEST_PLAN_TOPICS, "basic_design": DESIGN_TOPICS, "requirements": DESIGN_TOPICS}
LONGEST_QUOTE = 60
FEWEST_DOCUMENTS = 4


def test_every_round_has_four_documents_or_more_whose_source_and_licence_are_named() -> None:
    documents = Counter(source.round for source in sources())
    assert set(documents) == set(rounds())
    assert min(documents.values()) >= FEWEST_DOCUMENTS
    for source in sources():
        assert source.licence
        assert source.repository.startswith("github:")
        assert (len(source.commit), len(source.sha256)) == (40, 64)


def test_no_document_is_one_that_rules_were_made_on() -> None:
    known = {source.sha256 for source in sources()}
    held_out = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (REPOSITORY / "tests/held_out").rglob("*.*")}
    assert not known & held_out


def test_each_document_is_read_for_the_topics_of_its_type_in_order() -> None:
    for source in sources():
        topics = [case for case in cases([source.document]) if "topic" in case]
        order = TOPICS[source.document_type]
        assert [case["topic"] for case in topics] == [code for code in order if code in {c["topic"] for c in topics}]
        rows = [row for row in readings.readings() if row["document"] == source.document]
        assert sum(row["check_type"] == "required_section" for row in rows) == len(order)


def test_rows_are_those_of_a_gold_list_and_settled_between_the_two_readings() -> None:
    rows = readings.readings()
    names, rules = {source.document for source in sources()}, {rule.id for rule in list_rules()}
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert is_gold_row(row)
        assert row["document"] in names
        assert row["confidence"] in {"high", "medium", "low"}
        assert row["expected"] in {row["first"], row["second"]} - {None} <= {"pass", "fail"}
        assert set(row.get("rules", ())) <= rules
        assert len(row["location"]) <= LONGEST_QUOTE
    for case in cases(names):
        review_case(case)


def test_agreement_counts_rows_of_one_reading_apart() -> None:
    rows = [
        {"check_type": "style", "first": "pass", "second": "pass"},
        {"check_type": "style", "first": "pass", "second": "fail"},
        {"check_type": "style", "first": None, "second": "fail"},
    ]
    assert agreement(rows) == {"style": {"alike": 1, "otherwise": 1, "one": 1}}


def test_a_folder_with_rows_of_its_own_is_run_and_another_file_is_refused(tmp_path: Path) -> None:
    content = "# 予約\n\n## 目的\n\n待ち時間を短くするため、予約を受け付ける。サーバーは2台とし、サーバを冗長にする。\n"
    (tmp_path / "G.md").write_text(content, encoding="utf-8")
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    told = asdict(sources()[0]) | {"document": "G.md", "document_type": "basic_design", "round": 70, "sha256": sha256}
    row: dict[str, object] = {
        "document": "G.md",
        "location": "",
        "confidence": "high",
        "note": "",
        "first": "pass",
        "second": "pass",
    }
    rows = [
        row | {"id": "1", "check_type": "required_section", "item": "目的/背景", "expected": "pass"},
        row | {"id": "2", "check_type": "required_section", "item": "範囲", "expected": "pass"},
        row | {"id": "3", "check_type": "terminology", "item": "サーバー／サーバ", "expected": "fail"},
        row | {"id": "4", "check_type": "consistency", "item": "台数", "expected": "fail", "rules": ["style.tari"]},
    ]
    assert rows_beside(tmp_path) == FOLDER
    write_lines(tmp_path / "sources.jsonl", [{name: told[name] for name in told if name != "rows"}])
    write_lines(tmp_path / "readings.jsonl", rows)

    assert rows_beside(tmp_path) == tmp_path
    assert rounds(tmp_path) == (70,)
    (source,) = sources(tmp_path)
    done = running.run(source, tmp_path)

    assert [(one.said, one.is_wrong) for one in done.answers] == [
        ("pass", False),
        ("fail", True),
        ("fail", False),
        ("pass", True),
    ]
    assert {name: len(judged) for name, judged in running.by_name(done.answers, "check_type").items()} == {
        "required_section": 2,
        "terminology": 1,
        "consistency": 1,
    }
    with pytest.raises(running.OtherFile):
        running.run(replace(source, sha256="0" * 64), tmp_path)
