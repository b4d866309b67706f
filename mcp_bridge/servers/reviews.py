"""Behind the review tools: starting reviews, and their shape."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput
from mcp_bridge import uris
from mcp_bridge.events import have_queue
from mcp_bridge.servers.schemas import ReviewChange, ReviewMetadata, ReviewOptionsIn, ReviewResult
from review.judging.retrieval import STRATEGY_OF
from review.models import Review, ReviewStatus
from review.runs.reviews import (
    ReviewOptions,
    cancel_review,
    get_review,
    join_or_start_review,
    list_reviews,
    show_review,
    start_review,
)
from review.triage.comparing import compare_reviews


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
        options=_options(check_items, options),
    )


def start_or_join(
    principal: Principal, document_id: str, check_items: list[str], checklist: str, options: ReviewOptionsIn
) -> Review:
    """Start a review, or find the equal one of the caller that has not finished. Raises what ``start`` does."""
    have_queue()
    return join_or_start_review(
        principal=principal, document_id=document_id, checklist=checklist, options=_options(check_items, options)
    )


def find(principal: Principal, review_id: str, document_id: str) -> Review:
    """Find a review of a document that the caller may review. Raises NotFound; InvalidInput for another document's."""
    review = get_review(principal, review_id, scope=Scope.REVIEW)
    if review.document_id_text != document_id:
        raise InvalidInput(
            _("review_id: {review_id} is a review of the document {document_id}."),
            code="review_of_another_document",
            review_id=review_id,
            document_id=review.document_id_text,
        )
    return review


def _options(check_items: list[str], options: ReviewOptionsIn) -> ReviewOptions:
    return ReviewOptions(
        check_items=tuple(check_items),
        related_documents=tuple(options.related_documents),
        sweep_categories=tuple(options.sweep_categories),
        force_strategy=next((own for own, name in STRATEGY_OF.items() if name == options.strategy), None),
        **options.model_dump(exclude={"related_documents", "sweep_categories", "strategy", "wait_seconds"}),
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
        since=_since(principal, review),
    )


def _since(principal: Principal, review: Review) -> ReviewChange | None:
    """What changed since the review before of the same document by the same check list that the caller may read."""
    if review.status != ReviewStatus.COMPLETED or not principal.allows(Scope.READ):
        return None
    earlier = list_reviews(principal, document_id=review.document_id_text, status=ReviewStatus.COMPLETED).filter(
        pk__lt=review.pk, checklist_version__checklist=review.checklist_version.checklist_id
    )
    base = earlier.first()
    if base is None:
        return None
    matching = compare_reviews(principal, review.public_id, base_id=base.public_id).matching
    return ReviewChange(
        review_id=base.public_id,
        version=base.version_number,
        fixed=len(matching.fixed),
        new=len(matching.new),
        open=len(matching.open) + len(matching.moved),
        undecided=len(matching.undecided),
    )
