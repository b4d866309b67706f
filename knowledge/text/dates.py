"""Find dates in text, in whatever calendar and spelling: 令和8年4月1日, R8.4.1, 2026/4/1 and April 1, 2026 are one day.

Pure. The one reader of dates: search asks for mentions of days, months and years, in folded text; who compares days
asks for the days of a text as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from knowledge.text.date_forms import Era, Reading, is_in_calendar, read_typed, spellings_in
from knowledge.text.folding import fold_compact, fold_each, join_codes

# 令和8年4月1日から6月30日まで, 令和8年4月1日、10月1日: what such a word joins has the year of the first.
_JOINED = re.compile(
    r"\s*+(?:\([^()\n]{1,12}\))?+\s*+(?:から|より|から同年|及び|又は|並びに|[~〜\-–—、,・と])\s*+(?:同年)?+\s*+"
)
# What makes 4月1日から5日 a span of days and not of five days.
_TO_THAT_DAY = re.compile(r"\s*+(?:\([^()\n]{1,12}\))?+\s*+(?:まで|迄|に(?:かけ|わた))")
_FROM = ("から", "より")
# 4/1-4/5, 2026/4/1-4/5, 20260401-20260405: the hyphen is none of a code there.
_DAY = "[0-9]{1,2}/[0-9]{1,2}"
_IN_YEAR = "(?:[12][0-9]{3}|[rhs][0-9]{1,2})"
_FULL_DAY = rf"{_IN_YEAR}(?:/[0-9]{{1,2}}/[0-9]{{1,2}}|\.[0-9]{{1,2}}\.[0-9]{{1,2}})"
_HYPHENED = re.compile(
    rf"(?<![0-9a-z])(?<![0-9a-z][-_./])(?:(?P<first>{_FULL_DAY}|{_DAY})-(?P<last>{_FULL_DAY}|{_DAY})"
    r"|(?P<compact>(?:19|20)[0-9]{6})-(?:19|20)[0-9]{6})(?![-_./]?[0-9a-z])"
)
# In a name signs stand for blanks, and for points between the parts of a date.
_NAMED_DAY = re.compile(r"(?<![0-9a-z])((?:19|20)[0-9]{2}|[rhs][0-9]{1,2})_([0-9]{1,2})_([0-9]{1,2})(?![0-9])")
_NAME_SIGNS = re.compile(r"(?<![0-9])/|/(?![0-9])|_|(?<=[a-z]{3})-(?=(?:19|20)[0-9]{2})|(?<=[0-9]{8})-(?=[a-z])")
_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}$")
_SAME_YEAR, _NEXT_YEAR = "同年", "翌年"
# The longest span that short years of an era are read in: 令和7年4月1日から12年3月31日まで.
_MOST_YEARS = 20


class DateMention(NamedTuple):
    """A day, a month or a year that a text names at ``[start, end)``; what it leaves out is None.

    A day may be written without its year.
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
        """The term that only passages have which name this day and no year."""
        return f"date:?-{self.month:02}-{self.day:02}"


class DayMention(NamedTuple):
    """A day of a known year that a text names at ``[start, end)``."""

    start: int
    end: int
    day: date


def find_days(text: str) -> Iterator[DayMention]:
    """Yield the days with their years that a text names, in its order; offsets are those of the text as it is written.

    >>> [str(found.day) for found in find_days("Ｒ６．４．１〜同年６月30日、2026年４月、令和元年5月1日")]
    ['2024-04-01', '2024-06-30', '2019-05-01']
    """
    for found in find_dates(join_codes(fold_each(text))):
        if found.year is not None and found.month is not None and found.day is not None:
            yield DayMention(found.start, found.end, date(found.year, found.month, found.day))


def read_day(text: str) -> date | None:
    """Return the day that the whole text is, as people type one into a cell; None for anything else.

    Also 2026年3月31 and 2026/3-31, which are slips within a text.
    """
    plain = text.strip()
    found = next(find_days(plain), None)
    return _typed_day(plain) if found is None else found.day if found[:2] == (0, len(plain)) else None


def first_day(text: str) -> date | None:
    """Return the first day that a text names, or the one that the whole text is; None without one."""
    found = next(find_days(text), None)
    return found.day if found else _typed_day(text)


def _typed_day(text: str) -> date | None:
    typed = read_typed(fold_compact(text))
    return date(typed.year, typed.month, typed.day) if typed and typed.year and typed.month and typed.day else None


