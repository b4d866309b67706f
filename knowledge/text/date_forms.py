"""The Japanese eras (元号), and the spellings of dates as patterns for folded text, and how to read what they find.

Pure. A pattern names the parts of a date by its groups; `_read` makes numbers of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import NamedTuple

from knowledge.text.numerals import read_numeral


class Era(NamedTuple):
    """An era; ``letter`` is how forms write it for short, ``last_year`` the number of its last year."""

    name: str
    letter: str
    first_day: date
    last_year: int

    def year(self, number: int) -> int:
        """Return the year of the calendar that is the era's ``number``-th, also behind its last one."""
        return self.first_day.year - 1 + number


ERAS = (
    Era("明治", "m", date(1868, 1, 25), 45),
    Era("大正", "t", date(1912, 7, 30), 15),
    Era("昭和", "s", date(1926, 12, 25), 64),
    Era("平成", "h", date(1989, 1, 8), 31),
    Era("令和", "r", date(2019, 5, 1), 99),
)
ERA_NAMES = "|".join(era.name for era in ERAS)
"""A regular expression for the name of an era."""


def era_on(day: date) -> Era | None:
    """Return the era that a day lies in; None for days before 明治.

    >>> era_on(date(2019, 4, 30)).name, era_on(date(2019, 5, 1)).name, era_on(date(1867, 1, 1))
    ('平成', '令和', None)
    """
    return next((era for era in reversed(ERAS) if era.first_day <= day), None)


