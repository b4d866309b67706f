"""Reading review cases: what a reviewer should say of a document. Pure: no database.

A case is ``{"path": "設計書.md", "rule_id": "traceability.numbering_gap", "item": "FR-001〜FR-014 の欠番",
"expected_verdict": "pass", "identifiers": ["FR-001〜FR-014"]}``. Which document: ``document_id`` or ``path`` (with
``collection`` where a path is in several), and ``version``, a number; the current version without it. What decides:
``check_item_id``, ``rule_id`` (one, or several), ``topic`` or ``check_type``. What the finding must be about:
``identifiers``, ``variants``, ``field`` (version or date of an edition), ``location`` (a text of the document).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from hub.evaluation.cases import ParsedCase, digest_of, text_of, weight_of

REVIEW = "review"
VERDICTS = ("pass", "fail")
SELECTORS = ("check_item_id", "rule_id", "topic", "check_type")
TEXTS = ("id", "item", "check_item_id", "topic", "check_type", "collection", "field", "note")
LISTS = ("identifiers", "variants", "related_documents")
KNOWN_FIELDS = frozenset(
    {*TEXTS, *LISTS, "document_id", "path", "version", "rule_id", "expected_verdict", "location", "weight"},
)
MOST_IDENTIFIERS = 2000
SEPARATORS = re.compile(r"[,，、;；\n]")
RANGE = re.compile(r"^(?P<prefix>.*?)(?<!\d)(?P<first>\d++)\s*+[〜～~]\s*+(?P<again>.*?)(?<!\d)(?P<last>\d++)$")
_LONGEST_RANGE = 200


def review_case(row: Any) -> ParsedCase:  # noqa: ANN401 (whatever JSON or a sheet holds)
    """Read one case. Raises ValueError saying what is wrong."""
    if not isinstance(row, dict):
        raise ValueError('expected an object like {"path": "設計書.md", "rule_id": "…", "expected_verdict": "fail"}')
    given = {name: value for name, value in row.items() if value not in (None, "", [])}
    if unknown := sorted(given.keys() - KNOWN_FIELDS):
        raise ValueError(f"unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(KNOWN_FIELDS))}")
    asked: dict[str, Any] = {"document": _document(given)}
    asked |= {name: text_of(given, name) for name in TEXTS if name in given}
    asked |= {name: _texts(given[name], name) for name in LISTS if name in given}
    if "version" in given:
        asked["version"] = _version(given["version"])
    if "rule_id" in given:
        asked["rule_ids"] = _texts(given["rule_id"], "rule_id")
    if "location" in given:
        asked["location"] = text_of(given, "location")
    if not any(name in given for name in SELECTORS):
        raise ValueError(f"name what decides: one of {', '.join(SELECTORS)}")
    if "identifiers" in asked:
        asked["identifiers"] = expand_identifiers(asked["identifiers"])
    weight = weight_of(_number(given.get("weight", 1.0)))
    return ParsedCase(
        kind=REVIEW, digest=_digest(asked), input=asked, expected={"verdict": _verdict(given)}, weight=weight
    )


def _digest(asked: Mapping[str, Any]) -> str:
    """A case with an id of its own is named by it, so that a corrected one replaces the old."""
    if "id" in asked:
        return digest_of({"id": asked["id"], "document": asked["document"]})
    return digest_of({name: value for name, value in asked.items() if name != "note"})


def _document(given: Mapping[str, Any]) -> str:
    if "document_id" in given and "path" in given:
        raise ValueError("give document_id or path, not both")
    if "document_id" in given:
        return text_of(given, "document_id")
    if "path" in given:
        return unicodedata.normalize("NFC", text_of(given, "path"))
    raise ValueError("name the document: document_id or path")


def _verdict(given: Mapping[str, Any]) -> str:
    verdict = given.get("expected_verdict")
    if verdict not in VERDICTS:
        raise ValueError(f"expected_verdict: expected pass or fail, not {verdict!r}")
    return str(verdict)


def _texts(value: object, field: str) -> list[str]:
    """A list of texts; a cell of a sheet holds them with commas between."""
    if isinstance(value, str):
        value = [part.strip() for part in SEPARATORS.split(value) if part.strip()]
    if not isinstance(value, list) or not value:
        raise ValueError(f"{field}: expected a text, or a list of texts")
    return [text_of({field: item}, field) for item in value]


def _version(value: object) -> int:
    number = _number(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number) or number < 1:
        raise ValueError(f"version: expected a version's number, not {value!r}")
    return int(number)


def _number(value: object) -> object:
    """A sheet may hold a number as text."""
    if not isinstance(value, str):
        return value
    try:
        return float(unicodedata.normalize("NFKC", value))
    except ValueError:
        return value


def expand_identifiers(given: list[str]) -> list[str]:
    """Write ranges out.

    >>> expand_identifiers(["FR-008〜FR-010", "C-001"])
    ['FR-008', 'FR-009', 'FR-010', 'C-001']

    :raises ValueError: a range ends before it begins, changes its prefix, or is longer than MOST_IDENTIFIERS.
    """
    found: list[str] = []
    for text in (unicodedata.normalize("NFKC", item) for item in given):
        match = RANGE.match(text) if len(text) <= _LONGEST_RANGE else None
        found += _range(match, text) if match else [text]
    return list(dict.fromkeys(found))


def _range(match: re.Match[str], text: str) -> list[str]:
    first, last, width = int(match["first"]), int(match["last"]), len(match["first"])
    if match["again"] not in ("", match["prefix"]) or not first <= last < first + MOST_IDENTIFIERS:
        raise ValueError(f"identifiers: {text!r} is no range like FR-001〜FR-014")
    return [f"{match['prefix']}{number:0{width}d}" for number in range(first, last + 1)]
