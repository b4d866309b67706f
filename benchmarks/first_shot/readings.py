"""The sources and readings of the first-shot documents, and how far two readings agree. Pure."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hub.evaluation.cases import Row
from review.evaluation.gold_list import to_cases

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a document comes from, by what name its readings call it, and in which round it is run."""

    document: str
    round: int
    document_type: str
    repository: str
    path: str
    commit: str
    licence: str
    bytes: int
    sha256: str


@cache
def sources() -> tuple[Source, ...]:
    return tuple(Source(**line) for line in _lines("sources.jsonl"))


def rounds() -> tuple[int, ...]:
    """The rounds that there are documents of."""
    return tuple(sorted({source.round for source in sources()}))


@cache
def readings() -> tuple[dict[str, Any], ...]:
    """The rows as settled; ``first`` and ``second`` are the two readings, null where one has no such row."""
    return tuple(_lines("readings.jsonl"))


def cases(documents: Iterable[str]) -> list[dict[str, Any]]:
    """Review cases of these documents' rows, without those of low confidence; ``rules`` of a row decide it."""
    wanted = set(documents)
    rows = [Row(number=number, fields=row) for number, row in enumerate(readings()) if row["document"] in wanted]
    named = {row["id"]: row["rules"] for row in readings() if "rules" in row}
    found = (case.fields for case in to_cases(rows)[0])
    return [case | ({"rule_id": named[case["id"]]} if case["id"] in named else {}) for case in found]


def agreement(rows: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """By kind of row: read alike, read otherwise, or found in one reading only."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if None in (row["first"], row["second"]):
            found[row["check_type"]]["one"] += 1
        else:
            found[row["check_type"]]["alike" if row["first"] == row["second"] else "otherwise"] += 1
    return dict(found)


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