def without_days(text: str) -> str:
    """Return a text without the days that it names.

    >>> without_days("第1版（2026年1月6日）")
    '第1版（）'
    """
    for found in reversed(list(find_days(text))):
        text = text[: found.start] + text[found.end :]
    return text


def find_dates(folded: str) -> list[DateMention]:
    """Find the dates of a text folded by `fold_terms`, in its order, without overlap. What no calendar has is none.

    >>> [mention.terms[0] for mention in find_dates("令和8年4月1日から6月30日、r9.3.31、2026-13-01、平成元年度、4/1")]
    ['date:2026-04-01', 'date:2026-06-30', 'date:2027-03-31', 'date:1989', 'date:--04-01']
    """
    if "-" in folded:  # between two days: ~ instead, so that offsets stay
        folded = _HYPHENED.sub(_tilde, folded)
    found: list[DateMention] = []
    dated: tuple[DateMention, Reading] | None = None
    for match, spelt in sorted(spellings_in(folded), key=lambda one: (one[0].start(), -one[0].end())):
        if found and match.start() < found[-1].end:
            continue
        reading = _completed(spelt, found[-1] if found else None, dated, folded, match)
        if reading:
            found.append(DateMention(match.start(), match.end(), reading.year, reading.month, reading.day))
            dated = (found[-1], reading) if reading.year is not None else dated
    return found


def find_dates_in_name(folded: str) -> list[DateMention]:
    """Find the dates in the folded name or path of a file; their places are those of another text.

    >>> [mention.terms[0] for mention in find_dates_in_name("2026/04/01/minutes-20260402_v1.2.docx")]
    ['date:2026-04-01', 'date:2026-04-02']
    """
    return find_dates(name_words(_NAMED_DAY.sub(r"\1.\2.\3", folded)))


def name_words(folded: str) -> str:
    """Write the folded name or path of a file as lines of words, without its extension."""
    return _NAME_SIGNS.sub("\n", _EXTENSION.sub("", folded))


def _tilde(found: re.Match[str]) -> str:
    at = found.end("compact" if found["compact"] else "first") - found.start()
    return f"{found[0][:at]}~{found[0][at + 1 :]}"


def _completed(
    spelt: Reading,
    last: DateMention | None,
    dated: tuple[DateMention, Reading] | None,
    folded: str,
    match: re.Match[str],
) -> Reading | None:
    """Complete what a spelling says by the date before it; None for what is none by itself, nor led to."""
    if spelt.sure:
        return _with_year(spelt, dated, folded, match.start())
    if last is None or last.day is None or (joined := _JOINED.fullmatch(folded, last.end, match.start())) is None:
        return None
    month = spelt.month or last.month or 0
    if (month, spelt.day or 0) <= (last.month or 0, last.day):
        return None
    if spelt.month is None and joined[0].strip().startswith(_FROM) and not _TO_THAT_DAY.match(folded, match.end()):
        return None
    reading = Reading(last.year, month, spelt.day, era=dated[1].era if dated and dated[0] == last else None)
    return reading if is_in_calendar(reading) else None


def _with_year(spelt: Reading, dated: tuple[DateMention, Reading] | None, folded: str, start: int) -> Reading | None:
    """Complete a day by the year that the text names before it; None for one of an era that it does not name."""
    if spelt.year is not None or dated is None:
        return None if spelt.short else spelt
    before, reading = dated
    is_joined = before.month is not None and _JOINED.fullmatch(folded, before.end, start) is not None
    if spelt.short:
        year = reading.era.year(spelt.short) if reading.era and is_joined else 0
        return _in_year(spelt, year, reading.era) if 0 <= year - (before.year or 0) <= _MOST_YEARS else None
    year = before.year or 0
    if folded.endswith(_NEXT_YEAR, 0, start):
        return _in_year(spelt, year + 1, reading.era)
    is_later = (spelt.month or 0, spelt.day or 0) >= (before.month or 0, before.day or 0)
    if folded.endswith(_SAME_YEAR, 0, start) or (is_joined and is_later):
        return _in_year(spelt, year, reading.era)
    return spelt


def _in_year(spelt: Reading, year: int, era: Era | None) -> Reading | None:
    reading = Reading(year, spelt.month, spelt.day, era=era)
    return reading if is_in_calendar(reading) else None
