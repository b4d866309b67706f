"""Show a spreadsheet number the way its number format does, for the formats that documents use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta

_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_DECIMALS = re.compile(r"\.([0#?]+)")
# Source: ECMA-376 part 1, 18.8.30 (numFmt), without what stands around the digits; 27 to 36 and 50 to 58 are dates of
# the East Asian editions.
_DATE = "yyyy-mm-dd"
_DATES = (*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59))
_WHOLE, _CENTS = "#,##0", "#,##0.00"
_BUILTIN = {1: "0", 2: "0.00", 3: _WHOLE, 4: _CENTS, 5: _WHOLE, 6: _WHOLE, 7: _CENTS, 8: _CENTS, 9: "0%", 10: "0.00%"}
_BUILTIN |= {37: _WHOLE, 38: _WHOLE, 39: _CENTS, 40: _CENTS, 41: _WHOLE, 42: _WHOLE, 43: _CENTS, 44: _CENTS}
_BUILTIN |= dict.fromkeys(_DATES, _DATE)
_NO_DATE_PART = re.compile(r'"[^"]*"|\\.|_.|\[(?!(?i:hh?|mm?|ss?)\])[^\]]*\]')
_DATE_PART = re.compile("[dmhys]", re.IGNORECASE)
# Day 0 from day 60 on; before, Excel counts a 29 February 1900 that never was. No zones: sheets have none.
_EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_FIRST_RIGHT_DAY = 60
_MS_PER_DAY = 86_400_000
_MAX_DIGITS = 15


class NumberFormats:
    """The number format of every cell style of a workbook; ``codes[style]`` is a format code."""

    def __init__(self, *, codes: Sequence[str], date_1904: bool) -> None:
        self._codes = codes
        self._epoch = _EPOCH_1904 if date_1904 else _EPOCH_1900
        self._is_date = [is_date_format(code) for code in codes]

    @classmethod
    def from_ids(cls, ids: Sequence[str], *, custom: Mapping[str | None, str], date_1904: bool) -> NumberFormats:
        """Look up the format code of every style's format id, built in or defined by the workbook."""
        codes = [custom.get(number) or _BUILTIN.get(int(number), "General") for number in ids]
        return cls(codes=codes, date_1904=date_1904)

    def display(self, value: str, style: int) -> str:
        """Write a stored number; the text is returned unchanged when it is no number."""
        try:
            number = float(value)
        except ValueError:
            return value
        if not 0 <= style < len(self._codes):
            return general_number(number)
        if self._is_date[style]:
            return self._date(number) or general_number(number)
        return format_number(number, self._codes[style])

    def _date(self, number: float) -> str | None:
        """Write a date, time or both in ISO form; None outside Excel's calendar."""
        try:
            moment = _moment(number, self._epoch)
        except (ValueError, OverflowError):
            return None
        if isinstance(moment, datetime):
            midnight = moment.time() == time(0)
            return moment.date().isoformat() if midnight else moment.isoformat(sep=" ", timespec="seconds")
        return moment.isoformat(timespec="minutes" if moment.second == 0 else "seconds")


def is_date_format(code: str) -> bool:
    """Tell whether a format code shows a date or a time; only what it says of positive numbers counts.

    >>> is_date_format("yyyy/m/d;@"), is_date_format('0"days"'), is_date_format("[Red]0.0"), is_date_format("[h]:mm")
    (True, False, False, True)
    """
    return _DATE_PART.search(_NO_DATE_PART.sub("", code.split(";")[0])) is not None


def _moment(number: float, epoch: datetime) -> datetime | time:
    """Read a serial number, to the millisecond; below 1 it is a time. Raises ValueError or OverflowError."""
    days, fraction = divmod(number, 1)
    clock = timedelta(milliseconds=round(fraction * _MS_PER_DAY))
    if 0 <= number < 1 and not clock.days:
        return (_EPOCH_1904 + clock).time()
    if 0 < number < _FIRST_RIGHT_DAY and epoch == _EPOCH_1900:
        days += 1
    return epoch + timedelta(days=days) + clock


def general_number(number: float) -> str:
    """Write a number without a needless fraction.

    >>> general_number(10.0), general_number(0.1 + 0.2)
    ('10', '0.3')
    """
    if number.is_integer() and abs(number) < 10**_MAX_DIGITS:
        return str(int(number))
    return f"{number:.{_MAX_DIGITS}g}"


def format_number(number: float, code: str) -> str:
    """Apply percent, decimals and thousands of a number format; anything richer is shown as a plain number.

    >>> format_number(0.999, "0.0%"), format_number(12345, "#,##0"), format_number(7, "000")
    ('99.9%', '12,345', '007')
    """
    plain = _LITERAL.sub("", code.split(";")[0])
    if not re.fullmatch(r"[ ¥$()]*[0#?,]+(?:\.[0#?]+)?%?[ ()]*", plain):
        return general_number(number)
    percent = "%" in plain
    scaled = number * 100 if percent else number
    found = _DECIMALS.search(plain)
    fixed = found[1].count("0") if found else 0
    text = (
        f"{scaled:,.{len(found[1]) if found else 0}f}"
        if "," in plain
        else f"{scaled:.{len(found[1]) if found else 0}f}"
    )
    text = _trim(text, fixed)
    whole = plain.split(".")[0].count("0")
    if "," not in plain and scaled >= 0 and whole > 1:
        text = text.zfill(whole + (len(text) - text.index(".") if "." in text else 0))
    return text + "%" if percent else text


def _trim(text: str, fixed: int) -> str:
    """Drop trailing zeros that the format leaves open (``#``)."""
    whole, point, fraction = text.partition(".")
    if not point:
        return text
    while len(fraction) > fixed and fraction.endswith("0"):
        fraction = fraction[:-1]
    return f"{whole}.{fraction}" if fraction else whole
