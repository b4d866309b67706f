"""Reading retrieval cases from JSON Lines. Pure: no database.

One case a line: ``{"query": "…", "relevant": ["設計書.md", {"document": "要件.md", "text": "応答時間は3秒"}]}``, with
``collection`` and ``weight`` as one likes, and ``filter``, ``mode``, ``threshold`` and ``per_document`` as POST /search
takes them. ``document`` is a path or an id; ``text`` is a quote that a passage must hold to count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hub.core.strict_json import read_json

RETRIEVAL = "retrieval"
# How the question was asked, besides its collection; what they hold is for search to judge.
SEARCH_FIELDS = ("filter", "mode", "threshold", "per_document")
HEAVIEST = 1000
KNOWN_FIELDS = frozenset({"query", "relevant", "collection", "weight", *SEARCH_FIELDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCase:
    """A case as it is stored; ``digest`` is the same for the same question, whatever its answer."""

    kind: str
    digest: str
    input: dict[str, Any]
    expected: dict[str, Any]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is no case: its number from 1, and what is wrong with it."""

    number: int
    reason: str


def read_retrieval_cases(
    lines: Iterable[str], *, check: Callable[[Mapping[str, Any]], object] = lambda _asked: None
) -> tuple[list[ParsedCase], list[BadLine]]:
    """Read cases and the lines that are none, both in order; empty lines don't count.

    ``check`` raises ValueError for an input that can't be searched for.
    """
    cases: list[ParsedCase] = []
    bad: list[BadLine] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = retrieval_case(read_json(line))
            check(case.input)
            cases.append(case)
        except ValueError as error:  # JSONDecodeError is one
            bad.append(BadLine(number=number, reason=str(error)))
    return cases, bad


def retrieval_case(row: Any) -> ParsedCase:  # noqa: ANN401 (whatever JSON holds)
    """Read one case. Raises ValueError saying what is wrong."""
    if not isinstance(row, dict):
        raise ValueError('expected an object like {"query": "…", "relevant": ["設計書.md"]}')
    if unknown := sorted(row.keys() - KNOWN_FIELDS):
        raise ValueError(f"unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(KNOWN_FIELDS))}")
    asked: dict[str, Any] = {"query": text_of(row, "query")}
    if row.get("collection"):
        asked["collection"] = text_of(row, "collection")
    asked |= {name: row[name] for name in SEARCH_FIELDS if row.get(name)}
    relevant = list(_relevant(row.get("relevant")))
    return ParsedCase(
        kind=RETRIEVAL,
        digest=digest_of(asked),
        input=asked,
        expected={"relevant": relevant},
        weight=weight_of(row.get("weight", 1.0)),
    )


def digest_of(question: Mapping[str, Any]) -> str:
    """Name what a case asks, whatever the order of its fields; 64 hex digits."""
    canonical = json.dumps(question, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def text_of(row: Mapping[str, Any], field: str) -> str:
    """Read a field that must hold some text. Raises ValueError naming it."""
    value = row.get(field)
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(f"{field}: expected some text")
    return value.strip()


def _relevant(given: object) -> Iterator[dict[str, str]]:
    if not isinstance(given, list) or not given:
        raise ValueError("relevant: expected a list of one document or more")
    for item in given:
        if isinstance(item, str):
            yield {"document": text_of({"relevant": item}, "relevant")}
        elif isinstance(item, dict) and item.keys() <= {"document", "text"}:
            entry = {"document": text_of(item, "document")}
            yield entry | ({"text": text_of(item, "text")} if "text" in item else {})
        else:
            raise ValueError('relevant: expected paths, ids, or {"document": "…", "text": "…"}')


def weight_of(value: object) -> float:
    """Read how much a case counts. Raises ValueError for anything but a number above 0, up to HEAVIEST."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= HEAVIEST:
        raise ValueError(f"weight: expected a number above 0, up to {HEAVIEST}")
    return float(value)
