"""Show a spreadsheet number the way its number format does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from knowledge.parsers.ooxml.number_digits import format_digits, general_number
from knowledge.parsers.ooxml.number_format_codes import Section, parse_code
from knowledge.parsers.ooxml.serial_dates import EPOCH_1900, EPOCH_1904, format_date, moment

_ERA, _ERA_LONG = "[$-411]ge.m.d", '[$-411]ggge"年"m"月"d"日"'
_YEAR_MONTH, _MONTH_DAY, _FULL = 'yyyy"年"m"月"', 'm"月"d"日"', 'yyyy"年"m"月"d"日"'
# Source: ECMA-376 part 1, 18.8.30 (numFmt), as the Japanese edition of Excel shows them.
_BUILTIN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"¥"#,##0;"¥"-#,##0',
    6: '"¥"#,##0;"¥"-#,##0',
    7: '"¥"#,##0.00;"¥"-#,##0.00',
    8: '"¥"#,##0.00;"¥"-#,##0.00',
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
    27: _ERA,
    28: _ERA_LONG,
    29: _ERA_LONG,
    30: "m/d/yy",
    31: _FULL,
    32: 'h"時"mm"分"',
    33: 'h"時"mm"分"ss"秒"',
    34: _YEAR_MONTH,
    35: _MONTH_DAY,
    36: _ERA,
    37: "#,##0;-#,##0",
    38: "#,##0;-#,##0",
    39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00",
    41: '#,##0;-#,##0;"-"',
    42: '"¥"#,##0;"¥"-#,##0;"¥-"',
    43: '#,##0.00;-#,##0.00;"-"',
    44: '"¥"#,##0.00;"¥"-#,##0.00;"¥-"',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    50: _ERA,
    51: _ERA_LONG,
    52: _YEAR_MONTH,
    53: _MONTH_DAY,
    54: _ERA_LONG,
    55: _YEAR_MONTH,
    56: _MONTH_DAY,
    57: _ERA,
    58: _ERA_LONG,
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
