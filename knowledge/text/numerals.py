"""Numbers as Japanese documents write them: the one reader and the one writer of kanji numerals."""

from __future__ import annotations

from knowledge.text.folding import normalise

DIGITS = "〇一二三四五六七八九"
TENS = "十百千"
MYRIADS = "万億兆"
NUMERAL = f"[{DIGITS}{TENS}]"
"""A regular expression for one character of a numeral below ten thousand."""

_DIGIT = {character: value for value, character in enumerate(DIGITS)}
_TEN = {character: 10 ** (power + 1) for power, character in enumerate(TENS)}
_MYRIAD = {character: 10 ** (4 * (power + 1)) for power, character in enumerate(MYRIADS)}
_KNOWN = {*"0123456789", *_DIGIT, *_TEN, *_MYRIAD}
MOST_WRITTEN = 9999


def read_numeral(text: str) -> int | None:
    """Return the value of a numeral, written by places or with 十, 百, 千, 万, 億, 兆; None for anything else.

    Full width and half width, kanji and digits may be mixed: 3万5千 is 35000.

    >>> [read_numeral(text) for text in ("二三", "二〇", "三千", "千二百", "１２", "3万5千", "二〇二六", "万", "08")]
    [23, 20, 3000, 1200, 12, 35000, 2026, 10000, 8]
    >>> [read_numeral(text) for text in ("数百", "", "元", "三十か所", "1,000")]
    [None, None, None, None, None]
    """
    if text.isdecimal():
        return int(text)
    characters = normalise(text)
    if not characters or not set(characters) <= _KNOWN:
        return None
    total = section = 0
    digits = ""
    for character in characters:
        if character in _TEN:
            section, digits = section + int(digits or 1) * _TEN[character], ""
        elif character in _MYRIAD:
            total, section, digits = total + (section + int(digits or 0) or 1) * _MYRIAD[character], 0, ""
        else:
            digits += str(_DIGIT.get(character, character))
    return total + section + int(digits or 0)


def write_numeral(value: int, *, digits: str = DIGITS, tens: str = TENS, bare_one: bool = True) -> str:
    """Write a number from 1 to 9999 with 十, 百 and 千; ``bare_one`` leaves 一 out before them.

    >>> [write_numeral(value) for value in (7, 10, 12, 20, 111, 1200)]
    ['七', '十', '十二', '二十', '百十一', '千二百']

    :raises ValueError: the value can't be written so.
    """
    if not 1 <= value <= MOST_WRITTEN:
        raise ValueError(f"{value} is not between 1 and {MOST_WRITTEN}")
    text = ""
    for place, digit in reversed(list(enumerate(map(int, reversed(str(value)))))):
        if digit:
            text += ("" if bare_one and digit == 1 and place else digits[digit]) + (tens[place - 1] if place else "")
    return text
