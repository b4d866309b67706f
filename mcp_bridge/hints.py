"""What leads on after a refusal: the tool that finds what was looked for, the argument that is wrong, what would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext, gettext_lazy
from pydantic_core import ErrorDetails

from hub.core.errors import HubError

# The tool that finds what an error misses, by its code.
FINDERS = {
    "collection_not_found": "list_collections",
    "document_not_found": "list_documents",
    "document_not_ready": "list_documents",
    "review_not_found": "list_reviews",
    "section_not_found": "get_section",
    "check_item_not_found": "get_check_items",
    "checklist_needed": "get_check_items",
    "entity_not_found": "search",
}
# How ids begin, by the argument that takes one.
BEGINNINGS = {"document_id": "doc_", "review_id": "rev_"}
RIGHTS = ("missing_scope", "forbidden", "hub_role_needed")
# The most names in a list of what there is.
MOST = 40

Schema = Mapping[str, Any]


def lead_on(error: HubError, arguments: Mapping[str, Any], may_call: Callable[[str], bool]) -> str:
    """Say in the active language what to do about a refusal; empty where its own words do."""
    if error.error_code.endswith("_not_found") and (wrong := _wrong_kind_of_id(arguments)):
        return wrong
    finder = FINDERS.get(error.error_code, "")
    if finder and may_call(finder):
        return gettext("{tool} shows what there is.").format(tool=finder)
    if error.error_code in RIGHTS:
        return gettext("An administrator of the hub gives rights; list_collections shows what you may use.")
    return ""


def _wrong_kind_of_id(arguments: Mapping[str, Any]) -> str:
    for name, beginning in BEGINNINGS.items():
        given = arguments.get(name)
        if isinstance(given, str) and given and not given.startswith(beginning):
            return gettext("{name} is an id that begins with {beginning}; a name or another id is none.").format(
                name=name, beginning=beginning
            )
    return ""


def problem_in_words(item: ErrorDetails, schema: Schema) -> str:
    """Say of one wrong argument where it is, what was expected and what was given, in the active language."""
    where = ".".join(str(part) for part in item["loc"]) or "arguments"
    said = _expected(item, schema)
    if item["type"] in ("missing", "extra_forbidden"):
        return f"{where}: {said}"
    given = gettext("given: {value}").format(value=str(item["input"])[:80])
    return f"{where}: {said} ({given})"


# What was expected, by pydantic's name of the complaint; {number} and {values} are of its context.
EXPECTED = {
    "missing": gettext_lazy("is missing"),
    "literal_error": gettext_lazy("one of {values}"),
    "enum": gettext_lazy("one of {values}"),
    "string_too_long": gettext_lazy("at most {number} characters"),
    "string_too_short": gettext_lazy("at least {number} characters"),
    "too_long": gettext_lazy("at most {number} entries"),
    "greater_than_equal": gettext_lazy("at least {number}"),
    "less_than_equal": gettext_lazy("at most {number}"),
    "string_type": gettext_lazy("a text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), gettext_lazy("a whole number")),
    **dict.fromkeys(("float_type", "float_parsing"), gettext_lazy("a number")),
    **dict.fromkeys(("bool_type", "bool_parsing"), gettext_lazy("true or false")),
    "list_type": gettext_lazy("a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), gettext_lazy("an object")),
}
NUMBERS = ("max_length", "min_length", "ge", "le")


def _expected(item: ErrorDetails, schema: Schema) -> str:
    if item["type"] == "extra_forbidden":
        known = ", ".join(_names_beside(schema, item["loc"])[:MOST])
        return gettext("there is no such argument. Known here: {known}").format(known=known or "-")
    if item["type"] not in EXPECTED:
        return item["msg"].removeprefix("Value error, ")
    context = item.get("ctx", {})
    number = next((context[name] for name in NUMBERS if name in context), "")
    return str(EXPECTED[item["type"]]).format(number=number, values=context.get("expected", ""))


def _names_beside(schema: Schema, place: tuple[int | str, ...]) -> list[str]:
    """The names that an object of the arguments may have, where a wrong one stands."""
    at: Schema = schema
    definitions = schema.get("$defs", {})
    for part in place[:-1]:
        at = _object_in(at.get("properties", {}).get(part, at), definitions)
    return sorted(at.get("properties", {}))


def _object_in(schema: Schema, definitions: Schema) -> Schema:
    whole = {**definitions.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), {}), **schema}
    for one in (whole, *whole.get("anyOf", ())):
        found = {**definitions.get(str(one.get("$ref", "")).removeprefix("#/$defs/"), {}), **one}
        if "properties" in found:
            return found
    return whole
