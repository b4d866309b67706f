"""Grammars say exactly what the schema says: they are turned into regular expressions and tried on texts."""

from __future__ import annotations

import doctest
import json
import re
from typing import Any

import pytest

from hub.llm import json_answers
from hub.llm.json_answers import UnsupportedSchema, grammar_of
from tests.hub.llm.conftest import PASS, VERDICT

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+(?:,\d+)?\}|[|()?]|[a-z][a-z0-9-]*|\s+')


def matches(schema: dict[str, Any], text: str) -> bool:
    rules = dict(line.split(" ::= ", 1) for line in grammar_of(schema).splitlines())
    return re.fullmatch(_expression("root", rules), text) is not None


def _expression(name: str, rules: dict[str, str]) -> str:
    body = rules[name]
    assert "".join(_TOKEN.findall(body)) == body, body
    return "(?:" + "".join(_piece(token, rules) for token in _TOKEN.findall(body)) + ")"


def _piece(token: str, rules: dict[str, str]) -> str:
    if token.startswith('"'):
        return re.escape(json.loads(token))
    if token in rules:
        return _expression(token, rules)
    return token.strip()


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        (PASS.replace(": ", ":").replace(", ", ","), True),
        ('{"verdict":"fail","reason":"引用\\"符\\" と \\u3042"}', True),
        ('{"verdict":"maybe","reason":""}', False),
        ('{"reason":"","verdict":"fail"}', False),
        ('{"verdict":"fail"}', False),
        ('{ "verdict":"fail","reason":""}', False),
        ('{"verdict":"fail","reason":"改\n行"}', False),
        ('{"verdict":"fail","reason":"' + "長" * 201 + '"}', False),
    ],
)
def test_a_grammar_takes_compact_json_of_the_schema_and_nothing_else(text, is_right):
    assert matches(dict(VERDICT.schema), text) is is_right


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, ["[]", "[1]", "[-1,20]"], ["[1,2,3]", "[01]"]),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, ["[true,false]"], ["[]", "[true]"]),
        ({"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 1}, ["[null]"], ["[null,null]"]),
        ({"type": ["string", "null"], "minLength": 1}, ["null", '"a"'], ['""', "1"]),
        ({"anyOf": [{"const": 1}, {"enum": ["あ", None]}]}, ["1", '"あ"', "null"], ["2"]),
        ({"type": "number"}, ["1.50", "-0"], ["1.", ".5", "1e9"]),
        ({"type": "object", "properties": {}}, ["{}"], ["[]"]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, ["true"], ["null"]),
        ({}, ["true", '"x"', "3"], ["{}"]),
    ],
)
def test_each_part_of_a_schema(schema, right, wrong):
    for text in right:
        assert matches(schema, text), text
    for text in wrong:
        assert not matches(schema, text), text


def test_a_schema_may_refer_to_itself():
    tree = {"type": "object", "properties": {"parts": {"type": "array", "items": {"$ref": "#"}}}}
    written = grammar_of({**tree, "$defs": {}})
    assert "ref-" in written


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a"},
        {"allOf": []},
        {"$ref": "other.json#/a"},
        {"$ref": "#/nowhere"},
        {"type": "x"},
    ],
)
def test_what_a_grammar_cannot_express_is_refused(schema):
    with pytest.raises(UnsupportedSchema):
        grammar_of(schema)


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(json_answers).failed == 0
