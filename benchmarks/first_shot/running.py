"""The rules of the shipped check lists over a document, and the verdict on each row of its readings."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.first_shot.readings import Source, cases_of
from hub.evaluation.cases import review_case
from hub.evaluation.metrics import Judged
from knowledge.ontology.shipped_files import TOPIC_FILES, read_topic
from knowledge.parsers import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.text.structure import build_sections
from knowledge.types.requirements import Topic
from review.evaluation.matching import Defect, Said, answer
from review.rules import RuleCrash, run_rule
from review.rules.base import DATA
from review.types import FindingDraft, RuleInput

TOPIC_RULES = ("coverage.missing_topic", "coverage.empty_section")
# That there is no change history is told by the check item on version management, and by no other.
HISTORY_TOPICS = ("change_history", "tp_change_history")


class OtherFile(ValueError):
    """The folder holds no such file, or another one than was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A row as a case, its document's source, and what was said of it.

    ``near`` is what a model found near its line, where rules do not call it a defect.
    """

    case: Mapping[str, Any]
    source: Source
    said: str
    near: tuple[Any, ...] = ()

    @property
    def judged(self) -> Judged:
        return Judged(expected=self.case["expected_verdict"], said=self.said)

    @property
    def is_wrong(self) -> bool:
        return bool(self.said != self.case["expected_verdict"])


@dataclass(slots=True, kw_only=True)
class Run:
    """What the rules said of one document: of each row, and every finding."""

    source: Source
    text: str
    answers: list[Answered] = field(default_factory=list)
    findings: list[FindingDraft] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)


def run(source: Source, folder: Path) -> Run:
    """Run every rule of the document's check list. Raises OtherFile, ParseError."""
    target = _target(source, folder)
    done = Run(source=source, text=target.text)
    heard = _said(target, done)
    for case in cases_of(source):
        asked = review_case(case).input
        together = [heard[rule] for rule in asked.get("rule_ids", TOPIC_RULES) if rule in heard]
        said = Said(
            decided=any(one.decided for one in together),
            defects=[defect for one in together for defect in one.defects],
        )
        done.answers.append(Answered(case=case, source=source, said=answer(asked, said, target.text)))
    return done


def checked_path(source: Source, folder: Path) -> Path:
    """Find a document in ``folder``. Raises OtherFile."""
    path = folder / source.document
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != source.sha256:
        raise OtherFile(f"{path} is not {source.path} of {source.repository} at {source.commit}")
    return path


def _target(source: Source, folder: Path) -> RuleInput:
    path = checked_path(source, folder)
    name = source.file_name or source.document
    parsed = parse_file(path, filename=name, limits=ParseLimits())
    return RuleInput(
        text=parsed.markdown,
        title=parsed.title or name,
        document_name=name,
        document_type=source.document_type,
        sections=build_sections(parsed.markdown, parsed.blocks),
        blocks=parsed.blocks,
        topics=topics_of(source.document_type),
    )


def topics_of(document_type: str) -> tuple[Topic, ...]:
    """Return the shipped topics that documents of a type have to treat."""
    domains = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(TOPIC_FILES.glob("*.json"))]
    return tuple(
        read_topic(entry)
        for domain in domains
        if document_type in domain["document_types"]
        for entry in domain["topics"]
    )


def _items(document_type: str) -> Iterator[Mapping[str, Any]]:
    lists = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((DATA / "checklists").glob("*.json"))]
    for checklist in lists:
        if document_type in checklist["document_types"]:
            yield from checklist["items"]


def items_of(document_type: str) -> list[str]:
    """Return the check list's items for a type of document: name, description and question of each."""
    return [
        " — ".join(text for text in (item["name"]["ja"], item["description"]["ja"], item.get("prompt")) if text)
        for item in _items(document_type)
    ]


def _uses(document_type: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rules of the check list for the type, each with its parameters there."""
    for item in _items(document_type):
        yield from ((use["rule_id"], use.get("params", {})) for use in item.get("rules", ()))


def _said(target: RuleInput, done: Run) -> dict[str, Said]:
    defects: dict[str, list[Defect]] = defaultdict(list)
    decided: dict[str, bool] = defaultdict(bool)
    for rule, params in _uses(target.document_type):
        outcome = run_rule(rule, target, params)
        if isinstance(outcome, RuleCrash):
            done.crashed.append(rule)
            continue
        decided[rule] |= outcome.skip_reason is None
        done.findings += outcome.findings
        defects[rule] += (_defect(found) for found in outcome.findings)
        defects[TOPIC_RULES[0]] += (
            one for found in outcome.findings for one in missing_topics(found.rule_id, found.data)
        )
    return {rule: Said(decided=decided[rule], defects=defects[rule]) for rule in decided}


def missing_topics(rule_id: str, data: Mapping[str, Any]) -> list[Defect]:
    """Return what a finding that is not of the rules for topics says of them."""
    if rule_id != "document.missing_history" or "topic" not in data:
        return []
    return [Defect(rule_id=rule_id, data={"topic": topic}) for topic in HISTORY_TOPICS]


def decided_rules(target: RuleInput) -> dict[str, bool]:
    """Run the rules of the check list for the target's type; gives for each whether it had something to judge."""
    decided: dict[str, bool] = defaultdict(bool)
    for rule, params in _uses(target.document_type):
        outcome = run_rule(rule, target, params)
        decided[rule] |= not isinstance(outcome, RuleCrash) and outcome.skip_reason is None
    return decided


def _defect(found: FindingDraft) -> Defect:
    spans = tuple((span.start, span.end) for span in found.evidence)
    return Defect(rule_id=found.rule_id, data=found.data, spans=spans)


def by_name(answers: Sequence[Answered], name: str) -> dict[str, list[Judged]]:
    """Group by ``check_type``, ``document_type``, ``format`` or ``document``."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in answers:
        named = {
            "check_type": one.case["check_type"],
            "document_type": one.source.document_type,
            "format": one.source.document.rpartition(".")[2],
            "document": one.source.document,
        }
        groups[named[name]].append(one.judged)
    return dict(sorted(groups.items()))
