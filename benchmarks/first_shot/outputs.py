"""What a run writes: all findings as JSON lines, the rows with what was said, and a file for blind judging."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.first_shot.running import Answered
    from benchmarks.first_shot.with_model import Reviewed

COUNTED = "counted"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingLine:
    """A finding as it is written. ``way`` is ``hub`` or ``handed``; ``state`` is ``counted``, ``overturned`` or
    ``candidate``; ``quotes`` are pairs of the words and whether they are in the document.
    """

    document: str
    way: str
    state: str
    rule_id: str
    item: str
    category: str
    severity: str
    message: str
    quotes: tuple[tuple[str, bool], ...]
    reason: str = ""


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def write_findings(path: Path, findings: Iterable[FindingLine]) -> None:
    """Write every finding, those that do not count among them."""
    write_lines(path, map(asdict, findings))


def write_blind(path: Path, findings: Iterable[FindingLine]) -> None:
    """Write the findings that count without the way they came by, shuffled, and beside it ``KEY-`` with the ways.

    The order is that of a hash of each finding, so it is the same whenever it is written. Judge each line by adding
    ``"judged": "true" | "false" | "doubtful"``.
    """
    counted = [one for one in findings if one.state == COUNTED]
    named = sorted((_name(at, one), one) for at, one in enumerate(counted))
    blind = [
        {"id": name, "document": one.document, "message": one.message, "quotes": [quote for quote, _ in one.quotes]}
        for name, one in named
    ]
    write_lines(path, blind)
    key = [
        {"id": name, "way": one.way, "rule_id": one.rule_id, "severity": one.severity, "quotes_found": found}
        for name, one in named
        for found in ([is_found for _quote, is_found in one.quotes],)
    ]
    write_lines(path.with_name(f"KEY-{path.name}"), key)


def write_all(folder: Path, reviewed: Sequence[Reviewed], handed: Sequence[Reviewed]) -> None:
    """Write findings and rows of both ways, and what is judged blind."""
    for way, runs in (("hub", reviewed), ("handed", handed)):
        write_findings(folder / f"findings-{way}.jsonl", (one for done in runs for one in done.findings))
        write_lines(folder / f"rows-{way}.jsonl", (_row(one) for done in runs for one in done.answers))
    write_blind(folder / "blind.jsonl", [one for done in (*reviewed, *handed) for one in done.findings])


def _row(answered: Answered) -> dict[str, Any]:
    case = answered.case
    names = ("id", "check_type", "item", "topic", "location", "expected_verdict")
    return {name: case.get(name, "") for name in names} | {"said": answered.said, "is_wrong": answered.is_wrong}


def _name(at: int, finding: FindingLine) -> str:
    facts = json.dumps([at, asdict(finding)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()[:10]
