"""How long something took, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

TENTHS_BELOW_S = 10


def in_words(milliseconds: float) -> str:
    """Return a duration in the reader's language: below ten seconds in tenths, else in whole seconds, minutes, hours.

    Of two units at most, the smaller one is cut off: 3 minutes 5 seconds, 2 hours 10 minutes.
    """
    seconds = milliseconds / 1000
    if round(seconds, 1) == 0:
        return _("less than 0.1 seconds")
    if round(seconds, 1) < TENTHS_BELOW_S:
        return _("{number} seconds").format(number=f"{seconds:.1f}")
    minutes, left = divmod(max(int(seconds), TENTHS_BELOW_S), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _joined(_hours(hours), _minutes(minutes))
    return _joined(_minutes(minutes), _seconds(left))


def _hours(number: int) -> str:
    return ngettext("{number} hour", "{number} hours", number).format(number=number) if number else ""


def _minutes(number: int) -> str:
    return ngettext("{number} minute", "{number} minutes", number).format(number=number) if number else ""


def _seconds(number: int) -> str:
    return ngettext("{number} second", "{number} seconds", number).format(number=number) if number else ""


def _joined(larger: str, smaller: str) -> str:
    return f"{larger} {smaller}".strip()
