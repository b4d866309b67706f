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
from review.types import STRATEGY_BY_TYPE, FindingDraft, RuleInput, Severity, Verdict

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
    """The verdict of one check item, how it was reached, and the defects found."""

    verdict: Verdict
    strategy: str
    strategy_reason: Text
    findings: tuple[FindingDraft, ...] = ()
    notices: tuple[Notice, ...] = ()
    examined: int = 0


@dataclass(slots=True)
class _Tally:
    """What the rules of one item said so far."""

    findings: list[FindingDraft] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    examined: int = 0
    decided: int = 0
    crashed: int = 0

    def remark(self, code: str, text: Text) -> None:
        """Note something once: several rules of an item often skip for one reason."""
        notice = Notice(code=code, ja=text.ja, en=text.en)
        if notice not in self.notices:
            self.notices.append(notice)


def judge(check: CheckSpec, target: RuleInput, *, force_strategy: str | None = None) -> Judgement:
    """Decide one check item with its rules.

    A crashed or unknown rule makes the check an error; a check whose rules had nothing to judge, or that has no rules,
    is skipped. Neither is ever a pass.
    """
    strategy, reason = choose_strategy(check, force_strategy=force_strategy)
    tally = _Tally()
    entries = rules_of(check.criteria)
    for entry in entries:
        _apply_rule(entry, target, tally)
    if not entries:
        tally.notices.append(NEEDS_LLM)
    return Judgement(
        verdict=_verdict(tally),
        strategy=strategy,
        strategy_reason=reason,
        findings=tuple(sorted(tally.findings, key=_document_order)),
        notices=tuple(tally.notices),
        examined=tally.examined,
    )


NEEDS_LLM = Notice(
    code="needs_llm",
    ja="この項目の判定には言語モデルが必要です。モデルが設定されていないため判定していません。",
    en="This item needs a language model to decide. None is configured, so it was not judged.",
)


def choose_strategy(check: CheckSpec, *, force_strategy: str | None) -> tuple[str, Text]:
    """The strategy for a check and the reason for it: forced by the caller, the item's own, or by its type."""
    if force_strategy:
        return force_strategy, Text(ja="呼び出し側が方式を指定した。", en="The caller forced this strategy.")
    by_type = STRATEGY_BY_TYPE.get(check.check_type, "hybrid")
    if check.strategy and check.strategy != by_type:
        return check.strategy, Text(ja="チェック項目に方式が指定されている。", en="The check item names this strategy.")
    return by_type, Text(
        ja=f"チェック種別「{check.check_type}」の既定の方式。", en=f"The default for checks of type {check.check_type}."
    )


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
        tally.remark("rule_skipped", outcome.skip_reason)
        return
    tally.decided += 1
    tally.examined += outcome.examined
    tally.findings.extend(outcome.findings)


def _verdict(tally: _Tally) -> Verdict:
    if tally.crashed:
        return Verdict.ERROR
    if not tally.decided:
        return Verdict.SKIPPED
    return verdict_of(finding.severity for finding in tally.findings)


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

    Nothing decided is an error.
    """
    found = set(verdicts) - {Verdict.SKIPPED}
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARNING, Verdict.PASS):
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
