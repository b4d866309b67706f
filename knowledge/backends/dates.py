"""Find dates in text, in whatever calendar and spelling: 令和8年4月1日, R8.4.1, 2026/4/1 and April 1, 2026 are one day.

Pure. For text folded by `knowledge.backends.analysis.fold`: NFKC, lower case.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from knowledge.backends.date_forms import Reading, is_in_calendar, spellings_in

# 令和8年4月1日から6月30日まで, 令和8年4月1日、10月1日: what such a word joins has the year of the first.
_JOINED = re.compile(
    r"\s*(?:\([^()\n]{1,12}\))?\s*(?:から|より|から同年|及び|又は|並びに|[~〜\-–—、,・と])\s*(?:同年)?\s*"
)
_SAME_YEAR, _NEXT_YEAR = "同年", "翌年"
# The longest span that short years of an era are read in: 令和7年4月1日から12年3月31日まで.
_MOST_YEARS = 20


class DateMention(NamedTuple):
    """A day, a month or a year that a text names at ``[start, end)``; what it doesn't tell is None.

    A day may be told without its year.
    """

    start: int
    end: int
    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that a passage gets for it. A question for it asks for the first one.

        >>> DateMention(0, 0, 2026, 4, 1).terms
        ('date:2026-04-01', 'date:2026-04', 'date:2026', 'date:--04-01')
        >>> DateMention(0, 0, None, 4, 1).terms
        ('date:--04-01', 'date:?-04-01')
        """
        any_year = () if self.day is None else (f"date:--{self.month:02}-{self.day:02}",)
        return (*any_year, self.without_year) if self.year is None else (*self.wider, *any_year)

    @property
    def wider(self) -> tuple[str, ...]:
        """The terms of it, of its month and its year, the narrowest first; none without a year."""
        if self.year is None:
            return ()
        parts = [f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part is not None)]
        return tuple("date:" + "-".join(parts[:length]) for length in range(len(parts), 0, -1))

    @property
    def without_year(self) -> str:
        """The term that only passages have which tell this day and no year."""
        return f"date:?-{self.month:02}-{self.day:02}"


def find_dates(folded: str) -> list[DateMention]:
    """Find the dates of a folded text, in its order, without overlap. What no calendar has is none.

    >>> [mention.terms[0] for mention in find_dates("令和8年4月1日から6月30日、r9.3.31、2026-13-01、平成元年度、4/1")]
    ['date:2026-04-01', 'date:2026-06-30', 'date:2027-03-31', 'date:1989', 'date:--04-01']
    """
    found: list[DateMention] = []
    dated: tuple[DateMention, Reading] | None = None
    for match, told in sorted(spellings_in(folded), key=lambda one: (one[0].start(), -one[0].end())):
        if found and match.start() < found[-1].end:
            continue
        reading = _with_year(told, dated, folded, match.start())
        if reading:
            found.append(DateMention(match.start(), match.end(), reading.year, reading.month, reading.day))
            dated = (found[-1], reading) if reading.year is not None else dated
    return found


def _with_year(told: Reading, dated: tuple[DateMention, Reading] | None, folded: str, start: int) -> Reading | None:
    """Complete a day by the year that the text tells before it; None for one of an era that it does not tell."""
    if told.year is not None or dated is None:
        return None if told.short else told
    before, reading = dated
    is_joined = before.month is not None and _JOINED.fullmatch(folded, before.end, start) is not None
    if told.short:
        year = (reading.era or 0) + told.short
        is_meant = is_joined and reading.era is not None and 0 <= year - (before.year or 0) <= _MOST_YEARS
        return _in_year(told, year, reading.era) if is_meant else None
    year = before.year or 0
    if folded.endswith(_NEXT_YEAR, 0, start):
        return _in_year(told, year + 1, reading.era)
    is_later = (told.month or 0, told.day or 0) >= (before.month or 0, before.day or 0)
    if folded.endswith(_SAME_YEAR, 0, start) or (is_joined and is_later):
        return _in_year(told, year, reading.era)
    return told


def _in_year(told: Reading, year: int, era: int | None) -> Reading | None:
    reading = Reading(year, told.month, told.day, era=era)
    return reading if is_in_calendar(reading) else None
