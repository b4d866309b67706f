"""Shapes of reviews and their results in answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language
from hub.core.shapes import TextOrNone, filled
from knowledge.types.notices import Notice
from review.judging.steps import StepName, StepState
from review.models import UNFINISHED, CheckResult, Finding, FindingState, Review, Signature
from review.rules.certainty import sureness
from review.runs.finding_schemas import FindingOut, SuggestionOut, finding_out, suggestions_out
from review.types import JudgedBy, Verdict

BY_CALLERS_MODEL = Notice(
    code="judged_by_callers_model",
    ja="この判定は、レビューを依頼した人自身の言語モデルの答えによるものです。ハブのモデルの答えではなく、他の人が"
    "確かめたものでもありません。人が判定するまで、承認の根拠にはなりません。",
    en="The own language model of who asked for the review judged this. The hub did not ask it, and nobody else has "
    "looked at it: it can't be signed off until a person has decided.",
)
SOME_BY_CALLERS_MODEL = Notice(
    code="judged_by_callers_model",
    ja="レビューを依頼した人自身の言語モデルが判定した項目があります。人が判定するまで、承認の根拠にはなりません。",
    en="The own language model of who asked for the review judged some of the items. They can't be signed off until a "
    "person has decided them.",
)


class ChecklistRef(BaseModel):
    code: str
    version: int


class PathEdgeOut(BaseModel):
    source: str
    target: str
    type: str


class ResultEvidenceOut(BaseModel):
    retrieved_chunks: list[str] = []
    graph_paths: list[list[str]] = []
    graph_edges: list[PathEdgeOut] = Field([], description="along graph_paths")
    ontology_refs: list[str] = []
    guideline_articles: list[str] = []


class DecisionOut(BaseModel):
    """A person's verdict on a check."""

    reason: str
    decided_by: str
    decided_at: datetime


class JudgementOut(BaseModel):
    """How a language model came to a verdict."""

    provider: str
    model: str
    prompt_version: int | None
    reason: str
    grounds: list[list[int]] = Field(description="[start, end) of each quote that the verdict stands on")
    votes: list[str] = Field([], description="what each answer came to, where several were asked for (LLM_VOTES)")


class ResultOut(BaseModel):
    check_item_id: str
    check_item_version: int
    name: str
    check_type: str
    category: str
    verdict: str
    score: float | None
    method: str
    judged_by: str = Field(
        description="rules, hub_model, callers_model (the own model of who asked for the review; a person has to "
        "decide before it can be signed off), or human"
    )
    strategy_used: str
    strategy_selection_reason: str
    consulted: list[str] = Field(description="of rules, vector, lexical, graph, ontology, model")
    evidence: ResultEvidenceOut
    notices: list[dict[str, Any]]
    execution_time_ms: int
    original_verdict: TextOrNone = Field(description="what the run said, when people changed the verdict")
    original_method: TextOrNone
    decision: DecisionOut | None
    revision: int
    judgement: JudgementOut | None = Field(None, description="of a language model; null where none judged")
    steps: list[str] = Field([], description="what it has been through: rules, judge, second_opinion, sweep")
    suspects: list[str] = Field(
        [], description="why the result is in doubt: an article that its check item rests on changed since"
    )


class SignatureOut(BaseModel):
    name: str
    comment: TextOrNone
    signed_at: datetime


class SummaryOut(BaseModel):
    total_checks: int
    passed: int
    failed: int
    warnings: int
    errors: int
    skipped: int
    not_applicable: int = Field(description="as people decided; they count neither as passed nor as undecided")
    critical_findings: int
    execution_time_ms: int | None
    complete: bool = Field(description="every check was decided: none skipped, none an error")


class UsageOut(BaseModel):
    """What language models took; ``cost`` is in US$, null when a model without a configured price answered."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0


class WaitingOut(BaseModel):
    """What a queued review waits for: its document, which is still being read."""

    document_id: str
    status: str = Field(description="the document's: stored, parsing, chunking or embedding")
    progress: int


class StepOut(BaseModel):
    """A step of a review: rules, judge, second_opinion or sweep."""

    step: str
    state: str = Field(description="done, partly, failed, off (not wanted) or no_model")
    counts: dict[str, int] = Field({}, description="requests, findings and what became of them")
    categories: list[str] = Field([], description="what the sweep read the document for")


class ReviewOut(BaseModel):
    review_id: str
    document_id: str
    version: int
    checklist: ChecklistRef
    status: str
    status_reason: TextOrNone
    waiting_for: WaitingOut | None = Field(description="the document, while it is still being read")
    verdict: TextOrNone
    progress: int
    results: list[ResultOut]
    findings: list[FindingOut]
    total_findings: int
    suggestions: list[SuggestionOut]
    overturned: list[FindingOut] = Field(
        [], description="findings of rules that a language model took back, with the quotes; they do not count"
    )
    candidates: list[FindingOut] = Field(
        [], description="what a language model proposed and what did not hold, or was too much; they do not count"
    )
    steps: list[StepOut] = Field([], description="what was looked at, and by whom; empty before the review finished")
    notices: list[dict[str, str]] = Field(description="of the review as a whole: {code, ja, en}")

    def suggestions_by_finding(self) -> dict[str, list[SuggestionOut]]:
        """What is suggested for each finding that has something: the rule's first."""
        by_finding: dict[str, list[SuggestionOut]] = {}
        for one in self.suggestions:
            by_finding.setdefault(one.finding_id, []).append(one)
        return by_finding

    summary: SummaryOut
    usage: UsageOut
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    signed_at: datetime | None
    signatures: list[SignatureOut]


