"""The numbers of a text, with their units, and its days, in whatever spelling. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sudachipy import SplitMode

from knowledge.index.morphemes import ENGLISH_STOP_WORDS, stem
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.numerals import read_numeral

NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
# Units, with what else they are called; the first spelling names them.
_UNITS = (
    ("時間", "hours", "hour"),
    ("分間", "分", "minutes", "minute"),
    ("秒間", "秒", "seconds", "second"),
    ("か月", "ヶ月", "カ月", "ケ月", "箇月", "月間", "months", "month"),
    ("日間", "日", "days", "day"),
    ("年間", "か年", "年", "years", "year"),
    ("人", "名"),
    ("%", "パーセント", "percent"),
    ("か所", "ヶ所", "カ所", "箇所"),
    *((unit,) for unit in ("円", "件", "回", "台", "部", "個", "世代", "文字", "週間", "営業日", "時", "月")),
)
_UNIT_NAMES = {spelling: names[0] for names in _UNITS for spelling in names}
_QUANTITY = re.compile(
    rf"(\d+(?:[.,]\d+)*)\s*({'|'.join(sorted(map(re.escape, _UNIT_NAMES), key=lambda name: -len(name)))})?"
)
# A number that is no part of a code or a version.
_OWN_NUMBER = re.compile(rf"(?<![a-z0-9][-._/])(?<![a-z_\d])(?<!\d[.,]){_QUANTITY.pattern}")
_COUNTED = re.compile(rf" ?(?!(?:{'|'.join(sorted(ENGLISH_STOP_WORDS))})\b)[a-z]+|[^\W\da-z\u3041-\u3096]{{1,4}}")
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_YEAR = re.compile(r"1\d{3}|20\d\d")
TIMES = frozenset({"day", "date", "year"})
"""The kinds of what says when: a day without its year, a day or month or year, and a year by its number alone."""


def numbers_of(text: str) -> set[str]:
    """The numbers of a text, without separators of thousands: 1,000, １０００, 千 and 一〇〇〇 are the same.

    >>> sorted(numbers_of("三秒、百二十件、3万5千円、一般の一部")), numbers_of("1,000人") == numbers_of("千人")
    (['120', '3', '35000'], True)
    """
    return {match[0].replace(",", "") for match in NUMBER.finditer(in_digits(fold_terms(text)))}


def in_digits(text: str) -> str:
    """Write numerals in digits; characters that are part of a word, as in 一般, stay."""
    pieces = (text[at : at + MAX_INPUT_CHARACTERS] for at in range(0, len(text), MAX_INPUT_CHARACTERS))
    words = (word for piece in pieces for word in tokenizer().tokenize(piece, SplitMode.A))
    return "".join(_value(word.surface()) if word.part_of_speech()[1] == "数詞" else word.surface() for word in words)


def _value(numeral: str) -> str:
    """Write 三, 百二十, 二〇二六 or 3万5千 in digits; what is no such number (数百, 1,000), or is digits, stays."""
    value = None if numeral.isdecimal() else read_numeral(numeral)
    return numeral if value is None else str(value)


def quantities_of(text: str) -> list[tuple[str, str]]:
    """Return the numbers of a text with their units, empty where there is none that is known."""
    found = _QUANTITY.findall(in_digits(fold_terms(text)))
    return [(number.replace(",", ""), _UNIT_NAMES.get(unit, "")) for number, unit in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A number or a day at ``[start, end)``; ``kind`` is its unit, and ``names`` are equal for equal ones.

    The names of a day are those of its month and year, too.
    """

    kind: str
    names: frozenset[str]
    start: int
    end: int


def values_in(text: str) -> list[Value]:
    """Return the quantities and days of a text that is folded and written in digits, in order."""
    found, rest = [], text
    for mention in find_dates(text):
        kind = "day" if mention.year is None else "date"
        found.append(Value(kind=kind, names=frozenset(mention.terms), start=mention.start, end=mention.end))
        rest = f"{rest[: mention.start]}{' ' * (mention.end - mention.start)}{rest[mention.end :]}"
    for match in _OWN_NUMBER.finditer(rest):
        names = frozenset({match[1].replace(",", "")})
        kind = _UNIT_NAMES.get(match[2], "") or _counted(rest, match)
        found.append(Value(kind=kind, names=names, start=match.start(), end=match.end()))
    return sorted(found, key=lambda value: value.start)


def _counted(text: str, number: re.Match[str]) -> str:
    """What a number without a known unit counts: the word behind it, 球団 of 6球団; or a year by its digits alone."""
    counted = _COUNTED.match(text, number.end())
    if counted:
        return "th" if counted[0] in _ORDINALS else stem(counted[0].strip())
    return "year" if _YEAR.fullmatch(number[1]) else ""


def unit_in(header: str) -> str:
    """Return the unit that a column names in brackets, 分 of 上限（分）; empty without one."""
    named = re.search(r"[(\[]([^()\[\]]+)[)\]]", fold_terms(header))
    return named[1] if named and named[1] in _UNIT_NAMES else ""
