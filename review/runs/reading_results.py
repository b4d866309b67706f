"""What the reading of a whole document is held against, and where what it finds is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import Max

from hub.core.texts import Text
from review.judging.engine import fingerprint, verdict_of
from review.judging.model_session import ModelSession
from review.judging.steps import StepName
from review.judging.strategies import MODEL
from review.judging.sweep.asking import Sweep
from review.judging.sweep.check_list import Point
from review.judging.sweep.merging import Kept
from review.judging.sweep.reading import CATEGORIES
from review.models import CheckItemVersion, CheckResult, Finding, FindingState, Review
from review.runs.reading_item import reading_item
from review.runs.work import finding_row
from review.types import JUDGED_BY_MODEL, READING_CODE, Consulted, FindingDraft, Severity, Verdict

READING_REASON = Text(
    ja="言語モデルが文書全体を通して読んだ。",
    en="A language model read the whole document.",
)
# What stands for a verdict of rules that come with no finding.
SAID: dict[str, str] = {
    Verdict.PASS: "passed",
    Verdict.SKIPPED: "nothing to judge",
    Verdict.ERROR: "failed to run",
}


def point_of(item: CheckItemVersion, verdict: str, messages: Iterable[str]) -> Point:
    """A check item as a document is read against it, with what rules said of it."""
    question = str(item.criteria.get("prompt") or "")
    text = " — ".join(part for part in (item.name_ja, item.description_ja, question) if part)
    said = tuple(messages) or ((SAID[verdict],) if verdict in SAID else ())
    return Point(code=item.item.code, text=" ".join(text.split()), said=said)


def points_of(review: Review) -> list[Point]:
    """The check list of a review, all of whose checks are judged, with what rules said of it. Two queries.

    What a second opinion took back or narrowed is among it with its first message, so that the reading can be asked at
    the same time. What rests on related documents is left out: what the model makes of it would not say so.
    """
    messages: dict[int, list[str]] = defaultdict(list)
    found = Finding.objects.filter(result__review=review, rests_on=[]).exclude(rule_id=JUDGED_BY_MODEL)
    for result_id, message, opinion in found.order_by("ordinal").values_list(
        "result_id", "message_ja", "second_opinion"
    ):
        messages[result_id].append(opinion.get("narrowed_from", message))
    results = review.results.select_related("item_version__item").order_by("position")
    return [
        point_of(one.item_version, one.verdict if StepName.RULES in one.steps else "", messages[one.pk])
        for one in results
    ]


def store_reading(session: ModelSession, sweep: Sweep) -> None:
    """Write what the reading found under the check items that it named, and the rest under the item that is for it.

    A check that rules passed fails by what was found under it. Every check has been through the step once the whole
    document was read for everything. To be called in a transaction that holds the lease.
    """
    sweep.confirm()
    kept: dict[str, list[Kept]] = defaultdict(list)
    for one in sweep.merged.kept:
        kept[one.item].append(one)
    results = list(session.review.results.select_related("item_version__item").order_by("position"))
    is_read = sweep.is_complete and len(sweep.categories) == len(CATEGORIES)
    for result in results:
        own = kept.pop(result.item_version.item.code, [])
        if own:
            _file(result, own, session, sweep)
        if own or is_read:
            result.steps = [*result.steps, StepName.SWEEP.value]
    CheckResult.objects.bulk_update(results, ["steps", "verdict", "method", "consulted", "judgement"])
    _store_others(session, sweep, [one for rest in kept.values() for one in rest])


def _file(result: CheckResult, kept: Sequence[Kept], session: ModelSession, sweep: Sweep) -> None:
    """Add findings to a check that is judged; its verdict, which is not saved, gets no better by them."""
    last = result.findings.aggregate(last=Max("ordinal"))["last"]
    _store_findings(result, kept, session, sweep, first=0 if last is None else last + 1)
    verdict = verdict_of(map(Severity, result.findings.counted().values_list("severity", flat=True)))
    is_worse = verdict is Verdict.FAIL or result.verdict in (Verdict.PASS, Verdict.SKIPPED)
    if any(one.counts for one in kept) and is_worse and result.verdict not in (verdict, Verdict.ERROR):
        result.verdict, result.method = verdict, "llm"
        result.consulted = list(dict.fromkeys([*result.consulted, Consulted.MODEL.value]))
        result.judgement = result.judgement or _judgement(sweep)


def _store_others(session: ModelSession, sweep: Sweep, kept: Sequence[Kept]) -> None:
    """Write what belongs to no check item; nothing where the reading has nothing to say."""
    verdict = verdict_of(one.draft.severity for one in kept if one.counts)
    has_planted = bool(session.planted_spans())
    if not kept and (has_planted or not sweep.is_complete):
        return
    if verdict is Verdict.PASS and (has_planted or not (sweep.is_complete and sweep.is_tested)):
        verdict = Verdict.SKIPPED
    review = session.review
    result = CheckResult.objects.create(
        review=review,
        item_version=reading_item(),
        position=(review.results.aggregate(last=Max("position"))["last"] or 0) + 1,
        verdict=verdict,
        method="llm",
        strategy_used=MODEL,
        consulted=[Consulted.MODEL.value],
        judgement=_judgement(sweep),
        steps=[StepName.SWEEP.value],
        notices=[notice.as_dict() for notice in sweep.said],
        **READING_REASON.columns("strategy_reason"),
    )
    _store_findings(result, kept, session, sweep)


def _judgement(sweep: Sweep) -> dict[str, object]:
    record = sweep.reader.record()
    who = {name: record[name] for name in ("provider", "model", "is_private", "prompts")}
    return {**who, "step": StepName.SWEEP.value, "reason": "", "grounds": []}


def _store_findings(
    result: CheckResult, kept: Sequence[Kept], session: ModelSession, sweep: Sweep, *, first: int = 0
) -> None:
    """Write findings by their places. Their fingerprints are the same under whatever item a model puts them."""
    record = sweep.reader.record()
    named = {fingerprint(READING_CODE, one.draft): one for one in reversed(kept)}
    ordered = sorted(named.items(), key=lambda pair: _place_of(pair[1].draft))
    rows: list[Finding] = []
    for at, (name, one) in enumerate(ordered, start=first):
        row = finding_row(result, at, name, one.draft, session.target)
        row.state = FindingState.FOUND if one.counts else FindingState.CANDIDATE
        row.second_opinion = sweep.opinion(one.decision, one.reason, record)
        rows.append(row)
    Finding.objects.bulk_create(rows)


def _place_of(draft: FindingDraft) -> tuple[bool, int, str]:
    return (draft.location is None, draft.location.start if draft.location else 0, draft.key)