class ReviewRowOut(BaseModel):
    """A review in a list."""

    review_id: str
    document_id: str
    title: str | None
    version: int
    checklist: ChecklistRef
    status: str
    verdict: TextOrNone
    progress: int
    created_at: datetime
    finished_at: datetime | None


def review_row_out(review: Review) -> ReviewRowOut:
    """``title`` is the document's, None when that was deleted.

    Expects checklist_version__checklist and version__document to be selected.
    """
    title = review.version.document.title if review.version else None
    return filled(ReviewRowOut, review, title=title, **_named(review))


def _named(review: Review) -> dict[str, object]:
    """What a review and its row in a list have in common, as far as the table has other names for it."""
    master = review.checklist_version
    return {
        "review_id": review.public_id,
        "document_id": review.document_id_text,
        "version": review.version_number,
        "checklist": {"code": master.checklist.code, "version": master.number},
    }


def review_out(
    review: Review,
    pairs: Sequence[tuple[CheckResult, Finding]],
    *,
    everything: bool = False,
    suspects: Mapping[int, Sequence[str]] | None = None,
) -> ReviewOut:
    """``pairs`` are all findings in the document's order; ``suspects`` tell why results are in doubt, by their keys.

    The review's options limit how many are shown, unless ``everything`` is wanted, as in reports; those that are less
    sure than its ``min_confidence`` are neither shown nor counted, and the verdicts stay.
    """
    results = list(review.results.all())
    options = review.options
    least = options.get("min_confidence", 0.0)
    wanted = [
        (number, pair) for number, pair in enumerate(pairs, 1) if sureness(pair[1].rule_id, pair[1].confidence) >= least
    ]
    left_out = len(pairs) - len(wanted)
    shown = wanted if everything else wanted[: options.get("max_findings", len(wanted))]
    aside = [(result, finding) for result in results for finding in result.set_aside]
    numbered = enumerate(aside, len(pairs) + 1)
    with_evidence = options.get("include_evidence", True)
    is_final = review.status not in UNFINISHED
    suggested = options.get("suggestion_level", "basic") != "none"
    is_callers = any(result.judged_by is JudgedBy.CALLERS_MODEL for result in results)
    suggestions = [
        one for _number, pair in shown if suggested for one in suggestions_out(*pair, with_evidence=with_evidence)
    ]
    awaited = review.awaited_version
    return filled(
        ReviewOut,
        review,
        **_named(review),
        status_reason=review.error,
        waiting_for=filled(WaitingOut, awaited, document_id=review.document_id_text) if awaited else None,
        results=[_result_out(result, (suspects or {}).get(result.pk, ())) for result in results],
        findings=[
            finding_out(number if is_final else None, result, finding, with_evidence=with_evidence)
            for number, (result, finding) in shown
        ],
        total_findings=len(wanted),
        **_set_aside(
            [finding_out(number if is_final else None, *pair, with_evidence=with_evidence) for number, pair in numbered]
        ),
        steps=_steps(review, results),
        suggestions=suggestions,
        notices=_with(
            review.notices,
            SOME_BY_CALLERS_MODEL if is_callers else None,
            _less_sure(left_out, least) if left_out else None,
        ),
        summary=_summary(review, results, [pair for _number, pair in wanted]),
        usage=filled(UsageOut, review),
        signatures=list(map(signature_out, review.signatures.all())),
    )


def _with(stored: Sequence[dict[str, str]], *more: Notice | None) -> list[dict[str, str]]:
    return [*stored, *(notice.as_dict() for notice in more if notice)]


def _less_sure(count: int, least: float) -> Notice:
    """Verdicts rest on all findings, also on those that are not shown."""
    return Notice(
        code="below_min_confidence",
        ja=f"確からしさが {least:g} に満たない指摘 {count} 件は表示していません。判定には含まれます。",
        en=f"{count} findings of a confidence below {least:g} are not shown. The verdicts rest on them too.",
    )


def _set_aside(shown: Sequence[FindingOut]) -> dict[str, list[FindingOut]]:
    by_state = {"overturned": FindingState.OVERTURNED, "candidates": FindingState.CANDIDATE}
    return {name: [one for one in shown if one.state == state] for name, state in by_state.items()}


