"""Find dates in text, in whatever calendar and spelling: 令和8年4月1日, R8.4.1, 2026/4/1 and April 1, 2026 are one day.

Pure. For text folded by `knowledge.backends.analysis.fold`: NFKC, lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

# The year before an era's first one, and the era's last year.
_ERAS = {"明治": (1867, 45), "大正": (1911, 15), "昭和": (1925, 64), "平成": (1988, 31), "令和": (2018, 99)}
_ERA_OF = {
    **{name: name for name in _ERAS},
    **{name[0]: name for name in _ERAS},
    **dict(zip("mtshr", _ERAS, strict=True)),
}
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_SMALL = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_IN_ERA = f"元|{_SMALL}"
_WESTERN = "[12][0-9]{3}"
# 令和8年(2026年)4月1日: what stands in brackets behind the year says it once more.
_WRITTEN_OUT = (
    rf"(?:(?P<era>明治|大正|昭和|平成|令和|(?<![a-z0-9])[mtshr])\s*(?P<in_era>{_IN_ERA})"
    rf"|(?<![0-9])(?P<year>{_WESTERN})|(?P<kanji>[一二][〇一二三四五六七八九]{{3}}))\s*年"
    rf"(?:(?:\s*\([^()\n]{{1,12}}\))?\s*(?P<month>{_SMALL})\s*月(?:\s*(?P<day>{_SMALL})\s*日)?)?"
)
# Neither inside of a code or a number, nor at the beginning of a longer one.
_BEFORE, _BEHIND = r"(?<![a-z0-9])(?<![a-z0-9][-_./])", r"(?![0-9])(?![-_./][0-9])"
# S1.2.3 is a number of a section; only of the present era a letter and a single digit are read as a year.
_WITH_SIGNS = (
    rf"{_BEFORE}(?:(?P<era>明治|大正|昭和|平成|令和|[明大昭平令]|r\.?|[mtsh]\.?(?=\s?[0-9]{{2}}))"
    rf"\s?(?P<in_era>元|[0-9]{{1,2}})|(?P<year>{_WESTERN}))\s?(?P<sign>[-/.])\s?(?P<month>[0-9]{{1,2}})\s?(?P=sign)\s?(?P<day>[0-9]{{1,2}}){_BEHIND}"
)
_MONTH_WITH_SIGN = rf"{_BEFORE}(?P<year>{_WESTERN})(?:/(?P<month>[0-9]{{1,2}})|-(?P<two>[0-9]{{2}})){_BEHIND}(?!:)"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_ENGLISH = (
    rf"(?<![a-z0-9])(?P<name>{_NAMES})\.?(?:\s+{_DAY})?,?\s+(?P<year>{_WESTERN})(?![0-9a-z])",
    rf"(?<![a-z0-9]){_DAY}\s+(?:of\s+)?(?P<name>{_NAMES})\.?,?\s+(?P<year>{_WESTERN})(?![0-9a-z])",
)
_FORMS = tuple(map(re.compile, (_WRITTEN_OUT, _WITH_SIGNS, *_ENGLISH, _MONTH_WITH_SIGN)))


class DateMention(NamedTuple):
    """A day, a month or a year that a text names at ``[start, end)``; what it doesn't tell is None."""

    start: int
    end: int
    year: int
    month: int | None = None
    day: int | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that stand for it, the narrowest first.

        >>> DateMention(0, 0, 2026, 4, 1).terms
        ('date:2026-04-01', 'date:2026-04', 'date:2026')
        """
        parts = [f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part is not None)]
        return tuple("date:" + "-".join(parts[:length]) for length in range(len(parts), 0, -1))


def find_dates(folded: str) -> list[DateMention]:
    """Find the dates of a folded text, in its order, without overlap. What no calendar has is none.

    >>> [mention.terms[0] for mention in find_dates("令和8年4月1日から r9.3.31、2026-13-01、平成元年度")]
    ['date:2026-04-01', 'date:2027-03-31', 'date:1989']
    """
    found: list[DateMention] = []
    for mention in sorted(_read(folded), key=lambda one: (one.start, -one.end)):
        if not found or mention.start >= found[-1].end:
            found.append(mention)
    return found


def spellings(mention: DateMention) -> str:
    """Make a pattern of how a day or a month may be written, for text folded by case and width alone."""
    eras = [
        f"(?:{name}|{letter}\\.?)\\s*(?:{'元|' if mention.year == before + 1 else ''}0?{mention.year - before})"
        for (name, (before, last)), letter in zip(_ERAS.items(), "mtshr", strict=True)
        if 0 < mention.year - before <= last
    ]
    year = f"(?<![a-z0-9])(?:{'|'.join([str(mention.year), *eras])})"
    between = r"\s*[-/.年]\s*(?:[(（][^()（）\n]{1,12}[)）]\s*)?"
    month = f"0?{mention.month}"
    if mention.day is None:
        return rf"{year}{between}{month}(?![0-9])月?"
    return rf"{year}{between}{month}\s*[-/.月]\s*0?{mention.day}(?![0-9])日?"


def _read(folded: str) -> Iterator[DateMention]:
    for form in _FORMS:
        for found in form.finditer(folded):
            mention = _mention(found)
            if mention is not None:
                yield mention


def _mention(found: re.Match[str]) -> DateMention | None:
    parts = found.groupdict()
    year, month, day = _year(parts), _month(parts), _number(parts.get("day"))
    try:
        date(year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return None
    return DateMention(start=found.start(), end=found.end(), year=year, month=month, day=day)


def _year(parts: dict[str, str | None]) -> int:
    """Read the year, 0 when its era had no such year."""
    if era := parts.get("era"):
        before, last = _ERAS[_ERA_OF[era.rstrip(".")]]
        number = 1 if parts["in_era"] == "元" else _number(parts["in_era"]) or 0
        return before + number if 1 <= number <= last else 0
    if kanji := parts.get("kanji"):
        return int("".join(str(_DIGITS[digit]) for digit in kanji))
    return int(parts["year"] or 0)


def _month(parts: dict[str, str | None]) -> int | None:
    if name := parts.get("name"):
        return _MONTHS.index(name[:3]) + 1
    return _number(parts.get("month") or parts.get("two"))


def _number(written: str | None) -> int | None:
    """Read a number below a hundred: 8, 08, 八, 十八, 三十一; None where none is written."""
    if not written:
        return None
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.rpartition("十")
    if ten:
        return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)
    return _DIGITS[written] if len(written) == 1 else 0
