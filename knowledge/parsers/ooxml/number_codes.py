"""Take a spreadsheet's number format code apart, and fill its digit places.

Source: ECMA-376 part 1, 18.8.30 and 18.8.31 (numFmts).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

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
        return any(token.kind in ("date", "elapsed") for token in self.tokens)

    @property
    def is_text(self) -> bool:
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
    if match is None:
        return None
    compare, bound = _COMPARE[match[1]], float(match[2])

    def holds(number: float) -> bool:
        return compare(number, bound)

    return holds


def _currency(bracket: str) -> str:
    """Return the currency of ``[$¥-411]``; colours, conditions and languages show nothing."""
    return bracket[1:].partition("-")[0] if bracket.startswith("$") else ""


_MAX_DIGITS = 15
_GROUP = 3
# Room for the largest double with all the places that a format can have.
_EXACT = Context(prec=600, rounding=ROUND_HALF_UP)


def general_number(number: float) -> str:
    """Write a number without a needless fraction.

    >>> general_number(10.0), general_number(0.1 + 0.2)
    ('10', '0.3')
    """
    if number.is_integer() and abs(number) < 10**_MAX_DIGITS:
        return str(int(number))
    return f"{number:.{_MAX_DIGITS}g}"


def format_digits(number: float, section: Section) -> str:
    """Write a number that is not negative in a section without date parts; fractions (``# ?/?``) as decimals."""
    kinds = {token.kind for token in section.tokens}
    if "exponent" in kinds:
        return _with_literals(section, _scientific(number, section))
    if "general" in kinds or "digit" not in kinds or _is_fraction(section):
        shown = general_number(number) if kinds & {"general", "digit"} else ""
        return _with_literals(section, shown)
    return _Places(section).fill(number)


def _is_fraction(section: Section) -> bool:
    slash = next((index for index, token in enumerate(section.tokens) if token.value == "/"), None)
    after = section.tokens[slash + 1 :] if slash is not None else ()
    return slash is not None and section.tokens[slash - 1].kind == "digit" and any(t.kind == "digit" for t in after)


def _scientific(number: float, section: Section) -> str:
    kinds = [token.kind for token in section.tokens]
    mantissa = section.tokens[: kinds.index("exponent")]
    point = next((index for index, token in enumerate(mantissa) if token.kind == "point"), len(mantissa))
    decimals = sum(1 for token in mantissa[point:] if token.kind == "digit")
    return f"{number:.{decimals}E}"


def _with_literals(section: Section, shown: str) -> str:
    """Put a number written as a whole between the section's own texts."""
    parts: list[str] = []
    places = ("digit", "point", "comma", "exponent", "general")
    waiting = [shown]
    for token in section.tokens:
        if token.kind in places:
            parts.extend(waiting)
            waiting = []
        elif token.value != "/":
            parts.append(token.value)
    return "".join(parts).strip()


class _Places:
    """The digit places of a section: how many are before and after the point, and what scales the number."""

    def __init__(self, section: Section) -> None:
        self._tokens = section.tokens
        kinds = [token.kind for token in section.tokens]
        self._point = kinds.index("point") if "point" in kinds else len(kinds)
        self._whole = [index for index in range(self._point) if kinds[index] == "digit"]
        self._fraction = [index for index in range(self._point, len(kinds)) if kinds[index] == "digit"]
        commas = [index for index, kind in enumerate(kinds) if kind == "comma"]
        last = (self._whole or [self._point])[-1]
        self._grouped = any((self._whole or [last])[0] < index < last for index in commas)
        end = (self._fraction or [last])[-1]
        thousands = sum(1 for index in commas if last < index < self._point or index > end)
        self._shift = 2 * kinds.count("percent") - _GROUP * thousands

    def fill(self, number: float) -> str:
        """Write the number, which is not negative, rounded half up as Excel does."""
        exact = Decimal(repr(number)).scaleb(self._shift, context=_EXACT)
        rounded = exact.quantize(Decimal(1).scaleb(-len(self._fraction)), context=_EXACT)
        whole, _, fraction = f"{rounded:f}".partition(".")
        shown = self._whole_digits(whole.lstrip("0")) | self._fraction_digits(fraction)
        return "".join(self._show(index, token, shown) for index, token in enumerate(self._tokens)).strip()

    def _whole_digits(self, digits: str) -> dict[int, str]:
        """Map places before the point to their digits; the first takes all that are left over."""
        shown: dict[int, str] = {}
        place = 0
        for index in reversed(self._whole):
            taken = digits[-1:] if index != self._whole[0] else digits
            digits = digits[: len(digits) - len(taken)]
            padding = {"0": "0", "?": " "}.get(self._tokens[index].value, "")
            shown[index] = self._group(taken or padding, place)
            place += max(len(taken), 1)
        return shown

    def _group(self, digits: str, place: int) -> str:
        """Put commas behind the digits whose distance from the point, the last one's being ``place``, asks for one."""
        if not self._grouped:
            return digits
        parts = []
        for offset, digit in enumerate(reversed(digits)):
            at = place + offset
            comma = "," if at and at % _GROUP == 0 and digit.isdigit() else ""
            parts.append(digit + comma)
        return "".join(reversed(parts))

    def _fraction_digits(self, digits: str) -> dict[int, str]:
        """Map places behind the point to their digits; zeros at the end that the format leaves open are gone."""
        shown: dict[int, str] = {}
        open_end = True
        for index, digit in reversed(list(zip(self._fraction, digits, strict=True))):
            open_end = open_end and digit == "0" and self._tokens[index].value != "0"
            shown[index] = "" if open_end else digit
        return shown

    def _show(self, index: int, token: Token, digits: dict[int, str]) -> str:
        if token.kind == "digit":
            return digits[index]
        if token.kind == "point":
            return "." if index != self._point or any(digits[place] for place in self._fraction) else ""
        return "" if token.kind == "comma" else token.value
