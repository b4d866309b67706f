"""REST calls about reviews."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from asgiref.sync import sync_to_async
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Field, Query, Router, Schema

from hub.core import bus
from hub.rest.auth import HubRequest, may_still_have
from hub.rest.idempotency import reads
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import accepted, attachment
from hub.rest.schemas import Page, PageQuery, ShortText, ShortTexts
from review.judging.sweep.reading import CATEGORIES as SWEEP_CATEGORIES
from review.masters.table import MAX_ROWS as MOST_ITEMS
from review.models import UNFINISHED, Review
from review.report import ReportOptions, build_report
from review.runs import estimates, reviews
from review.runs.estimates import EstimateOut
from review.runs.reviews import SWEEP_LIMIT, ReviewOptions, show_review, wait_for_review
from review.runs.schemas import ReviewOut, ReviewRowOut, review_row_out

router = Router()


class ReviewOptionsIn(Schema):
    """Options of a review. `max_findings` and `min_confidence` limit answers, never what is stored."""

    related_documents: ShortTexts = []
    parallel: bool = Field(default=True, description="other workers may judge checks of it too; same result")
    include_evidence: bool = True
    max_findings: int = Field(default=100, ge=1, le=10_000)
    min_confidence: float = Field(
        default=0, ge=0, le=1, description="findings that are less sure are neither shown nor counted; verdicts stay"
    )
    suggestion_level: ShortText = Field(default="basic", description="none, basic or detailed")
    judge: ShortText = Field(default="auto", description="auto, server, sampling or rules")
    wait_seconds: float = Field(default=0, ge=0, le=50, description="wait this long for the result before answering")
    second_opinion: ShortText = Field(
        default="auto", description="auto (as the hub is configured), on or off: a model looks again at judgements"
    )
    sweep: ShortText = Field(
        default="auto", description="auto (as the hub is configured), on or off: a model reads the whole document"
    )
    sweep_limit: int = Field(
        default=SWEEP_LIMIT, ge=0, le=100, description="most findings of the sweep in each category"
    )
    sweep_severity: ShortText = Field(default="minor", description="least severity of them: critical, major or minor")
    sweep_categories: Annotated[list[ShortText], Field(max_length=len(SWEEP_CATEGORIES))] = Field(
        default=[], description=f"what the sweep reads for, of {', '.join(SWEEP_CATEGORIES)}; default: all"
    )
    force_strategy: ShortText | None = Field(default=None, description="vector_rag, graph_rag, ontology or hybrid")


class ReviewIn(Schema):
    document_id: ShortText
    checklist: ShortText = Field("", description="code of the check list; default: the one for the document's type")
    check_items: Annotated[list[ShortText], Field(max_length=MOST_ITEMS)] = Field(
        [], description="codes; default: all of the check list"
    )
    options: ReviewOptionsIn = ReviewOptionsIn()


class ReviewQuery(Schema):
    document_id: ShortText = ""
    status: ShortText = ""


@router.post("/reviews", response={202: ReviewOut})
def start_review(request: HubRequest, asked: ReviewIn) -> HttpResponse:
    """Start a review; poll Location, or follow /reviews/{id}/events."""
    options = asked.options.model_dump(exclude={"wait_seconds"})
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in options.items()
    }
    review = reviews.start_review(
        principal=request.principal,
        document_id=asked.document_id,
        checklist=asked.checklist,
        options=ReviewOptions(**given, check_items=tuple(asked.check_items)),
    )
    if asked.options.wait_seconds:
        wait_for_review(review, timeout_s=asked.options.wait_seconds)
    body = show_review(request.principal, reviews.get_review(request.principal, review.public_id))
    return accepted(request, location=f"/api/v1/reviews/{review.public_id}", body=body)


@router.post("/reviews/estimate", response=EstimateOut)
@reads
def estimate_review(request: HubRequest, asked: ReviewIn) -> EstimateOut:
    """What a review would take of the language model; nothing is started."""
    return estimates.estimate_review(
        principal=request.principal,
        document_id=asked.document_id,
        checklist=asked.checklist,
        options=ReviewOptions(
            judge=asked.options.judge,
            suggestion_level=asked.options.suggestion_level,
            related_documents=tuple(asked.options.related_documents),
            second_opinion=asked.options.second_opinion,
            sweep=asked.options.sweep,
            sweep_categories=tuple(asked.options.sweep_categories),
            check_items=tuple(asked.check_items),
        ),
    )


@router.post("/reviews/{review_id}/replay", response={202: ReviewOut})
def replay_review(request: HubRequest, review_id: str) -> HttpResponse:
    """Do a review again as a new one, the language model's part from the recorded answers: no model is asked."""
    review = reviews.replay_review(principal=request.principal, review_id=review_id)
    body = show_review(request.principal, reviews.get_review(request.principal, review.public_id))
    return accepted(request, location=f"/api/v1/reviews/{review.public_id}", body=body)


