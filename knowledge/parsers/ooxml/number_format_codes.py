"""Take a spreadsheet's number format code apart. Source: ECMA-376 part 1, 18.8.30 and 18.8.31 (numFmts)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)"?
    | \\(?P<escaped>.)
    | (?P<blank>_.|\*.)
    | \[(?P<elapsed>h+|m+|s+)\]
    | \[(?P<bracket>[^\]]{0,300}+)\]
    | (?P<general>General|G/標準)
    | (?P<noon>AM/PM|A/P|午前/午後)
    | (?P<exponent>E[+-])
    | (?P<date>y+|m+|d+|h+|s+|g+|e+|a{3,4}|r{1,2}(?![a-z]))
    | (?P<digit>[0#?])
    | (?P<point>\.)
    | (?P<comma>,)
    | (?P<percent>%)
    | (?P<text>@)
    | (?P<literal>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9.]+)")
# The long date and the time as the system shows them, here a Japanese one.
_SYSTEM_FORMATS = {"[$-F800]": 'yyyy"年"m"月"d"日"', "[$-F400]": "h:mm:ss"}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One part of a section; ``kind`` is a group of the pattern above, quoted and escaped text being ``literal``."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """How numbers of one kind (positive, negative, zero, those of a condition) or texts are shown."""

    tokens: tuple[Token, ...]
    condition: Callable[[float], bool] | None = None

    @property
    def is_date(self) -> bool:
        """Whether it shows a date or a time."""
        return any(token.kind in ("date", "elapsed") for token in self.tokens)

    @property
    def is_text(self) -> bool:
        """Whether it is for texts alone."""
        return any(token.kind == "text" for token in self.tokens)


def parse_code(code: str) -> tuple[Section, ...]:
    """Take a format code apart into its sections, in order.

    >>> [section.is_date for section in parse_code('yyyy/m/d;@')], parse_code('0"days"')[0].is_date
    ([True, False], False)
    >>> parse_code("[h]:mm")[0].is_date, parse_code("[Red]0.0")[0].is_date
    (True, False)
    """
    return tuple(_section(_SYSTEM_FORMATS.get(part[:8].upper(), part)) for part in _parts(code))


def _parts(code: str) -> Iterator[str]:
    start = 0
    for match in _TOKEN.finditer(code):
        if match["literal"] == ";":
            yield code[start : match.start()]
            start = match.end()
    yield code[start:]


def _section(part: str) -> Section:
    condition = None
    tokens = []
    for match in _TOKEN.finditer(part):
        kind, value = match.lastgroup or "", match[match.lastgroup or 0]
        if kind == "bracket":
            condition = _condition(value) or condition
            kind, value = "literal", _currency(value)
        elif kind in ("quoted", "escaped"):
            kind = "literal"
        if value and kind != "blank":
            tokens.append(Token(kind=kind, value=value))
    return Section(tokens=tuple(tokens), condition=condition)


def _condition(bracket: str) -> Callable[[float], bool] | None:
    match = _CONDITION.fullmatch(bracket)
    return partial(_holds, _COMPARE[match[1]], float(match[2])) if match else None


def _holds(compare: Callable[[float, float], bool], bound: float, number: float) -> bool:
    return compare(number, bound)


def _currency(bracket: str) -> str:
    """Return the currency of ``[$¥-411]``; colours, conditions and languages show nothing."""
    return bracket[1:].partition("-")[0] if bracket.startswith("$") else ""
