"""Write a number in one of the formats that Word's lists have. Source: ECMA-376 part 1, 17.18.59 (ST_NumberFormat)."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.text.numerals import DIGITS, MOST_WRITTEN, write_numeral

_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_LEGAL = "零壱弐参四伍六七八九"
_LEGAL_TENS = "拾百阡"
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_FULL_WIDTH = {ord("0") + digit: ord("０") + digit for digit in range(10)}
_CIRCLES = (
    [chr(ord("①") + index) for index in range(20)]
    + [chr(ord("㉑") + index) for index in range(15)]
    + [chr(ord("㊱") + index) for index in range(15)]
)
_SERIES: dict[str, Sequence[str]] = {
    "aiueoFullWidth": _AIUEO,
    "aiueo": _AIUEO,
    "irohaFullWidth": _IROHA,
    "iroha": _IROHA,
    "decimalEnclosedCircle": _CIRCLES,
    "decimalEnclosedCircleChinese": _CIRCLES,
    "decimalEnclosedParen": [chr(ord("⑴") + index) for index in range(20)],
    "decimalEnclosedFullstop": [chr(ord("⒈") + index) for index in range(20)],
    "ideographEnclosedCircle": [chr(ord("㊀") + index) for index in range(10)],
}
_COUNTED = frozenset({"japaneseCounting", "chineseCounting", "chineseCountingThousand", "taiwaneseCountingThousand"})
_DIGITS = frozenset({"ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital"})


def format_number(value: int, number_format: str) -> str | None:
    """Write a list number in one of Word's formats; None for formats that are not known here.

    >>> [format_number(3, name) for name in ("decimal", "upperLetter", "aiueo", "decimalEnclosedCircle")]
    ['3', 'C', 'ウ', '③']
    >>> [format_number(21, name) for name in ("japaneseCounting", "ideographDigital", "japaneseLegal", "none")]
    ['二十一', '二一', '弐拾壱', '']
    """
    if number_format == "none":
        return ""
    if number_format in ("decimal", "decimalHalfWidth"):
        return str(value)
    if number_format == "decimalZero":
        return f"{value:02d}"
    if number_format in ("decimalFullWidth", "decimalFullWidth2"):
        return str(value).translate(_FULL_WIDTH)
    if number_format in ("upperLetter", "lowerLetter"):
        letter = chr(ord("A") + (value - 1) % 26) * ((value - 1) // 26 + 1)
        return letter if number_format == "upperLetter" else letter.lower()
    if number_format in ("upperRoman", "lowerRoman"):
        return _roman(value) if number_format == "lowerRoman" else _roman(value).upper()
    if number_format == "numberInDash":
        return f"- {value} -"
    return _japanese_number(value, number_format)


def _japanese_number(value: int, number_format: str) -> str | None:
    series = _SERIES.get(number_format)
    if series is not None:
        return series[value - 1] if 1 <= value <= len(series) else None
    if number_format in _DIGITS and value >= 0:
        return "".join(DIGITS[int(digit)] for digit in str(value))
    if number_format in _COUNTED and 1 <= value <= MOST_WRITTEN:
        return write_numeral(value)
    if number_format == "japaneseLegal" and 1 <= value <= MOST_WRITTEN:
        return write_numeral(value, digits=_LEGAL, tens=_LEGAL_TENS, bare_one=False)
    return None


def _roman(value: int) -> str:
    text = ""
    for unit, letters in _ROMAN:
        count, value = divmod(value, unit)
        text += letters * count
    return text
