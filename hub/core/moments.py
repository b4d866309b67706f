"""Times that callers give."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from django.utils import timezone
from pydantic import AfterValidator


def in_utc(moment: datetime) -> datetime:
    """Give the moment in UTC; one without a zone is meant in the hub's.

    :raises ValueError: no table can keep it.
    """
    try:
        return (moment if moment.tzinfo else timezone.make_aware(moment)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time is outside of the years 1 to 9999") from error


Moment = Annotated[datetime, AfterValidator(in_utc)]
