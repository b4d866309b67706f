"""Show a spreadsheet number the way its number format does, for the formats that documents use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_DECIMALS = re.compile(r"\.([0#?]+)")
# The built-in formats 27 to 36 and 50 to 58 are dates of the East Asian editions.
_EAST_ASIAN_DATES = frozenset({*range(27, 37), *range(50, 59)})
_MAX_DIGITS = 15


class NumberFormats:
    """The number format of every cell style of a workbook; ``codes[style]`` is a format code."""

    def __init__(self, *, codes: Sequence[str], date_1904: bool) -> None:
        self._codes = codes
        self._epoch = CALENDAR_MAC_1904 if date_1904 else CALENDAR_WINDOWS_1900
        self._is_date = [is_date_format(code) for code in codes]

    @classmethod
    def from_ids(cls, ids: Sequence[str], *, custom: Mapping[str | None, str], date_1904: bool) -> NumberFormats:
        """Look up the format code of every style's format id, built in or defined by the workbook."""
        codes = [custom.get(number) or _builtin(int(number)) for number in ids]
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
            moment = from_excel(number, self._epoch)
        except (ValueError, OverflowError):
            return None
        if isinstance(moment, datetime):
            midnight = moment.time() == time(0)
            return moment.date().isoformat() if midnight else moment.isoformat(sep=" ", timespec="seconds")
        if isinstance(moment, time):
            return moment.isoformat(timespec="minutes" if moment.second == 0 else "seconds")
        return str(moment) if isinstance(moment, timedelta) else None


def _builtin(number: int) -> str:
    return "yyyy-mm-dd" if number in _EAST_ASIAN_DATES else str(BUILTIN_FORMATS.get(number, "General"))


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
