"""Try again what may pass by itself: 429, 5xx, refused connections."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")

ATTEMPTS = 4
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0


class TryAgain(Exception):
    """One attempt failed in a way that may pass. ``error`` is raised when no attempt is left."""

    def __init__(self, error: Exception, *, retry_after_s: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.retry_after_s = retry_after_s


def with_retries(
    attempt: Callable[[], T],
    *,
    attempts: int = ATTEMPTS,
    deadline: float = math.inf,
    longest_delay_s: float = math.inf,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call ``attempt`` up to ``attempts`` times, with growing delays or those that the server asks for.

    No delay is longer than ``longest_delay_s``. ``deadline`` is on the monotonic clock: a delay that would pass it is
    not begun. What ``attempt`` raises other than TryAgain is raised at once.
    """
    for number in range(attempts):
        try:
            return attempt()
        except TryAgain as failure:
            delay_s = min(_delay_s(number, failure.retry_after_s), longest_delay_s)
            if number + 1 == attempts or time.monotonic() + delay_s > deadline:
                raise failure.error from failure
            sleep(delay_s)
    raise AssertionError("unreachable")


def _delay_s(number: int, retry_after_s: float | None) -> float:
    if retry_after_s is not None:
        return retry_after_s
    return min(FIRST_DELAY_S * 2.0**number, LONGEST_DELAY_S) * random.uniform(0.5, 1.0)


def read_retry_after(value: str | None) -> float | None:
    """Read a Retry-After header, seconds or a date (RFC 9110 section 10.2.3); None when it says nothing usable."""
    if not value:
        return None
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        wait_s = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(wait_s, 0.0)
