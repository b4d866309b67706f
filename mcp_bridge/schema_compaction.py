"""Schemas as short as they can be: a model reads those of all tools before anything else, and pays for each word.

What pydantic makes of a type says the same things again: a title for each name, a default in each result, a definition
for what occurs once. Nothing here changes which values a schema allows, but for
``shortened`` and ``outlined``, which allow more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = dict[str, Any]

# Keywords by what they hold: schemas by name, one schema, several schemas.
_NAMED = ("properties", "$defs")
_ONE = ("items", "additionalProperties")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_REF = "#/$defs/"
# A definition that is not longer is written out wherever it is used.
SHORT = 60


def slim_input(schema: Schema) -> Schema:
    """Shorten the schema of arguments; defaults stay, but for empty ones, and those of objects."""
    return _inlined(_everywhere(schema, _slim_argument))


def slim_output(schema: Schema) -> Schema:
    """Shorten the schema of a result; one that may be null has two types instead of two schemas."""
    return _inlined(_everywhere(schema, _slim_result))


def shortened(schema: Schema, like: Mapping[str, str]) -> Schema:
    """Say of some fields only of which type they are and which tool describes them: ``like`` has its name by theirs."""
    fields = dict(schema["properties"])
    for name, tool in like.items():
        kind = fields[name].get("type", ["object", "null"])
        fields[name] = {"type": kind, "description": f"as {tool} describes it"}
    return _without_unused({**schema, "properties": fields})


def outlined(schema: Schema) -> Schema:
    """Keep of a result's schema the fields that are never null, with their types: the rest a model reads in results."""
    definitions = schema.get("$defs", {})
    outlines = {name: _outline(one, definitions) for name, one in schema["properties"].items()}
    fields = {name: one for name, one in outlines.items() if one}
    return {"type": "object", "properties": fields}


def _outline(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    whole = {**definitions.get(str(schema.get("$ref", "")).removeprefix(_REF), {}), **schema}
    return {"type": whole["type"]} if isinstance(whole.get("type"), str) else {}  # what may be null is not narrowed


def _slim_argument(schema: Schema) -> Schema:
    slim = _slim(schema)
    if "default" in slim and (not slim["default"] or isinstance(slim["default"], dict)):
        del slim["default"]
    return _nullable(slim)


def _slim_result(schema: Schema) -> Schema:
    slim = _slim(schema)
    slim.pop("default", None)
    return _nullable(slim)


def _slim(schema: Schema) -> Schema:
    slim = {name: value for name, value in schema.items() if name not in ("title", "discriminator")}
    if slim.get("additionalProperties") is True:
        del slim["additionalProperties"]
    return slim


def _nullable(schema: Schema) -> Schema:
    """Write ``{anyOf: [{type: string}, {type: null}]}`` as ``{type: [string, null]}``."""
    alternatives: list[Schema] = schema.get("anyOf", [])
    if all(one.get("type") in ("string", "null") and not one.keys() - {"type", "format"} for one in alternatives):
        # dates and times in several forms: the description says which
        alternatives = [{"type": kind} for kind in dict.fromkeys(one["type"] for one in alternatives)]
    types = [one.get("type") for one in alternatives]
    if not all(isinstance(kind, str) for kind in types) or len(set(types)) != len(types) or not types:
        return schema
    keywords = [name for one in alternatives for name in one if name != "type"]
    if {"enum", "const"} & set(keywords) or len(set(keywords)) != len(keywords) or {"integer", "number"} <= set(types):
        return schema
    merged = {name: held for one in alternatives for name, held in one.items()}
    beside = {name: held for name, held in schema.items() if name != "anyOf"}
    return {**merged, "type": types, **beside}


def _everywhere(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Change a schema and all that it is made of, the inner ones first. Names of fields are no keywords."""
    changed = dict(schema)
    for name in _NAMED:
        if name in changed:
            changed[name] = {key: _everywhere(one, change) for key, one in changed[name].items()}
    for name in _ONE:
        if isinstance(changed.get(name), dict):
            changed[name] = _everywhere(changed[name], change)
    for name in _SEVERAL:
        if name in changed:
            changed[name] = [_everywhere(one, change) for one in changed[name]]
    return change(changed)


def _inlined(schema: Schema) -> Schema:
    """Write definitions out where they are used once, or are short; what refers to itself stays."""
    definitions: dict[str, Schema] = schema.get("$defs", {})
    uses = Counter(_references(schema))
    written_out = {
        name
        for name, one in definitions.items()
        if (uses[name] == 1 or len(json.dumps(one)) <= SHORT) and not _refers_to(name, one, definitions)
    }

    def write_out(one: Schema) -> Schema:
        name = str(one.get("$ref", "")).removeprefix(_REF)
        if name not in written_out:
            return one
        beside = {key: value for key, value in one.items() if key != "$ref"}
        return {**_everywhere(definitions[name], write_out), **beside}

    return _without_unused(_everywhere(schema, write_out))


def _without_unused(schema: Schema) -> Schema:
    definitions: dict[str, Schema] = schema.get("$defs", {})
    rest = {name: value for name, value in schema.items() if name != "$defs"}
    needed: set[str] = set()
    waiting = list(_references(rest))
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += _references(definitions[name])
    kept = {name: one for name, one in definitions.items() if name in needed}
    return {**rest, "$defs": kept} if kept else rest


def _refers_to(name: str, schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    seen: set[str] = set()
    waiting = list(_references(schema))
    while waiting:
        other = waiting.pop()
        if other == name:
            return True
        if other not in seen:
            seen.add(other)
            waiting += _references(definitions[other])
    return False


def _references(value: object) -> Iterator[str]:
    """Every use of a definition in a schema. A field may be called ``$ref``; no tool has one."""
    if isinstance(value, dict):
        for name, held in value.items():
            if name == "$ref" and isinstance(held, str):
                yield held.removeprefix(_REF)
            else:
                yield from _references(held)
    elif isinstance(value, list):
        for held in value:
            yield from _references(held)
