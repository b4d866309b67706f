"""What a note in a file is known again by: a line with the finding's id and the hub's sign, and its moment."""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime

from django.conf import settings
from django.utils.crypto import salted_hmac

_SALT = "review.report.annotated"
_LENGTH = 16
_EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)
REFERENCE = re.compile(r"hub:(?P<finding>[a-z]+_[0-9a-z]{8,40}):(?P<revision>\d{1,9}):(?P<sign>[0-9a-f]{16})")


def reference_line(review_id: str, finding_id: str, revision: int) -> str:
    """Return the line for a finding of a review, in the revision that the note tells of."""
    return f"hub:{finding_id}:{revision}:{_sign(review_id, finding_id, revision, settings.SECRET_KEY)}"


def is_written_here(review_id: str, finding_id: str, revision: int, sign: str) -> bool:
    """Whether the hub has written the line, with its key or one that it had before."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return any(hmac.compare_digest(_sign(review_id, finding_id, revision, key), sign) for key in keys)


def _sign(review_id: str, finding_id: str, revision: int, key: str | bytes) -> str:
    return salted_hmac(_SALT, f"{review_id}:{finding_id}:{revision}", secret=key, algorithm="sha256").hexdigest()[
        :_LENGTH
    ]


def written_at(finished_at: datetime | None) -> datetime:
    """Give the moment that notes and proposals of a review carry, by when it was finished."""
    return finished_at or _EARLIEST