@router.get("/reviews", response=Page[ReviewRowOut])
def list_reviews(
    request: HubRequest, filters: Annotated[ReviewQuery, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[ReviewRowOut]:
    """List reviews, newest first."""
    found = reviews.list_reviews(request.principal, document_id=filters.document_id, status=filters.status)
    found = found.select_related("version__document")
    scope = cursor_scope("reviews", filters)
    return paginate_keyset(found, limit=page.limit, cursor=page.cursor, scope=scope).map(review_row_out)


@router.get("/reviews/{review_id}", response=ReviewOut)
def get_review(request: HubRequest, review_id: str) -> ReviewOut:
    """A review with its results, findings and suggestions so far."""
    return show_review(request.principal, reviews.get_review(request.principal, review_id))


@router.post("/reviews/{review_id}/cancel", response=ReviewOut)
def cancel_review(request: HubRequest, review_id: str) -> ReviewOut:
    """Stop a review; what it has found so far stays."""
    return show_review(request.principal, reviews.cancel_review(principal=request.principal, review_id=review_id))


class ReportQuery(Schema):
    format: ShortText = Field("json", description="json, markdown, html, xlsx, docx or annotated")
    language: ShortText = Field("", description="ja or en; default: the caller's")
    baseline: ShortText = Field("", description="an earlier review of the document: the report tells what changed")
    summary: bool = True
    details: bool = True
    evidence: bool = True
    tracked_changes: bool = Field(
        False,
        description="annotated: what a rule can correct is corrected, in Word as tracked changes, in text as a diff",
    )


@router.get("/reviews/{review_id}/report")
def get_review_report(request: HubRequest, review_id: str, asked: Annotated[ReportQuery, Query()]) -> HttpResponseBase:
    """The report as a file, with all findings; parts can be left out.

    `annotated` is the reviewed document itself with each finding as a comment on its words, and has all parts.
    """
    report = build_report(
        principal=request.principal,
        review_id=review_id,
        report_format=asked.format,
        language=asked.language,
        baseline=asked.baseline,
        options=ReportOptions(
            summary=asked.summary,
            details=asked.details,
            evidence=asked.evidence,
            tracked_changes=asked.tracked_changes,
        ),
    )
    response = attachment(request, report.content, filename=report.filename, content_type=report.content_type)
    # the hub's own page, without scripts: it may say what it is, and is still a download in a sandbox
    response["Content-Type"] = report.content_type
    return response


@router.get("/reviews/{review_id}/events")
def follow_review(request: HubRequest, review_id: str) -> StreamingHttpResponse:
    """Server-sent events: `progress` with {review_id, status, progress, …} until the review is finished.

    The stream ends, too, when the caller's token does, or when they may not see the review any more.
    """
    reviews.get_review(request.principal, review_id)
    response = StreamingHttpResponse(_events(request, review_id), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


async def _events(request: HubRequest, review_id: str) -> AsyncGenerator[str, None]:
    """The state now, then every change, as long as the caller may have it: asked again at each event and silence.

    After each silence the state is read again, so a lost event costs seconds.
    """
    async with aclosing(bus.subscribe(f"review:{review_id}", keep_alive_s=5)) as events:
        state: dict[str, Any] = {}
        message: tuple[str, dict[str, Any]] | None = None
        while not state or state["status"] in UNFINISHED:
            if state:
                message = await anext(events)
            if not await sync_to_async(may_still_have)(request, review_id.encode()):
                return
            before, state = state, message[1] if message else await sync_to_async(_state)(review_id)
            event = f"event: progress\ndata: {json.dumps(state, ensure_ascii=False)}\n\n"
            yield event if state != before else ": keep-alive\n\n"


def _state(review_id: str) -> dict[str, str | int | None]:
    row = Review.objects.only("status", "progress", "verdict").get(public_id=review_id)
    return {"review_id": review_id, "status": row.status, "progress": row.progress, "verdict": row.verdict or None}
