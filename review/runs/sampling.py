"""A review that its caller's own model judges: the part between the protocol and the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import NotFound
from hub.llm.recordings import CallRecordings
from hub.llm.types import Completion, LlmRequest
from review.judging.sampling import SamplingProvider
from review.models import UNFINISHED, Review
from review.runs import execution
from review.runs.reviews import CALLER_PATIENCE, get_review


def wait_for_caller(review: Review) -> None:
    """Keep workers away from a review while its caller is asked."""
    Review.objects.filter(pk=review.pk, status__in=UNFINISHED).update(sampling_until=Now() + CALLER_PATIENCE)


def give_up_waiting(review: Review) -> None:
    """Let workers have the review; what the caller's model was to judge comes back skipped."""
    Review.objects.filter(pk=review.pk).update(sampling_until=None)


def run_with_answers(
    review: Review,
    answers: Mapping[str, Completion],
    recordings: CallRecordings,
    timed_out: Collection[str] = (),
) -> dict[str, LlmRequest]:
    """Judge what can be judged with the caller's answers so far, and give what to ask next, by key.

    ``recordings`` are those of this call; what is taken of the answers is put there. In place of the requests that
    ``timed_out``, by key, the caller is asked about half as much. Nothing to ask: the review is
    finished, or somebody else works on it.
    """
    recordings.used.clear()
    provider = SamplingProvider(answers=answers, recordings=recordings, timed_out=timed_out)
    execution.execute(review.pk, sampling=provider)
    return provider.wanted


def take_up(principal: Principal, review_id: str) -> Review:
    """Find a review that the caller began with their own model as its judge, to go on with it. Raises NotFound."""
    review = get_review(principal, review_id, scope=Scope.REVIEW)
    if review.requested_by_id != principal.user_id or review.options.get("judge") != "sampling":
        raise NotFound(_('There is no review "{review_id}".'), code="review_not_found", review_id=review_id)
    return review