def _steps(review: Review, results: Sequence[CheckResult]) -> list[StepOut]:
    """What was looked at: rules and judge as the results tell, the other steps as the run noted them."""
    if review.status in UNFINISHED or not any(result.steps for result in results):
        return []  # also what was reviewed before steps were noted
    has_rules = any(StepName.RULES in result.steps for result in results)
    is_judged = any(StepName.JUDGE in result.steps for result in results)
    found = [
        StepOut(step=StepName.RULES, state=StepState.DONE if has_rules else StepState.OFF),
        StepOut(step=StepName.JUDGE, state=StepState.DONE if is_judged else _why_not_judged(review, results)),
    ]
    known = [(name, review.steps[name]) for name in (StepName.SECOND_OPINION, StepName.SWEEP) if name in review.steps]
    asked = (
        StepOut(step=name, state=row["state"], counts=row["counts"], categories=row.get("categories", []))
        for name, row in known
    )
    return [*found, *asked]


def _why_not_judged(review: Review, results: Sequence[CheckResult]) -> StepState:
    codes = {notice["code"] for result in results for notice in result.notices}
    if "needs_llm" in codes:
        return StepState.NO_MODEL
    left = any(result.verdict in (Verdict.SKIPPED, Verdict.ERROR) and not result.steps for result in results)
    is_off = not left or review.options.get("judge") == "rules"
    return StepState.OFF if is_off else StepState.FAILED


def signature_out(signature: Signature) -> SignatureOut:
    """A person's signature under a review."""
    return filled(SignatureOut, signature, name=signature.signer_name, signed_at=signature.at)


def _result_out(result: CheckResult, suspects: Sequence[str]) -> ResultOut:
    item = result.item_version
    # the topic of an empty section may be unknown: None
    every = [finding.data for finding in result.findings.all()]
    topics = sorted({code for data in every for code in (data.get("topic"), *data.get("topics", ())) if code})
    decisions = [
        DecisionOut(reason=one.reason, decided_by=one.actor_name, decided_at=one.at)
        for one in result.decisions.all()
        if one.taken_back_at is None
    ]
    return filled(
        ResultOut,
        result,
        check_item_id=item.item.code,
        check_item_version=item.number,
        name=in_language(item.name_ja, item.name_en),
        check_type=item.check_type,
        category=item.item.category,
        judged_by=result.judged_by.value,
        strategy_selection_reason=in_language(result.strategy_reason_ja, result.strategy_reason_en),
        evidence=_evidence_out(result, topics),
        notices=_with(result.notices, BY_CALLERS_MODEL if result.judged_by is JudgedBy.CALLERS_MODEL else None),
        decision=decisions[-1] if decisions else None,
        judgement=_judgement_out(result.judgement) if result.judgement else None,
        suspects=suspects,
    )


def _evidence_out(result: CheckResult, topics: Sequence[str]) -> ResultEvidenceOut:
    stored = result.evidence
    # results of before evidence was stored have the judge's passages alone
    chunks = [chunk for chunk, _document in stored.get("chunks", ())] or [
        passage[0] for passage in result.judgement.get("passages", ()) if passage[0]
    ]
    edges = dict.fromkeys(edge for path in result.shown_paths for edge in path.edges)
    return ResultEvidenceOut(
        retrieved_chunks=chunks,
        graph_paths=[list(path.nodes) for path in result.shown_paths],
        graph_edges=[PathEdgeOut(source=source, type=kind, target=target) for source, kind, target in edges],
        ontology_refs=list(dict.fromkeys((*topics, *stored.get("concepts", ())))),
        guideline_articles=stored.get("articles", []),
    )


def _judgement_out(record: dict[str, Any]) -> JudgementOut:
    votes = [vote["verdict"] for vote in record.get("votes", ())]
    return JudgementOut.model_validate({**record, "prompt_version": record["prompts"].get("judge"), "votes": votes})


def _summary(
    review: Review, results: Sequence[CheckResult], pairs: Sequence[tuple[CheckResult, Finding]]
) -> SummaryOut:
    verdicts = [result.verdict for result in results]
    elapsed = review.finished_at - review.started_at if review.finished_at and review.started_at else None
    return SummaryOut(
        total_checks=len(results),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        warnings=verdicts.count(Verdict.WARNING),
        errors=verdicts.count(Verdict.ERROR),
        skipped=verdicts.count(Verdict.SKIPPED),
        not_applicable=verdicts.count(Verdict.NOT_APPLICABLE),
        critical_findings=sum(finding.severity == "critical" for _result, finding in pairs),
        execution_time_ms=int(elapsed.total_seconds() * 1000) if elapsed else None,
        complete=bool(verdicts) and not {Verdict.SKIPPED, Verdict.ERROR} & set(verdicts),
    )
