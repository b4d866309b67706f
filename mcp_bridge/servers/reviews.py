"""Behind the review tools: starting reviews, and their shape."""

from __future__ import annotations

from hub.access.principals import Principal, Scope
from mcp_bridge import uris
from mcp_bridge.bus import have_queue
from mcp_bridge.servers.schemas import ReviewMetadata, ReviewOptionsIn, ReviewResult
from review.models import Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, cancel_review, get_review, show_review, start_review


def start(
    principal: Principal,
    document_id: str,
    check_items: list[str],
    checklist: str,
    options: ReviewOptionsIn,
    *,
    for_caller: bool = False,
) -> Review:
    """Queue a review; ``for_caller`` keeps it from workers until its caller's model was asked.

    Raises what ``services.start_review`` does.
    """
    have_queue()
    return start_review(
        waits_for_caller=for_caller,
        principal=principal,
        document_id=document_id,
        checklist=checklist,
        options=ReviewOptions(
            check_items=tuple(check_items),
            related_documents=tuple(options.related_documents),
            include_evidence=options.include_evidence,
            max_findings=options.max_findings,
            suggestion_level=options.suggestion_level,
            judge=options.judge,
            force_strategy=options.force_strategy,
            parallel=options.parallel,
        ),
    )


def progress(review: Review) -> tuple[int, str]:
    """Percent and state of a review."""
    return Review.objects.values_list("progress", "status").get(pk=review.pk)


def progress_of(review: Review) -> tuple[float, float, str]:
    """What a progress report says of a review."""
    percent, status = progress(review)
    return float(percent), 100.0, f"{status} ({percent} %)"


def finish_without_caller(review: Review) -> None:
    """End a review whose caller's model did not answer: what it was to judge is skipped, with the reason."""
    execution.execute(review.pk)


def show(principal: Principal, review_id: str, scope: Scope) -> ReviewResult:
    """Read a review that the caller may see with ``scope``. Raises NotFound."""
    return result_of(get_review(principal, review_id, scope=scope))


def cancel(principal: Principal, review_id: str) -> ReviewResult:
    """Stop a review; a finished one is left as it is. Raises NotFound."""
    return result_of(cancel_review(principal=principal, review_id=review_id))


def result_of(review: Review) -> ReviewResult:
    """The shape that callers get. Expects what ``services.get_review`` selects."""
    facts = show_review(review)
    return ReviewResult(
        **dict(facts),
        execution_time_ms=facts.summary.execution_time_ms,
        metadata=ReviewMetadata(
            checks_executed=facts.summary.total_checks,
            document_chunks_processed=review.version.chunks_count if review.version else None,
        ),
        resource_uri=uris.RESULTS + review.public_id,
    )
