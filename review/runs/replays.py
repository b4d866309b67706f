"""Doing a review again from what was recorded, without any model."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict
from hub.core.queue import enqueue_on_commit
from review.models import UNFINISHED, RelatedVersion, Review
from review.runs.reviews import get_review


def replay_review(*, principal: Principal, review_id: str) -> Review:
    """Queue a new review of the same versions whose language model's verdicts come from the recorded answers.

    Its rules run again. Verdicts are the same byte for byte as long as document, check items and prompts are; a check
    whose answer is not recorded any more becomes an error that says so. Raises NotFound, Conflict.
    """
    original = get_review(principal, review_id, scope=Scope.REVIEW)
    if original.status in UNFINISHED or original.version_id is None:
        raise Conflict(
            _("Review {review_id} can't be replayed: it still runs, or its document is gone."), review_id=review_id
        )
    with transaction.atomic():
        review = Review.objects.create(
            version_id=original.version_id,
            document_id_text=original.document_id_text,
            version_number=original.version_number,
            checklist_version_id=original.checklist_version_id,
            options={**original.options, "replay_of": original.public_id},
            requested_by_id=principal.user_id,
        )
        RelatedVersion.objects.bulk_create(
            RelatedVersion(
                review=review,
                position=row.position,
                version_id=row.version_id,
                document_id_text=row.document_id_text,
                version_number=row.version_number,
            )
            for row in RelatedVersion.objects.filter(review=original)
        )
        record_event(
            principal=principal,
            action="REVIEW_START",
            resource=f"review:{review.public_id}",
            document_id=original.document_id_text,
            replay_of=original.public_id,
        )
        enqueue_on_commit("review.execute", review_id=review.pk)
    return review
