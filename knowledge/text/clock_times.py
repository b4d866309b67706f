"""Find times of day in text: 9:00, 午後5時, 17時15分, and spans of them, 8時30分から17時15分まで.

Pure. The one reader of times of day. A duration (3時間) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HALF = r"(?:(?P<half{0}>午前|午後|am|pm)\s?)?"
_TIME = (
    _HALF + r"(?P<hour{0}>[0-2]?[0-9])(?::(?P<minute{0}>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:])"
    r"|時(?!間|点|系|刻|期)(?:(?P<past{0}>[0-5]?[0-9])分(?!間)|(?P<thirty{0}>半))?)"
)
_TIMES = re.compile(
    r"(?<![0-9./\-])(?<![0-9]:)"
    + _TIME.format(1)
    + r"(?:\s?(?:~|〜|から|より|-|–|—)\s?(?:翌日?)?"
    + _TIME.format(2)
    + r")?"
)
_LAST_HOUR = 29


class ClockTime(NamedTuple):
    """A time of day that a text names at ``[start, end)``, or a span of time, in minutes from midnight."""

    start: int
    end: int
    first: int
    last: int | None


def find_clock_times(folded: str) -> Iterator[ClockTime]:
    """Yield the times of a folded text in its order.

    >>> [found[2:] for found in find_clock_times("受付は8:30~17:15、午後5時に締め、22時から動き、3時間かかる。")]
    [(510, 1035), (1020, None), (1320, None)]
    """
    for match in _TIMES.finditer(folded):
        first = _minutes(match, "1")
        last = _minutes(match, "2") if match["hour2"] else None
        if first is not None and (last is not None or not match["hour2"]):
            yield ClockTime(match.start(), match.end(), first, last)


def _minutes(match: re.Match[str], which: str) -> int | None:
    hour = int(match[f"hour{which}"]) + (12 if match[f"half{which}"] in ("午後", "pm") else 0)
    minute = int(match[f"minute{which}"] or match[f"past{which}"] or (30 if match[f"thirty{which}"] else 0))
    return 60 * hour + minute if hour <= _LAST_HOUR else None