# One character each, which folding character by character leaves as they are.
_LIGATURES = dict(zip("㍾㍽㍼㍻㋿", ERAS, strict=True))
_ERA_OF = {written: era for era in ERAS for written in (era.name, era.name[0], era.letter)} | _LIGATURES
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_ERA_NAMES = "|".join([ERA_NAMES, *_LIGATURES])
_SMALL = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_IN_ERA = f"元|{_SMALL}"
_WESTERN = "[12][0-9]{3}"
# Neither inside of a code or a number, nor at the beginning of a longer one.
_BEFORE, _BEHIND = r"(?<![a-z0-9])(?<![a-z0-9][-_./])", r"(?![0-9])(?![-_./][0-9])"
# Behind the number of a day that is a number of days.
_NO_SPAN = r"(?!\s?(?:間|目|以|前|後|分|ほど|程度|くらい|ぐらい|おき|ごと|毎|経|を過|遅|弱|強|余|未満|で))"
_UNTIL = r"[~〜\-–—・、,]"
# 4月1～5日 has 日 behind the last day only.
_DAY_SIGN = rf"(?:日(?!間)|(?={_UNTIL}\s*(?:{_SMALL})\s*日{_NO_SPAN}))"
_MONTH_DAY = rf"(?P<month>{_SMALL})\s*月\s*(?P<day>{_SMALL})\s*{_DAY_SIGN}"
_DAY_ONLY = rf"(?<![0-9一二三四五六七八九十月])(?P<day>{_SMALL})\s*日{_NO_SPAN}"
# 令和8年(2026年)4月1日: what is in brackets behind the year says it once more.
_WRITTEN_OUT = (
    rf"(?:(?P<era>{_ERA_NAMES}|(?<![a-z0-9])[mtshr])\s*(?P<in_era>{_IN_ERA})"
    rf"|(?<![0-9])(?P<year>{_WESTERN})|(?P<kanji>[一二][〇一二三四五六七八九]{{3}}))\s*年度?"
    rf"(?:(?:\s*\([^()\n]{{1,12}}\))?\s*(?P<month>{_SMALL})\s*月(?:\s*(?P<day>{_SMALL})\s*(?:日|{_DAY_SIGN}))?)?"
)
# Not behind the number of a year, which then is none of the calendar, or of an era that is not named.
_NUMBER_OF_YEAR = "[0-9〇一二三四五六七八九十元]年"
_WITHOUT_YEAR = rf"(?<!{_NUMBER_OF_YEAR})(?<!{_NUMBER_OF_YEAR}\s)(?<![0-9一二三四五六七八九十])(?<!年\)){_MONTH_DAY}"
_SHORT_YEAR = rf"(?<![0-9a-z一二三四五六七八九十])(?P<short>{_IN_ERA})\s*年\s*{_MONTH_DAY}"
# S1.2.3 is a number of a section; only of the present era a letter and a single digit are read as a year.
_WITH_SIGNS = (
    rf"{_BEFORE}(?:(?P<era>{_ERA_NAMES}|[明大昭平令]|r\.?|[mtsh]\.?(?=\s?[0-9]{{2}}))"
    rf"\s?(?P<in_era>元|[0-9]{{1,2}})|(?P<year>{_WESTERN}))\s?(?P<sign>[-/.・])\s?(?P<month>[0-9]{{1,2}})"
    rf"\s?(?P=sign)\s?(?P<day>[0-9]{{1,2}}){_BEHIND}"
)
_MONTH_WITH_SIGN = (
    rf"{_BEFORE}(?P<year>{_WESTERN})(?:/(?P<month>[0-9]{{1,2}})|-(?P<two>[0-9]{{2}})){_BEHIND}(?!:)(?!\s?年)",
    rf"{_BEFORE}(?P<era>{_ERA_NAMES})\s?(?P<in_era>元|[0-9]{{1,2}})\s?[/.]\s?(?P<month>[0-9]{{1,2}}){_BEHIND}(?!%|\s?年)",
    rf"{_BEFORE}(?P<era>[令平]|[rh]\.?)\s?(?P<in_era>元|[0-9]{{1,2}})\s?[/.]\s?(?P<month>[0-9]{{1,2}})\s?月(?!間)",
)
_FISCAL_YEAR = r"(?<![a-z0-9])fy\s?'?(?:(?P<year>(?:19|20)[0-9]{2})|(?P<century>[0-9]{2}))(?![0-9a-z])"
# What follows a number that counts, pays or names something.
_COUNTED = (
    r"(?!\s?(?:[千万億]?円|[件人名個台枚点号番回社校票頁問項対%倍割拍]|ページ|サイズ|程度|以上|以下|未満|弱|強"
    r"|[kmg]?b(?:yte|ps)?\b))"
)
_EXTENSION = r"(?:docx?|docm|xlsx?|xlsm|pptx?|pdf|md|txt|csv|html?|xml|json|zip|msg|eml|png|jpe?g)(?![0-9a-z])"
# Alone, or the name of a file: 20260401_議事録. What is called a number is one.
_COMPACT = (
    rf"{_BEFORE}(?<![第#¥\\$])(?<!番号)(?<!番号[:\s])(?<!id[:\s])(?<!no)(?<!no[.:\s])"
    rf"(?:(?P<year>(?:19|20)[0-9]{{2}})|(?P<era>{_ERA_NAMES}|[昭平令]|[shr])(?P<in_era>[0-9]{{2}}))(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})"
    rf"(?:(?=t[0-9]{{4}})|(?![0-9a-z]))(?!_[0-9]|[-/:,][0-9a-z]|\.(?!{_EXTENSION})[0-9a-z]){_COUNTED}"
)
_YEAR_LAST = (
    rf"{_BEFORE}(?P<first>[0-9]{{1,2}})(?P<sign>[-/.])(?P<second>[0-9]{{1,2}})(?P=sign)(?P<year>(?:19|20)[0-9]{{2}})"
    rf"{_BEHIND}(?![a-z])"
)
# 4/1 is a day and 1/4 a fraction, unless a weekday or such a word follows, or a later day of the month: 4/5~4/10.
# Of January that would be 1/2~1/3, which are fractions.
_SLASH = (
    rf"{_BEFORE}(?<![0-9],)(?<!約)(?<!約\s)(?<!第)(?P<month>[0-9]{{1,2}})/(?P<day>[0-9]{{1,2}}){_BEHIND}(?![a-z])(?![-_.:,][a-z])"
    rf"(?!,[0-9]{{3}})(?!系){_COUNTED}"
    r"(?P<surely>\s?\([月火水木金土日](?:曜日?)?[・祝休]*\)|(?=\s?(?:付|時点|現在|締|〆|必着|期限|消印))"
    r"|(?=\s?[~〜–—]\s?(?!0?1/)(?P=month)/[0-9]{1,2}(?![0-9/])))?"
)
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_ENGLISH = (
    rf"(?<![a-z0-9])(?P<name>{_NAMES})\.?(?:\s+{_DAY})?,?\s+(?P<year>{_WESTERN})(?![0-9a-z])",
    rf"(?<![a-z0-9]){_DAY}\s+(?:of\s+)?(?P<name>{_NAMES})\.?,?\s+(?P<year>{_WESTERN})(?![0-9a-z])",
)
# "You may 1" is no day of May, and "1 march" hardly one: there the ordinal must be written.
_ORDINAL = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)"
_VERBS = "(?!may|mar)"
_ENGLISH_WITHOUT_YEAR = (
    rf"(?<![a-z0-9])(?P<name>{_NAMES})\.?\s+{_ORDINAL}(?![0-9a-z])",
    rf"(?<![a-z0-9]){_VERBS}(?P<name>{_NAMES})\.?\s+(?P<day>[0-9]{{1,2}})(?![0-9a-z%])(?![-_.:/,][0-9a-z])",
    rf"(?<![a-z0-9])(?<![-_./:,]){_ORDINAL}\s+(?:of\s+)?(?P<name>{_NAMES})(?![0-9a-z])",
    rf"(?<![a-z0-9])(?<![-_./:,])(?P<day>[0-9]{{1,2}})\s+{_VERBS}(?P<name>{_NAMES})(?![0-9a-z])",
)
# What a text must have for the forms behind it to be looked for, since most texts have little of it.
_FORMS = (
    ("年", (_WRITTEN_OUT, _SHORT_YEAR)),
    (r"[0-9一二三四五六七八九十]\s*日", (_DAY_ONLY,)),
    ("月", (_WITHOUT_YEAR, _MONTH_WITH_SIGN[2])),
    (r"[0-9元]\s?[-/.・]\s?[0-9]", (_WITH_SIGNS, *_MONTH_WITH_SIGN[:2], _YEAR_LAST)),
    (r"[0-9]/[0-9]", (_SLASH,)),
    ("[0-9]{6}", (_COMPACT,)),
    (r"fy\s?'?[0-9]", (_FISCAL_YEAR,)),
    (rf"(?<![a-z])(?:{_NAMES})(?![a-z])", (*_ENGLISH, *_ENGLISH_WITHOUT_YEAR)),
)
_COMPILED = tuple((re.compile(sign), tuple(map(re.compile, forms))) for sign, forms in _FORMS)
# A year with 29 days in February, in which every day without a year is one of the calendar.
_ANY_YEAR = 2000


