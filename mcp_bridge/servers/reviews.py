"""Behind the review tools: starting reviews, and their shape."""

from __future__ import annotations

from hub.access.principals import Principal, Scope
from mcp_bridge import uris
from mcp_bridge.events import have_queue
from mcp_bridge.servers.schemas import ReviewMetadata, ReviewOptionsIn, ReviewResult
from review.models import Review
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
            sweep_categories=tuple(options.sweep_categories),
            **options.model_dump(exclude={"related_documents", "sweep_categories", "wait_seconds"}),
        ),
    )


def progress(review: Review) -> tuple[int, str]:
    """Percent and state of a review."""
    return Review.objects.values_list("progress", "status").get(pk=review.pk)


def show(principal: Principal, review_id: str, scope: Scope) -> ReviewResult:
    """Read a review that the caller may see with ``scope``. Raises NotFound."""
    return result_of(principal, get_review(principal, review_id, scope=scope))


def cancel(principal: Principal, review_id: str) -> ReviewResult:
    """Stop a review; a finished one is left as it is. Raises NotFound."""
    return result_of(principal, cancel_review(principal=principal, review_id=review_id))


def result_of(principal: Principal, review: Review) -> ReviewResult:
    """The shape that callers get. Expects what ``services.get_review`` selects."""
    facts = show_review(principal, review)
    return ReviewResult(
        **dict(facts),
        execution_time_ms=facts.summary.execution_time_ms,
        metadata=ReviewMetadata(
            checks_executed=facts.summary.total_checks,
            document_chunks_processed=review.version.chunks_count if review.version else None,
        ),
        resource_uri=uris.RESULTS + review.public_id,
    )
