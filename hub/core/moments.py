"""Times that callers give."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Annotated

from django.utils import timezone
from pydantic import AfterValidator


def in_utc(moment: datetime) -> datetime:
    """Give the moment in UTC; one without a zone is meant in the hub's.

    :raises ValueError: no table can keep it, or it can't be shown in the hub's zone.
    """
    try:
        found = (moment if moment.tzinfo else timezone.make_aware(moment)).astimezone(UTC)
        timezone.localtime(found)
        return found
    except OverflowError as error:
        raise ValueError("the time is outside of the years 1 to 9999") from error


def end_of_day(day: date) -> datetime:
    """Give the last second of a day in the hub's zone: what is said to hold until a day holds on it, too."""
    return timezone.make_aware(datetime.combine(day, time(23, 59, 59)))


Moment = Annotated[datetime, AfterValidator(in_utc)]
