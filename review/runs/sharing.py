"""Several workers at one review: who judges which check, and how a helper may write.

A claim saves work and nothing else. It is PostgreSQL's own lock, gone with the worker that held it, and what is stored
is decided by a look under the review's lock: each check has one result, whoever comes first.
"""

from __future__ import annotations

from hub.core.lease import LeaseLost
from hub.core.locks import try_lock
from review.models import Review, ReviewStatus


def claim_check(review_id: int, item_version_id: int) -> bool:
    """Take a check for this transaction, without waiting; False while another worker is at it."""
    return try_lock(f"review:{review_id}:{item_version_id}")


def lock_running(review_id: int) -> None:
    """Lock a review that is still being worked on until the transaction ends. Raises LeaseLost for any other."""
    running = Review.objects.filter(pk=review_id, status=ReviewStatus.RUNNING, version__isnull=False)
    if not running.select_for_update().exists():
        raise LeaseLost
