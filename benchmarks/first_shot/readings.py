"""The sources and readings of the first-shot documents, and how far two readings agree. Pure.

They are those of this folder, or of another one that has a ``sources.jsonl`` and a ``readings.jsonl`` of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.first_shot.outputs import read_lines
from hub.evaluation.cases import Row
from review.evaluation.gold_list import to_cases

FOLDER = Path(__file__).resolve().parent
SOURCES, READINGS = "sources.jsonl", "readings.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a document comes from, by what name its readings call it, and in which round it is run.

    ``rows`` is the folder of its readings, ``file_name`` what the file was called, where that is another name.
    """

    document: str
    round: int
    document_type: str
    repository: str
    path: str
    commit: str
    licence: str
    bytes: int
    sha256: str
    rows: Path = FOLDER
    file_name: str = ""


def rows_beside(documents: Path) -> Path:
    """Return the folder whose sources and rows count: that of the documents where it has its own, else this one."""
    return documents if all((documents / name).is_file() for name in (SOURCES, READINGS)) else FOLDER


@cache
def sources(folder: Path = FOLDER) -> tuple[Source, ...]:
    return tuple(Source(**line, rows=folder) for line in read_lines(folder / SOURCES))


def rounds(folder: Path = FOLDER) -> tuple[int, ...]:
    """The rounds that there are documents of."""
    return tuple(sorted({source.round for source in sources(folder)}))


@cache
def readings(folder: Path = FOLDER) -> tuple[dict[str, Any], ...]:
    """The rows as settled; ``first`` and ``second`` are the two readings, null where one has no such row."""
    return tuple(read_lines(folder / READINGS))


def cases_of(source: Source) -> list[dict[str, Any]]:
    """Review cases of a document's rows, as `cases`."""
    return cases([source.document], source.rows)


def cases(documents: Iterable[str], folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Review cases of these documents' rows, without those of low confidence; ``rules`` of a row decide it."""
    wanted = set(documents)
    rows = [Row(number=number, fields=row) for number, row in enumerate(readings(folder)) if row["document"] in wanted]
    named = {row["id"]: row["rules"] for row in readings(folder) if "rules" in row}
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
