"""The JSON that a model is asked for: described in words or as a grammar, read and checked.

A grammar is GBNF, as llama.cpp and servers built on it take it in ``grammar``. It leaves no white space between tokens
and bounds every string and list: a small model that is free to add either tends to go on for ever. Source of the
notation: llama.cpp, grammars/README.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from hub.core.bounds import check_strings
from hub.core.errors import InvalidInput
from hub.llm.errors import LlmInvalidAnswer
from hub.llm.types import AnswerSchema

# Bounds where the schema has none. llama.cpp refuses grammars whose repetitions grow beyond a few thousand.
DEFAULT_MAX_LENGTH = 400
DEFAULT_MAX_ITEMS = 32
LONGEST = 2000

_PRIMITIVES = {
    "char": r'[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
}
_ANY = ("string", "number", "boolean", "null")


class UnsupportedSchema(ValueError):
    """The schema has something that a grammar can't express."""


def grammar_of(schema: Mapping[str, Any]) -> str:
    """Write the grammar whose every sentence is compact JSON that meets the schema; properties come in its order.

    Knows type, enum, const, properties, items, minItems, maxItems, minLength, maxLength, anyOf, oneOf and local $ref.
    Optional properties are always given. Numeric bounds are left to the validation of the answer.

    :raises UnsupportedSchema: for patterns, prefixItems, allOf, and references to other documents.

    >>> print(grammar_of({"enum": ["pass", "fail"]}))
    root ::= "\\"pass\\"" | "\\"fail\\""
    """
    return _Compiler(schema).compile()


class _Compiler:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._rules: dict[str, str] = {}

    def compile(self) -> str:
        rules = {"root": self._expression(self._root, "root")} | self._rules
        return "\n".join(f"{name} ::= {body}" for name, body in rules.items())

    def _expression(self, schema: Mapping[str, Any], name: str) -> str:
        for unknown in ("pattern", "prefixItems", "allOf", "patternProperties", "not", "if"):
            if unknown in schema:
                raise UnsupportedSchema(f"a grammar can't express {unknown!r} (at {name})")
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        if "const" in schema:
            return _literal(schema["const"])
        if "enum" in schema:
            return " | ".join(_literal(value) for value in schema["enum"])
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return " | ".join(self._rule(one, f"{name}-{n}") for n, one in enumerate(schema[choice]))
        types = schema.get("type", _ANY)
        if isinstance(types, str):
            return self._typed(types, schema, name)
        return " | ".join(self._rule({**schema, "type": one}, f"{name}-{one}") for one in types)

    def _typed(self, kind: str, schema: Mapping[str, Any], name: str) -> str:
        match kind:
            case "object":
                return self._object(schema, name)
            case "array":
                return self._array(schema, name)
            case "string":
                shortest, longest = schema.get("minLength", 0), schema.get("maxLength", DEFAULT_MAX_LENGTH)
                return rf'"\"" {self._primitive("char")}{{{shortest},{max(shortest, min(longest, LONGEST))}}} "\""'
            case "integer" | "number" | "boolean" | "null":
                return self._primitive(kind)
        raise UnsupportedSchema(f"unknown type {kind!r} (at {name})")

    def _object(self, schema: Mapping[str, Any], name: str) -> str:
        members = [
            f"{_text(json.dumps(key, ensure_ascii=False) + ':')} {self._rule(value, f'{name}-{n}')}"
            for n, (key, value) in enumerate(schema.get("properties", {}).items())
        ]
        return " ".join(['"{"', ' "," '.join(members), '"}"']) if members else '"{}"'

    def _array(self, schema: Mapping[str, Any], name: str) -> str:
        item = self._rule(schema.get("items", {}), f"{name}-item")
        fewest, most = schema.get("minItems", 0), schema.get("maxItems", DEFAULT_MAX_ITEMS)
        most = max(fewest, min(most, LONGEST))
        if most == 0:
            return '"[]"'
        several = f'{item} ("," {item}){{{max(fewest - 1, 0)},{most - 1}}}'
        return f'"[" {several} "]"' if fewest else f'"[" ({several})? "]"'

    def _rule(self, schema: Mapping[str, Any], name: str) -> str:
        """Give the name of a rule for a part of the schema."""
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        self._rules[name] = self._expression(schema, name)
        return name

    def _primitive(self, kind: str) -> str:
        self._rules[kind] = _PRIMITIVES[kind]
        return kind

    def _reference(self, target: str) -> str:
        parts = target.split("/")
        name = "ref-" + "-".join("".join(char for char in part if char.isalnum()) for part in parts[1:])
        if parts[0] != "#":
            raise UnsupportedSchema(f"a grammar can't follow the reference {target!r}")
        if name not in self._rules:
            self._rules[name] = ""  # a schema that refers to itself finds the rule under way
            self._rules[name] = self._expression(_follow(self._root, parts[1:], target), name)
        return name


