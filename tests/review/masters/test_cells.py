"""Criteria of check items as lines of a cell, and back."""

from __future__ import annotations

from typing import Any

import pytest

from review.masters.cells import CellError, from_cell, read_threshold, to_cell


@pytest.mark.parametrize(
    ("column", "line", "entry"),
    [
        ("rules", "coverage.missing_topic", {"rule_id": "coverage.missing_topic"}),
        (
            "rules",
            'style.sentence_length {"max": 80}',
            {"rule_id": "style.sentence_length", "params": {"max": 80}},
        ),
        ("required_elements", "責任者", "責任者"),
        ("required_elements", "責任者 [体制]", {"name": "責任者", "sections": ["体制"]}),
        ("required_elements", "責任者 = 責任者|管理者", {"name": "責任者", "patterns": ["責任者|管理者"]}),
        (
            "required_elements",
            "責任者 [体制] = 責任者|管理者",
            {"name": "責任者", "sections": ["体制"], "patterns": ["責任者|管理者"]},
        ),
        ("patterns", "必須: 第[0-9]+版", {"pattern": "第[0-9]+版", "must_occur": True}),
        ("patterns", "禁止: TBD|未定", {"pattern": "TBD|未定", "must_occur": False}),
        ("terms", "サーバ、サーバ機 → サーバー", {"use": "サーバー", "avoid": ["サーバ", "サーバ機"]}),
    ],
)
def test_what_is_written_is_read_again(column: str, line: str, entry: Any) -> None:
    assert from_cell(column, line) == [entry]
    assert to_cell(column, [entry]) == line


def test_a_pattern_that_is_a_text_alone_is_a_required_one() -> None:
    assert to_cell("patterns", ["第[0-9]+版"]) == "必須: 第[0-9]+版"


@pytest.mark.parametrize(
    ("column", "typed", "entry"),
    [
        ("rules", "STYLE.SENTENCE_LENGTH ｛“max”：80｝", {"rule_id": "style.sentence_length", "params": {"max": 80}}),
        ("rules", "style.sentence_length {}", {"rule_id": "style.sentence_length"}),
        (
            "required_elements",
            "責任者［体制］＝管理者",
            {"name": "責任者", "sections": ["体制"], "patterns": ["管理者"]},
        ),
        ("patterns", "Forbidden：TBD", {"pattern": "TBD", "must_occur": False}),
        ("terms", "サーバ，サーバ機 -> サーバー", {"use": "サーバー", "avoid": ["サーバ", "サーバ機"]}),
    ],
)
def test_widths_quotes_and_arrows_are_read_as_people_type_them(column: str, typed: str, entry: Any) -> None:
    assert from_cell(column, f"\r\n{typed}\r\n\r\n") == [entry]


@pytest.mark.parametrize(
    ("column", "line", "said"),
    [
        ("rules", "文の長さ", "rule_id {params}"),
        ("rules", "style.sentence_length {max: 80}", "no JSON object"),
        ("rules", "style.sentence_length {1}", "no JSON object"),
        ("required_elements", "= 管理者", "name [section] = pattern"),
        ("patterns", "TBD", "required:"),
        ("terms", "サーバ", "word to use"),
    ],
)
def test_a_line_that_can_not_be_read_is_quoted_with_what_to_write(column: str, line: str, said: str) -> None:
    with pytest.raises(CellError) as refused:
        from_cell(column, line)
    assert line in refused.value.text.en
    assert said in refused.value.text.en
    assert line in refused.value.text.ja


def test_what_is_no_list_of_criteria_is_written_as_it_is() -> None:
    values: list[Any] = [0.8, None, [], 0]
    assert [to_cell("threshold", value) for value in values] == ["0.8", "", "", "0"]


@pytest.mark.parametrize(("typed", "value"), [("", None), ("0.8", 0.8), ("８０％", 0.8), ("100%", 1.0), (" 0 ", 0.0)])
def test_a_threshold_is_a_number_or_a_percentage(typed: str, value: float | None) -> None:
    assert read_threshold(typed) == value


@pytest.mark.parametrize("typed", ["高め", "1.2", "120%", "-0.1", "nan"])
def test_a_threshold_beyond_one_or_no_number_is_refused(typed: str) -> None:
    with pytest.raises(CellError, match="from 0 to 1"):
        read_threshold(typed)
