"""Show a spreadsheet number the way its number format does, dates with Japanese eras (和暦) and days of the week."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from knowledge.parsers.ooxml.number_codes import Section, Token, format_digits, general_number, parse_code
from knowledge.text.date_forms import era_on

# Day 0 from day 60 on; before, Excel counts a 29 February 1900 that never was. No zones: sheets have none.
# Excel's own name of day 0 is 0 January 1900.
EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001
EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_FIRST_DAY = datetime(1900, 1, 1)  # noqa: DTZ001
_FIRST_RIGHT_DAY = 60
_MS_PER_DAY = 86_400_000
_HOURS_PER_DAY, _MINUTES_PER_DAY, _SECONDS_PER_DAY = 24, 1440, 86_400
_NOON = 12
_WEEK = "月火水木金土日"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIRST_MONTHS = ("January", "February", "March", "April", "May", "June")
_MONTHS = (*_FIRST_MONTHS, "July", "August", "September", "October", "November", "December")


def moment(number: float, epoch: datetime) -> datetime:
    """Read a serial number, to the millisecond; below 1 it is a time of the day before the calendar starts.

    :raises ValueError: OverflowError: outside the calendar.
    """
    if number < 0:
        raise ValueError(number)
    days, fraction = divmod(number, 1)
    clock = timedelta(milliseconds=round(fraction * _MS_PER_DAY))
    if 0 < number < _FIRST_RIGHT_DAY and epoch == EPOCH_1900 and days:
        days += 1
    return epoch + timedelta(days=days) + clock


def format_date(moment: datetime, number: float, section: Section) -> str:
    """Write a moment; ``number`` is its serial number, which elapsed times (``[h]``) count from."""
    tokens = section.tokens
    if not any(token.kind == "digit" for token in tokens):
        moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
    shortened = any(token.kind == "noon" for token in tokens)
    in_japanese = any(token.value == "午前/午後" for token in tokens)
    parts: list[str] = []
    for index, token in enumerate(tokens):
        if token.kind == "noon":
            names = ("午前", "午後") if in_japanese else ("AM", "PM")
            parts.append(names[moment.hour >= _NOON])
        elif token.kind == "elapsed":
            parts.append(_elapsed(number, token.value.lower()))
        elif token.kind == "date":
            parts.append(_part(moment, tokens, index, shortened=shortened))
        elif token.kind == "digit" and parts and parts[-1] == ".":
            parts.append(f"{moment.microsecond // 100_000}")
        elif token.kind not in ("digit", "text"):
            parts.append(token.value)
    return "".join(parts).strip()


def _elapsed(number: float, unit: str) -> str:
    per_day = {"h": _HOURS_PER_DAY, "m": _MINUTES_PER_DAY, "s": _SECONDS_PER_DAY}[unit[0]]
    # Half a second more, so that 2.9999 hours that should be three are three.
    return str(int((number + 0.5 / _SECONDS_PER_DAY) * per_day)).zfill(len(unit))


def _part(moment: datetime, tokens: Sequence[Token], index: int, *, shortened: bool) -> str:
    written = tokens[index].value.lower()
    letter, width = written[0], len(written)
    is_day_0 = moment.date() == EPOCH_1900.date()
    known = _FIRST_DAY if is_day_0 else moment
    if letter == "m":
        if _is_minute(tokens, index):
            return str(moment.minute).zfill(min(width, 2))
        name = _MONTHS[known.month - 1]
        return {1: str(known.month), 2: f"{known.month:02d}", 3: name[:3], 4: name}.get(width, name[:1])
    if letter == "y":
        return f"{known.year:04d}" if width > 2 else f"{known.year % 100:02d}"
    if letter in "ger":
        return _era(known, written, followed_by=tokens[index + 1].value if index + 1 < len(tokens) else "")
    if letter == "d":
        name, day = _DAYS[moment.weekday()], 0 if is_day_0 else moment.day
        return {1: str(day), 2: f"{day:02d}", 3: name[:3]}.get(width, name)
    if letter == "a":
        return _WEEK[moment.weekday()] + ("曜日" if width > 3 else "")
    if letter == "h":
        hour = (moment.hour % _NOON or _NOON) if shortened else moment.hour
        return str(hour).zfill(min(width, 2))
    return str(moment.second).zfill(min(width, 2))


def _is_minute(tokens: Sequence[Token], index: int) -> bool:
    """Distinguish minutes from months: they follow hours or are before seconds."""
    parts = [at for at, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    place = parts.index(index)
    before = tokens[parts[place - 1]].value[:1].lower() if place else ""
    after = tokens[parts[place + 1]].value[:1].lower() if place + 1 < len(parts) else ""
    return before == "h" or after == "s"


def _era(moment: datetime, written: str, *, followed_by: str) -> str:
    """Write the name (g to ggg) or the year (e, ee) of an era; r is the year, rr both.

    The first year is 元年 before 年 and 1 elsewhere, as Excel has it.
    """
    era = era_on(moment.date())
    if written[0] == "g":
        return (era.letter.upper(), era.name[0], era.name)[min(len(written), 3) - 1] if era else ""
    years = moment.year - era.first_day.year + 1 if era else moment.year
    first = era is not None and years == 1 and followed_by.startswith("年")
    year = "元" if first else str(years).zfill(min(len(written), 2) if written[0] == "e" else 1)
    return f"{era.name}{year}" if era and written == "rr" else year


_ERA, _ERA_LONG = "[$-411]ge.m.d", '[$-411]ggge"年"m"月"d"日"'
_YEAR_MONTH, _MONTH_DAY, _FULL = 'yyyy"年"m"月"', 'm"月"d"日"', 'yyyy"年"m"月"d"日"'
# Source: ECMA-376 part 1, 18.8.30 (numFmt), as the Japanese edition of Excel shows them.
_BUILTIN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    **dict.fromkeys((5, 6), '"¥"#,##0;"¥"-#,##0'),
    **dict.fromkeys((7, 8), '"¥"#,##0.00;"¥"-#,##0.00'),
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: "yyyy/m/d",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy/m/d h:mm",
    **dict.fromkeys((27, 36, 50, 57), _ERA),
    **dict.fromkeys((28, 29, 51, 54, 58), _ERA_LONG),
    30: "m/d/yy",
    31: _FULL,
    32: 'h"時"mm"分"',
    33: 'h"時"mm"分"ss"秒"',
    **dict.fromkeys((34, 52, 55), _YEAR_MONTH),
    **dict.fromkeys((35, 53, 56), _MONTH_DAY),
    **dict.fromkeys((37, 38), "#,##0;-#,##0"),
    **dict.fromkeys((39, 40), "#,##0.00;-#,##0.00"),
    41: '#,##0;-#,##0;"-"',
    42: '"¥"#,##0;"¥"-#,##0;"¥-"',
    43: '#,##0.00;-#,##0.00;"-"',
    44: '"¥"#,##0.00;"¥"-#,##0.00;"¥-"',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
}
_GENERAL = "General"
_NUMBER_SECTIONS = 3


class NumberFormats:
    """The number format of every cell style of a workbook; ``codes[style]`` is a format code."""

    def __init__(self, *, codes: Sequence[str], date_1904: bool) -> None:
        self._epoch = EPOCH_1904 if date_1904 else EPOCH_1900
        known = {code: parse_code(code) for code in set(codes) if code != _GENERAL}
        self._formats = [known.get(code, ()) for code in codes]

    @classmethod
    def from_ids(cls, ids: Sequence[str], *, custom: Mapping[str | None, str], date_1904: bool) -> NumberFormats:
        """Look up the format code of every style's format id, built in or defined by the workbook."""
        codes = [custom.get(number) or _BUILTIN.get(int(number), _GENERAL) for number in ids]
        return cls(codes=codes, date_1904=date_1904)

    def display(self, value: str, style: int) -> str:
        """Write a stored number; the text is returned unchanged when it is no number."""
        try:
            number = float(value)
        except ValueError:
            return value
        if not math.isfinite(number):
            return value
        sections = self._formats[style] if 0 <= style < len(self._formats) else ()
        return self._in_section(number, sections) if sections else general_number(number)

    def display_text(self, text: str, style: int) -> str:
        """Write a stored text with what its format puts around it (``@"様"``); ``;;;`` hides it."""
        sections = self._formats[style] if 0 <= style < len(self._formats) else ()
        section = next((found for found in sections if found.is_text), None)
        if section is None and len(sections) > _NUMBER_SECTIONS:
            section = sections[_NUMBER_SECTIONS]
        if section is None:
            return text
        return "".join(text if token.kind == "text" else token.value for token in section.tokens)

    def _in_section(self, number: float, sections: Sequence[Section]) -> str:
        section, minus = _choose(number, sections)
        if section is None:
            return general_number(number)
        if section.is_date:
            try:
                return format_date(moment(number, self._epoch), number, section)
            except (ValueError, OverflowError):  # outside Excel's calendar
                return general_number(number)
        return minus + format_digits(abs(number), section)


def _choose(number: float, sections: Sequence[Section]) -> tuple[Section | None, str]:
    """Pick the section for a number, and the minus sign that no section of its own stands for."""
    numeric = [section for section in sections if not section.is_text]
    if not numeric:
        return None, ""
    if any(section.condition for section in numeric):
        chosen = next((found for found in numeric if found.condition is None or found.condition(number)), None)
        return chosen, "-" if number < 0 else ""
    if number < 0 and len(numeric) > 1:
        return numeric[1], ""
    if number == 0 and len(numeric) > 2:
        return numeric[2], ""
    return numeric[0], "-" if number < 0 else ""
