"""Every text, number and list that callers give has a bound in the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hub.api import api

Json = Any

# Ids and names in the address: the row is looked up by them, and nothing is stored. The server limits its length.
UNBOUNDED_PLACES = {"path"}
# What any of these keywords says can't be of any size.
BOUNDED_BY = {
    "string": {"maxLength", "enum", "const", "format"},
    "array": {"maxItems"},
    "integer": {"maximum", "exclusiveMaximum", "enum", "const"},
    "number": {"maximum", "exclusiveMaximum", "enum", "const"},
    "object": {"maxProperties", "properties"},
}


def given_places(document: Json) -> Iterator[tuple[str, Json]]:
    """Every schema of a value that callers give: (operation and field, schema), references resolved."""
    for address, operations in document["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] not in UNBOUNDED_PLACES:
                    name = f"{method} {address} {parameter['in']} {parameter['name']}"
                    yield from inside(document, name, parameter["schema"])
            for content_type, described in operation.get("requestBody", {}).get("content", {}).items():
                yield from inside(document, f"{method} {address} {content_type}", described["schema"])


def inside(document: Json, name: str, schema: Json) -> Iterator[tuple[str, Json]]:
    """The schema itself, and those of all that it holds."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    parts = [part for kind in ("anyOf", "allOf", "oneOf") for part in schema.get(kind, ())]
    if parts:
        for part in parts:
            yield from inside(document, name, part)
        return
    yield name, schema
    for field, one in schema.get("properties", {}).items():
        yield from inside(document, f"{name}.{field}", one)
    if "items" in schema:
        yield from inside(document, f"{name}.0", schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        yield from inside(document, f"{name}.key", schema["additionalProperties"])


def unbounded(document: Json) -> list[str]:
    """Name each text, number, list and free object that may be of any size."""
    return [
        f"{name}: {json.dumps(schema, ensure_ascii=False)}"
        for name, schema in given_places(document)
        if not BOUNDED_BY.get(schema.get("type", ""), schema.keys()) & schema.keys()
    ]


def test_every_text_number_and_list_that_callers_give_has_a_bound_in_the_schema():
    document = api.get_openapi_schema()
    assert len(list(given_places(document))) > 300, "the OpenAPI document names hardly any field"
    assert not unbounded(document)


@pytest.mark.parametrize("keyword", ["maxLength", "maxItems", "maximum", "maxProperties"])
def test_a_field_without_its_bound_is_found(keyword):
    document = json.loads(json.dumps(api.get_openapi_schema()))
    bounded = [(name, schema) for name, schema in given_places(document) if keyword in schema]
    assert bounded
    for name, schema in bounded:
        taken = schema.pop(keyword)
        assert any(one.startswith(f"{name}: ") for one in unbounded(document)), name
        schema[keyword] = taken
