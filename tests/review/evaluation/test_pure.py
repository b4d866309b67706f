"""Case files, matching, figures and comparison: no database."""

from __future__ import annotations

import io
import json

import pytest
from openpyxl import Workbook

from hub.core.errors import InvalidInput
from hub.evaluation.cases import expand_identifiers, review_case
from hub.evaluation.metrics import Judged, counts, measure
from review.evaluation.cases import rows_in, rows_of
from review.evaluation.gold_list import DESIGN_TOPICS, TEST_PLAN_TOPICS, to_cases
from review.evaluation.matching import Defect, Said, answer, compare

CASE = {"path": "設計書.md", "rule_id": "traceability.numbering_gap", "item": "欠番", "expected_verdict": "pass"}


def said(*defects: Defect) -> Said:
    return Said(decided=True, defects=defects)


def test_a_finding_that_names_several_topics_is_about_each_of_them() -> None:
    several = said(Defect(rule_id="coverage.missing_topic", data={"topic": None, "topics": ["purpose", "scope"]}))

    assert [answer({"topic": code}, several, "") for code in ("scope", "glossary")] == ["fail", "pass"]


def test_json_lines_json_and_excel_give_the_same_cases() -> None:
    book = Workbook()
    book.active.append([*CASE, "identifiers", "weight"])
    book.active.append([*CASE.values(), "FR-001〜FR-003、NFR-001", 2])
    book.active.append([None] * 6)
    excel = io.BytesIO()
    book.save(excel)
    case = CASE | {"identifiers": ["FR-001〜FR-003", "NFR-001"], "weight": 2}
    lines = json.dumps(case, ensure_ascii=False).encode()
    whole = json.dumps({"cases": [case]}, ensure_ascii=False).encode()

    read = [rows_in(content, "cases") for content in (excel.getvalue(), lines, b"\xef\xbb\xbf" + whole)]

    assert [[row.number for row in rows] for rows in read] == [[2], [1], [1]]
    first, second, third = (review_case(rows[0].fields) for rows in read)
    assert first.input["rule_ids"] == ["traceability.numbering_gap"]
    assert first == second == third
    assert second.input["identifiers"] == ["FR-001", "FR-002", "FR-003", "NFR-001"]
    assert second.weight == 2.0


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"PK\x03\x04 no workbook", b"\n\n"])
def test_a_file_that_holds_no_cases_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        rows_in(content, "cases.jsonl")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"path": ""}, "name the document"),
        ({"document_id": "doc_1"}, "not both"),
        ({"rule_id": ""}, "name what decides"),
        ({"expected_verdict": "warning"}, "expected pass or fail"),
        ({"weight": 0}, "above 0"),
        ({"weight": "NaN"}, "above 0"),
        ({"identifiers": ["FR-009〜FR-001"]}, "no range"),
        ({"identifiers": [1]}, "some text"),
        ({"verdict": "fail"}, "unknown fields: verdict"),
    ],
)
def test_a_row_that_is_no_case_says_why(change: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        review_case(CASE | change)


def test_a_case_with_an_id_is_the_same_case_after_a_correction() -> None:
    before, after = review_case(CASE | {"id": "g-1"}), review_case(CASE | {"id": "g-1", "identifiers": ["FR-1"]})
    assert before.digest == after.digest
    assert review_case(CASE).digest != review_case(CASE | {"identifiers": ["FR-1"]}).digest


def test_ranges_are_written_out_in_any_width() -> None:
    assert expand_identifiers(["ＦＲ-098～FR-101", "NFR-001〜003"]) == [
        "FR-098", "FR-099", "FR-100", "FR-101", "NFR-001", "NFR-002", "NFR-003",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "data", "spans", "expected"),
    [
        ({"identifiers": ["FR-001"]}, {"identifiers": ["FR-001", "FR-002"]}, (), "fail"),
        ({"identifiers": ["FR-003"]}, {"identifiers": ["FR-001", "FR-002"]}, (), "pass"),
        ({"identifiers": ["FR-005", "C-001"]}, {"identifiers": ["FR-002", "C-001"]}, (), "pass"),
        ({"variants": ["サーバー", "サーバ"]}, {"variants": {"サーバー": 3, "サーバ": 1}}, (), "fail"),
        ({"variants": ["サーバー", "サーバ"]}, {"variants": {"サーバー": 3, "サーヴァー": 1}}, (), "pass"),
        ({"variants": ["十分"]}, {"expressions": {"十分な": 1}}, (), "fail"),
        ({"topic": "scope"}, {"topic": "purpose"}, (), "pass"),
        ({"location": "応答時間は ３秒"}, {}, ((8, 10),), "fail"),
        ({"location": "応答時間は3秒"}, {}, ((0, 2),), "pass"),
        ({"location": "どこにもない文"}, {}, ((0, 2),), "undecided"),
        ({"identifiers": ["FR-001"]}, {}, (), "pass"),
        ({}, {"anything": 1}, (), "fail"),
    ],
)
def test_a_finding_answers_a_case_by_identifier_spelling_topic_or_place(case, data, spans, expected) -> None:
    text = "# 性能\n\n応答時間は3秒以内とする。"
    assert answer(case, said(Defect(rule_id="r", data=data, spans=spans)), text) == expected


def test_without_findings_a_decided_case_passes_and_another_stays_undecided() -> None:
    assert answer({"identifiers": ["FR-001"]}, said(), "") == "pass"
    assert answer({"identifiers": ["FR-001"]}, Said(decided=False), "") == "undecided"


