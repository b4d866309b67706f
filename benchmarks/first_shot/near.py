"""Rows answered by people: whether what a model found on a row's line is what the row asks of.

A mechanical match takes any finding on the line for an answer, so that a true one about something else is a false
alarm, and a true one that quotes another line of the section a miss. ``near.jsonl`` has each row with the findings
that quote its line or a passage beside it, or name its words, without the way they came by. Somebody who does not know
the way adds ``"says": true | false`` to each line, and `judged_rows` answers the rows by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.first_shot.outputs import read_lines, write_lines
from hub.evaluation.metrics import Judged, figures

if TYPE_CHECKING:
    from benchmarks.first_shot.running import Answered
    from benchmarks.first_shot.with_model import Reviewed

NEAR = "near.jsonl"


def write_near(folder: Path, ways: Mapping[str, Sequence[Reviewed]]) -> None:
    """Write what is to be judged, in the order of a hash, and beside it ``KEY-near.jsonl`` with rows and ways."""
    asked = [(way, one) for way, runs in ways.items() for done in runs for one in done.answers if one.near]
    named = sorted((_name(way, one), way, one) for way, one in asked)
    write_lines(folder / NEAR, (_line(name, one) for name, _way, one in named))
    write_lines(folder / f"KEY-{NEAR}", ({"id": name, "way": way, "row": one.case["id"]} for name, way, one in named))


def _name(way: str, one: Answered) -> str:
    return hashlib.sha256(f"{way}|{one.case['id']}".encode()).hexdigest()[:10]


def _line(name: str, one: Answered) -> dict[str, Any]:
    findings = [{"message": found.message, "quotes": list(found.quotes)} for found in one.near]
    return {
        "id": name,
        "document": one.source.document,
        "row": one.case["item"],
        "place": one.case.get("location", ""),
        "findings": findings,
    }


def judged_rows(folder: Path, way: str) -> dict[str, Any]:
    """The figures of a way (`hub.evaluation.metrics.figures`): rows with something near them as they were judged, the
    others as they were answered.

    :raises KeyError: a line is not judged.
    """
    says = {line["id"]: line["says"] for line in read_lines(folder / NEAR)}
    judged = {line["row"]: says[line["id"]] for line in read_lines(folder / f"KEY-{NEAR}") if line["way"] == way}
    rows = read_lines(folder / f"rows-{way}.jsonl")
    said = {row["id"]: "fail" if judged.get(row["id"]) else _otherwise(row, judged) for row in rows}
    found: dict[str, Any] = figures(
        [Judged(expected=row["expected_verdict"], said=said[row["id"]]) for row in rows], intervals=False
    )
    return found


def _otherwise(row: Mapping[str, Any], judged: Mapping[str, bool]) -> str:
    """What was said of a row on which no finding says what it asks of."""
    by_model = row["id"] in judged and row["said"] == "fail"
    return "pass" if by_model else str(row["said"])
