"""The review engine: from a check item's criteria and a document to a verdict. Pure; loads and stores nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hub.core.texts import Text
from knowledge.types.notices import Notice
from review.rules.base import RuleCrash, UnknownRuleError, run_rule
from review.rules.content.curated import rules_of
from review.types import Consulted, FindingDraft, Master, RuleInput, RuleOutcome, Severity, Verdict

BLOCKING = frozenset({Severity.CRITICAL, Severity.MAJOR})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """What the engine needs of a check item version."""

    code: str
    check_type: str
    strategy: str
    criteria: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict of one check item, what it was reached with, and the defects found.

    ``reads`` is what its rules were given besides the document, ``links`` by what they went to it: see RuleOutcome.
    """

    verdict: Verdict
    consulted: tuple[Consulted, ...] = ()
    reads: frozenset[Master] = frozenset()
    links: tuple[str, ...] = ()
    findings: tuple[FindingDraft, ...] = ()
    notices: tuple[Notice, ...] = ()
    examined: int = 0
    is_partial: bool = False
    """Some of its rules were skipped since a master can't be read: nothing else makes it a pass, either."""


@dataclass(slots=True)
class _Tally:
    """What the rules of one item said so far."""

    findings: list[FindingDraft] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    examined: int = 0
    decided: int = 0
    crashed: int = 0
    unread: int = 0
    reads: set[Master] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def remark(self, code: str, text: Text) -> None:
        """Note something once: several rules of an item often skip for one reason."""
        notice = Notice(code=code, ja=text.ja, en=text.en)
        if notice not in self.notices:
            self.notices.append(notice)


def judge(check: CheckSpec, target: RuleInput) -> Judgement:
    """Decide one check item with its rules.

    A crashed or unknown rule makes the check an error; a check whose rules had nothing to judge, or that has no rules,
    is skipped, and so is one that would pass but for a rule whose masters can't be read. None is ever a pass.
    """
    tally = _Tally()
    entries = rules_of(check.criteria)
    for entry in entries:
        _apply_rule(entry, target, tally)
    if not entries:
        tally.notices.append(NEEDS_LLM)
    return Judgement(
        verdict=_verdict(tally),
        consulted=_consulted(entries, tally),
        reads=frozenset(tally.reads),
        links=tuple(dict.fromkeys(tally.links)),
        findings=tuple(sorted(tally.findings, key=_document_order)),
        notices=tuple(tally.notices),
        examined=tally.examined,
        is_partial=bool(tally.unread),
    )


NEEDS_LLM = Notice(
    code="needs_llm",
    ja="この項目の判定には言語モデルが必要です。モデルが設定されていないため判定していません。",
    en="This item needs a language model to decide. None is configured, so it was not judged.",
)


UNAVAILABLE = {
    Master.TOPICS: "ontology_unavailable",
    Master.ARTICLES: "guidelines_unavailable",
    Master.RELATED: "related_unavailable",
}


def is_partial(said: Iterable[Mapping[str, Any]]) -> bool:
    """Tell from a result's stored notices whether some of its rules were skipped since a master can't be read."""
    return any(notice["code"] in UNAVAILABLE.values() for notice in said)


def _consulted(entries: Sequence[Mapping[str, Any]], tally: _Tally) -> tuple[Consulted, ...]:
    """What rules really used; the graph is added by who finds the paths of their links in it."""
    used = [Consulted.RULES] if entries else []
    return (*used, Consulted.ONTOLOGY) if Master.TOPICS in tally.reads else tuple(used)


def _apply_rule(entry: Mapping[str, Any], target: RuleInput, tally: _Tally) -> None:
    rule_id = str(entry.get("rule_id", ""))
    try:
        outcome = run_rule(rule_id, target, entry.get("params") or {})
    except UnknownRuleError as error:
        tally.crashed += 1
        tally.notices.append(Notice(code="unknown_rule", ja=f"規則「{rule_id}」は登録されていません。", en=str(error)))
        return
    if isinstance(outcome, RuleCrash):
        tally.crashed += 1
        tally.remark("rule_crashed", outcome.message)
        return
    if outcome.skip_reason is not None:
        _skip(outcome, outcome.skip_reason, tally)
        return
    tally.decided += 1
    tally.examined += outcome.examined
    tally.findings.extend(outcome.findings)
    tally.reads |= outcome.reads
    tally.links.extend(outcome.links)


def _skip(outcome: RuleOutcome, reason: Text, tally: _Tally) -> None:
    tally.unread += bool(outcome.reads)
    code = next((UNAVAILABLE[master] for master in sorted(outcome.reads)), "rule_skipped")
    tally.remark(code, reason)


def _verdict(tally: _Tally) -> Verdict:
    if tally.crashed:
        return Verdict.ERROR
    if not tally.decided:
        return Verdict.SKIPPED
    verdict = verdict_of(finding.severity for finding in tally.findings)
    return Verdict.SKIPPED if tally.unread and verdict is not Verdict.FAIL else verdict


def verdict_of(standing: Iterable[Severity]) -> Verdict:
    """Return a decided check's verdict from the severities of its findings that stand."""
    severities = set(standing)
    if severities & BLOCKING:
        return Verdict.FAIL
    return Verdict.WARNING if Severity.MINOR in severities else Verdict.PASS


def _document_order(finding: FindingDraft) -> tuple[int, int, str, str]:
    """By place; what is missing has none and comes last."""
    if finding.location:
        return (0, finding.location.start, finding.rule_id, finding.key)
    return (1, 0, finding.rule_id, finding.key)


def overall_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """A review's verdict: error if any check errored, else fail, else warning, else pass over the decided checks.

    Nothing decided is an error; where people found all that was decided not applicable, so is the review.
    """
    found = set(verdicts) - {Verdict.SKIPPED}
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARNING, Verdict.PASS, Verdict.NOT_APPLICABLE):
        if verdict in found:
            return verdict
    return Verdict.ERROR


def fingerprint(item_code: str, finding: FindingDraft) -> str:
    """Name a defect independently of where it stands: the same in every review of every version that has it."""
    return hashlib.sha256(f"{item_code}|{finding.rule_id}|{finding.key}".encode()).hexdigest()[:32]


def unique_findings(item_code: str, findings: Sequence[FindingDraft]) -> list[tuple[str, FindingDraft]]:
    """Pair findings with fingerprints; of several with one fingerprint the first in the document counts."""
    named: dict[str, FindingDraft] = {}
    for finding in findings:
        named.setdefault(fingerprint(item_code, finding), finding)
    return list(named.items())