def test_an_undecided_case_is_a_miss_on_either_side() -> None:
    judged = [
        Judged(expected="fail", said="fail"),
        Judged(expected="fail", said="undecided"),
        Judged(expected="pass", said="pass"),
        Judged(expected="pass", said="undecided"),
        Judged(expected="pass", said="fail", weight=2),
    ]
    values = {name: entry["value"] for name, entry in measure(judged).items()}
    assert values == {
        "precision": round(1 / 3, 6),
        "recall": 0.5,
        "f1_score": 0.4,
        "agreement": round(2 / 6, 6),
        "false_positive_rate": 0.5,
        "false_negative_rate": 0.5,
    }
    assert counts(judged)["false_negatives"] == 1
    assert counts(judged)["undecided"] == 2


def test_intervals_hold_the_value_shrink_with_cases_and_are_the_same_twice() -> None:
    few = [Judged(expected="fail", said=said) for said in ("fail", "fail", "fail", "pass")]
    small, large = measure(few)["recall"], measure(few * 25)["recall"]
    assert small["value"] == large["value"] == 0.75
    assert small["low"] <= large["low"] < 0.75 < large["high"] <= small["high"]
    assert measure(few) == measure(few)


def test_what_can_not_be_divided_is_null_and_not_zero() -> None:
    values = measure([Judged(expected="pass", said="pass")])
    assert values["recall"] == {"value": None, "low": None, "high": None}
    assert values["agreement"]["value"] == 1.0


def score(expected: str, said: str) -> dict:
    return {"expected": expected, "said": said, "weight": 1.0}


def test_a_run_that_loses_a_true_finding_is_a_regression_with_the_flip_named() -> None:
    before = {"1": score("fail", "fail"), "2": score("pass", "pass"), "9": score("fail", "pass")}
    after = {"1": score("fail", "pass"), "2": score("pass", "pass"), "3": score("fail", "fail")}
    found = compare(before, after)
    assert (found.cases, found.metrics["regression"], found.metrics["improved"]) == (2, True, False)
    flip = {"case": "1", "expected": "fail", "before": "fail", "after": "pass", "is_worse": True}
    assert found.flips == [flip]
    assert compare(after, after).metrics["regression"] is False


def test_without_any_expected_fail_agreement_decides() -> None:
    found = compare({"1": score("pass", "pass")}, {"1": score("pass", "undecided")})
    assert found.metrics["regression"]


def gold(document: str, check_type: str, item: str, **more: str) -> dict:
    return {"document": document, "check_type": check_type, "item": item, "expected": "fail", **more}


def test_required_sections_take_the_topics_in_file_order_and_low_confidence_keeps_its_place() -> None:
    design = [gold("A.md", "required_section", item) for item in ("目的/背景", "範囲", "システム構成")]
    design[1]["confidence"] = "low"
    plan = [gold("B.md", "required_section", item) for item in ("目的", "テスト範囲", "テストレベル/種別")]
    cases, skipped = to_cases(rows_of([*design, *plan]))
    assert [case.fields["topic"] for case in cases] == [
        DESIGN_TOPICS[0], DESIGN_TOPICS[2], *TEST_PLAN_TOPICS[:3],
    ]  # fmt: skip
    assert [(row.row, row.reason) for row in skipped] == [(2, "confidence is low")]


@pytest.mark.parametrize("name", ["REQ_01", "NFR.1.2", "UC01", "要件-3", "機1-2", "REQ-POC-001"])
def test_identifiers_of_other_schemes_are_read_from_a_readers_words(name) -> None:
    (case,) = to_cases(rows_of([gold("D1_設計.md", "traceability", f"{name} の定義")]))[0]
    assert case.fields["identifiers"] == [name]


def test_a_readers_words_name_rules_identifiers_spellings_and_other_documents() -> None:
    rows = [
        gold("D1_設計.md", "traceability", "NFR-001", note="D2 で定義。参照されない"),
        gold("D2_要件.md", "traceability", "FR-001〜FR-014 の欠番・重複定義"),
        gold("D1_設計.md", "terminology", "サーバー／サーバ"),
        gold("D1_設計.md", "style", "曖昧語「十分な」を要件に使わない"),
        gold("D1_設計.md", "structure", "段組みの統一"),
    ]
    first, second, third, fourth, fifth = (case.fields for case in to_cases(rows_of(rows))[0])
    assert first["identifiers"] == ["NFR-001"]
    assert first["related_documents"] == ["D2_要件.md"]
    assert "traceability.numbering_gap" in second["rule_id"]
    assert review_case(second).input["identifiers"][-1] == "FR-014"
    assert third["variants"] == ["サーバー", "サーバ"]
    assert fourth["variants"] == ["十分"]
    assert "rule_id" not in fifth
    assert review_case(fifth).input["check_type"] == "structure"


def test_rows_about_the_edition_ask_for_the_version_only_and_those_about_an_abbreviation_for_that_word() -> None:
    rows = [
        gold("設計.md", "coverage", "版数の整合（表紙と変更履歴の最新）"),
        gold("設計.md", "terminology", "EOC の定義"),
    ]
    edition, abbreviation = (review_case(case.fields).input for case in to_cases(rows_of(rows))[0])
    day = Defect(rule_id="document.version_mismatch", data={"field": "date"})
    version = Defect(rule_id="document.version_mismatch", data={"field": "version"})
    unexplained = Defect(rule_id="terminology.undefined_abbreviation", data={"abbreviations": {"EOC": 1}})
    other = Defect(rule_id="terminology.undefined_abbreviation", data={"abbreviations": {"EOCS": 1}})

    assert (answer(edition, said(day), ""), answer(edition, said(version), "")) == ("pass", "fail")
    assert (answer(abbreviation, said(other), ""), answer(abbreviation, said(unexplained), "")) == ("pass", "fail")