# A cell that is a day and nothing else, whatever parts its numbers.
_TYPED = re.compile(
    rf"(?:(?P<era>{_ERA_NAMES}|[mtshr]\.?)(?P<in_era>元|[0-9]{{1,2}})|(?P<year>[0-9]{{4}}))[-/.・年](?P<month>[0-9]{{1,2}})[-/.・月]"
    r"(?P<day>[0-9]{1,2})日?"
)


class Reading(NamedTuple):
    """What a spelling says of a date; None for what it leaves out.

    ``short`` is the year of an era that the text named before. What is not
    ``sure`` is a day only where another one leads to it: 4/5 in 4/1~4/5, and 5日 in 4月1日~5日.
    """

    year: int | None
    month: int | None
    day: int | None
    era: Era | None = None
    short: int | None = None
    sure: bool = True


def spellings_in(folded: str) -> Iterator[tuple[re.Match[str], Reading]]:
    """Yield what may be a date, form by form, overlapping. What no calendar has is none."""
    for sign, forms in _COMPILED:
        if sign.search(folded):
            for form in forms:
                for found in form.finditer(folded):
                    reading = _read(found.groupdict())
                    if reading and is_in_calendar(reading):
                        yield found, reading


def read_typed(compact: str) -> Reading | None:
    """Read a text folded by `fold_compact` that is one day; None for others and for what no calendar has."""
    found = _TYPED.fullmatch(compact)
    reading = _read(found.groupdict()) if found else None
    return reading if reading and is_in_calendar(reading) else None


def is_in_calendar(reading: Reading) -> bool:
    """Return whether there is such a day; one without a year exists if any year has it."""
    year, month, day = reading[:3]
    try:
        date(_ANY_YEAR if year is None else year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return False
    return True


def _read(parts: Mapping[str, str | None]) -> Reading | None:
    if parts.get("first"):
        return _read_year_last(parts)
    month, day = _month(parts), _number(parts.get("day"))
    if parts.get("short"):
        return Reading(None, month, day, short=_in_era(parts["short"]))
    if month is None and day is not None:
        return Reading(None, None, day, sure=False)
    may_be_fraction = (month or 0) <= (day or 0) and (month == 1 or (day or 0) <= 12)
    if "surely" in parts and parts["surely"] is None and may_be_fraction:
        return Reading(None, month, day, sure=False)
    year = _year(parts)
    return Reading(year, month, day, era=_era_of(parts) if parts.get("era") else None)


def _read_year_last(parts: Mapping[str, str | None]) -> Reading | None:
    """Read 4/15/2026 and 15/4/2026; of 4/1/2026, which is a day in January elsewhere, only the year."""
    year, first, second = int(parts["year"] or 0), _number(parts["first"]), _number(parts["second"])
    days = {Reading(year, month, day) for month, day in ((first, second), (second, first))}
    possible = [day for day in days if is_in_calendar(day)]
    if len(possible) > 1:
        return Reading(year, None, None)
    return possible[0] if possible else None


def _year(parts: Mapping[str, str | None]) -> int | None:
    """Read the year, 0 when its era had no such year."""
    if parts.get("era"):
        era, number = _era_of(parts), _in_era(parts["in_era"])
        return era.year(number) if 1 <= number <= era.last_year else 0
    if kanji := parts.get("kanji"):
        return read_numeral(kanji)
    if century := parts.get("century"):
        return 2000 + int(century)
    return int(parts["year"] or 0) if parts.get("year") else None


def _era_of(parts: Mapping[str, str | None]) -> Era:
    return _ERA_OF[(parts["era"] or "").rstrip(".")]


def _in_era(written: str | None) -> int:
    return 1 if written == "元" else _number(written) or 0


def _month(parts: Mapping[str, str | None]) -> int | None:
    if name := parts.get("name"):
        return _MONTHS.index(name[:3]) + 1
    return _number(parts.get("month") or parts.get("two"))


def _number(written: str | None) -> int | None:
    """Read a number: 8, 08, 八, 十八, 三十一; None where none is written."""
    return read_numeral(written) if written else None
