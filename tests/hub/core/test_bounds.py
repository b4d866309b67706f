"""What people give has bounds: numbers, texts, and JSON with its size, its entries and its depth."""

from __future__ import annotations

import json

import pytest

from hub.core.bounds import GIVEN_JSON, check_json, check_row
from hub.core.errors import InvalidInput
from hub.core.strict_json import read_json
from hub.evaluation.cases import weight_of
from knowledge.models import Collection, Document


def nested(levels: int) -> dict:
    value: dict = {}
    for _level in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        {"a": float("inf")},
        {"a": float("nan")},
        {"a": 10**400},
        {"a": "\x00"},
        {"a": "\ud800"},
        {"\x00": 1},
        {"a": ["\udfff"]},
        {"a": "あ" * 30_000},
        {f"key{number}": number for number in range(50_000)},
        {"a": [0] * 501},
        nested(21),
        nested(5_000),
    ],
    ids=["inf", "nan", "digits", "nul", "half", "nul-key", "half-in-list", "large", "keys", "items", "deep", "deeper"],
)
def test_metadata_that_no_table_should_keep_are_refused(value):
    with pytest.raises(InvalidInput, match="metadata"):
        check_json(value, "metadata")
    with pytest.raises(InvalidInput):
        check_row(Document(path="x", title="x", metadata=value), only=["metadata"])


@pytest.mark.parametrize("value", [{}, {"案件": "図書館", "tags": ["a", 1, 0.5, None, True]}, nested(19)])
def test_metadata_within_the_limits_are_taken(value):
    check_json(value, "metadata")


def test_the_limits_themselves_are_within():
    check_json({f"k{number}": 0 for number in range(GIVEN_JSON.entries)}, "metadata")
    check_json("x" * (GIVEN_JSON.size_bytes - 2), "metadata")
    with pytest.raises(InvalidInput):
        check_json("x" * (GIVEN_JSON.size_bytes - 1), "metadata")


@pytest.mark.parametrize("text", ["1e999", "[-1e999]", "NaN", "Infinity", "[" * 100_000, "{"])
def test_what_is_no_json_of_the_standard_is_refused(text):
    with pytest.raises(ValueError):
        read_json(text)
    assert read_json("[1.5e3]") == [1500.0]


@pytest.mark.parametrize("name", [None, "x" * 201, "", "a\x00", "a\ud800"])
def test_a_row_is_refused_for_each_value_that_its_table_would_refuse(name):
    with pytest.raises(InvalidInput, match="name"):
        check_row(Collection(slug="x", name=name), only=["name"])


def test_only_the_fields_that_were_changed_are_looked_at():
    check_row(Collection(slug="NOT A SLUG", name="x"), only=["name"])


@pytest.mark.parametrize("weight", [0, -1, 1001, 1e308, float("inf"), float("nan"), 10**400, True, "1"])
def test_a_case_counts_no_more_than_a_thousand_times_another(weight):
    with pytest.raises(ValueError, match="weight"):
        weight_of(weight)
    assert weight_of(json.loads("2")) == 2.0