def _follow(root: Mapping[str, Any], parts: Sequence[str], target: str) -> Mapping[str, Any]:
    place: Any = root
    for part in parts:
        if not isinstance(place, Mapping) or part not in place:
            raise UnsupportedSchema(f"the reference {target!r} leads nowhere")
        place = place[part]
    return dict(place)


def _literal(value: object) -> str:
    return _text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _text(text: str) -> str:
    """Write a text as a GBNF literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


_FENCE = re.compile(r"\A\s*+```(?:json)?+\s*+(?<=\n)(.*?)\n?```\s*+\Z", re.DOTALL | re.IGNORECASE)
# Bounds that endpoints refuse in a strict schema. Source: OpenAI, "Structured Outputs", supported schemas.
_NOT_STRICT = frozenset({"minLength", "maxLength"})


def read_answer(text: str, schema: AnswerSchema) -> Any:  # noqa: ANN401 - any JSON value
    """Parse an answer, with or without a code fence around it, and hold it against the schema.

    :raises LlmInvalidAnswer: code ``llm_invalid_json`` or ``llm_wrong_schema``; the message says where, not what.
    """
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        raise LlmInvalidAnswer(
            _("The language model's answer is not JSON ({reason})."),
            code="llm_invalid_json",
            text=text,
            reason=str(error)[:100],
        ) from error
    try:
        check_strings(data, "answer")
    except InvalidInput as error:
        raise LlmInvalidAnswer(
            _("The language model's answer has characters that can't be stored (NUL, half of a surrogate pair)."),
            code="llm_unstorable",
            text=text,
        ) from error
    problem = best_match(Draft202012Validator(schema.schema).iter_errors(data))
    if problem is not None:
        raise LlmInvalidAnswer(
            _('The language model\'s answer has not the form that was asked for: "{rule}" does not hold at {place}.'),
            code="llm_wrong_schema",
            text=text,
            rule=problem.validator,
            place=problem.json_path,
        )
    return data


def strict_schema(schema: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Leave out of a schema what endpoints refuse when they hold a model to it; the answer is checked in full.

    How long a text may be is said in its description.

    >>> strict_schema({"type": "string", "minLength": 1, "maxLength": 80})
    {'type': 'string', 'description': 'At most 80 characters.'}
    """
    if not isinstance(schema, dict):
        return [strict_schema(item) for item in schema] if isinstance(schema, list) else schema
    kept = {key: strict_schema(value) for key, value in schema.items() if key not in _NOT_STRICT}
    if schema.get("type") == "string" and isinstance(schema.get("maxLength"), int):
        said = (kept.get("description", ""), f"At most {schema['maxLength']} characters.")
        kept["description"] = " ".join(part for part in said if part)
    return kept


def describe_schema(schema: AnswerSchema) -> str:
    """Tell a model in words to answer in a schema, for endpoints that can't be held to one."""
    written = json.dumps(schema.schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else, no code fence. It must meet this JSON schema:\n{written}"
