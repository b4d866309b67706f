"""What a run writes: all findings as JSON lines, the rows with what was said, and a file for blind judging."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.first_shot.running import Answered, Run
    from benchmarks.first_shot.with_model import Reviewed

COUNTED = "counted"
TOPICS, CONSISTENCY = "required_section", "consistency"


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


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


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


def table(ways: Mapping[str, Sequence[Run | Reviewed]]) -> str:
    """Print several ways over the same rows as one table, a line each: all rows, topics, and what was missed of the
    contradictions; requests, tokens and US$ where a model was asked.
    """
    lines = [
        "| | agreement | false alarms | misses | required topics: agreement, false alarms, misses "
        "| contradictions missed | requests | tokens in, out | US$ |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in ways.items():
        answers = [one for done in runs for one in done.answers]
        topics = [one for one in answers if one.case["check_type"] == TOPICS]
        wrong = [one for one in answers if one.case["check_type"] == CONSISTENCY and _is_defect(one)]
        agreement, false_alarms, misses = _shares(answers)
        cells = [
            name,
            f"{agreement} of {len(answers)}",
            false_alarms,
            misses,
            ", ".join(_shares(topics)),
            f"{sum(one.is_wrong for one in wrong)} of {len(wrong)}",
            *_spent(runs),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _is_defect(answered: Answered) -> bool:
    return bool(answered.case["expected_verdict"] == "fail")


def _shares(answers: Sequence[Answered]) -> tuple[str, ...]:
    from hub.evaluation.metrics import figures

    measures = figures([one.judged for one in answers], intervals=False)["metrics"]
    found = (measures[each]["value"] for each in ("agreement", "false_positive_rate", "false_negative_rate"))
    return tuple("–" if share is None else f"{share:.3f}" for share in found)


def _spent(runs: Sequence[Run | Reviewed]) -> list[str]:
    from benchmarks.first_shot.with_model import Reviewed

    spent = [done.spent for done in runs if isinstance(done, Reviewed)]
    if not spent:
        return ["–"] * 3
    tokens = f"{sum(one.tokens_in for one in spent)}, {sum(one.tokens_out for one in spent)}"
    return [str(sum(one.requests for one in spent)), tokens, f"{sum(one.cost for one in spent):.2f}"]


def write_all(folder: Path, reviewed: Sequence[Reviewed], handed: Sequence[Reviewed]) -> None:
    """Write findings and rows of both ways, and what is judged blind: findings, and rows by what is near them."""
    from benchmarks.first_shot.near import write_near

    write_near(folder, {"hub": reviewed, "handed": handed})
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
