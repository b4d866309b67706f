"""Compute the numbers that Word draws in front of headings and list items."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from docx.parts.document import DocumentPart

from knowledge.parsers.docx.styles import NumberingRef
from knowledge.parsers.docx.text import is_on, qn, value_of
from knowledge.parsers.ooxml.package import Element
from knowledge.text.numerals import DIGITS, MOST_WRITTEN, write_numeral

_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_LEGAL = "零壱弐参四伍六七八九"
_LEGAL_TENS = "拾百阡"
_ROMAN = dict(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
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
    for unit, letters in _ROMAN.items():
        count, value = divmod(value, unit)
        text += letters * count
    return text


_LEVELS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMark:
    """What is before a list paragraph. ``text`` is empty for bullets and for kinds of number not known here."""

    level: int
    text: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """``restart`` is how many levels above start this one anew, None all of them; ``plain`` writes 1 for 一."""

    number_format: str
    pattern: str
    start: int
    restart: int | None
    plain: bool


class Numbering:
    """Counts along the document; call ``mark`` once for each numbered paragraph, in order."""

    def __init__(self, part: DocumentPart) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._list_of: dict[str, str] = {}
        self._overrides: dict[str, dict[int, _Level]] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counters: defaultdict[str, dict[int, int]] = defaultdict(dict)
        root = _numbering_root(part)
        if root is not None:
            self._load(root)

    def _load(self, root: Element) -> None:
        links: dict[str, str] = {}
        named: dict[str, str] = {}
        for abstract in root.iterchildren(qn("w:abstractNum")):
            key = abstract.get(qn("w:abstractNumId"), "")
            self._levels[key] = dict(_level(element) for element in abstract.iterchildren(qn("w:lvl")))
            for name, target in (("w:numStyleLink", links), ("w:styleLink", named)):
                if (style := value_of(abstract, name)) is not None:
                    target[key if target is links else style] = style if target is links else key
        # A list may leave its levels to the one that defines its list style.
        targets = {key: named[style] for key, style in links.items() if style in named}
        for number in root.iterchildren(qn("w:num")):
            self._load_number(number, targets)

    def _load_number(self, number: Element, targets: dict[str, str]) -> None:
        number_id = number.get(qn("w:numId"), "")
        abstract = value_of(number, "w:abstractNumId") or ""
        self._list_of[number_id] = targets.get(abstract, abstract)
        for override in number.iterchildren(qn("w:lvlOverride")):
            level = _int(override.get(qn("w:ilvl")))
            if (start := value_of(override, "w:startOverride")) is not None:
                self._starts[number_id, level] = _int(start, 1)
            for element in override.iterchildren(qn("w:lvl")):
                self._overrides.setdefault(number_id, {})[level] = _level(element)[1]

    def mark(self, reference: NumberingRef | None) -> ListMark | None:
        """Count one paragraph and return its mark; None when it belongs to no list."""
        if reference is None or reference.number_id not in self._list_of:
            return None
        list_id = self._list_of[reference.number_id]
        levels = self._levels.get(list_id, {}) | self._overrides.get(reference.number_id, {})
        level = min(reference.level, _LEVELS - 1)
        definition = levels.get(level)
        if definition is None or definition.number_format == "bullet":
            return ListMark(level=level, text="", is_number=False)
        self._count(reference.number_id, self._counters[list_id], levels, level)
        text = _render(definition, levels, self._counters[list_id])
        return ListMark(level=level, text=text, is_number=definition.number_format != "none")

    def _count(self, number_id: str, counters: dict[int, int], levels: dict[int, _Level], level: int) -> None:
        # A start override counts once, when its list is first used.
        start = self._starts.pop((number_id, level), None)
        if start is not None:
            counters[level] = start
        elif level in counters:
            counters[level] += 1
        else:
            counters[level] = levels[level].start
        for deeper in range(level + 1, _LEVELS):
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or level < restart:
                counters.pop(deeper, None)


def _render(definition: _Level, levels: dict[int, _Level], counters: dict[int, int]) -> str:
    """Fill ``%1.%2`` with the counters; empty when a number format is not known."""
    known = True

    def fill(match: re.Match[str]) -> str:
        nonlocal known
        index = int(match[1]) - 1
        source = levels.get(index)
        value = counters.get(index, source.start if source else 1)
        text = format_number(value, source.number_format if source and not definition.plain else "decimal")
        known = known and text is not None
        return text or ""

    text = re.sub(r"%([1-9])", fill, definition.pattern).strip()
    return text if known else ""


def _numbering_root(part: DocumentPart) -> Element | None:
    for relation in part.rels.values():
        if relation.reltype.endswith("/numbering") and not relation.is_external:
            return relation.target_part.element
    return None


def _level(element: Element) -> tuple[int, _Level]:
    restart = value_of(element, "w:lvlRestart")
    definition = _Level(
        number_format=value_of(element, "w:numFmt") or "decimal",
        pattern=value_of(element, "w:lvlText") or "",
        start=_int(value_of(element, "w:start"), 1),
        restart=_int(restart) if restart is not None else None,
        plain=is_on(element.find(qn("w:isLgl"))),
    )
    return _int(element.get(qn("w:ilvl"))), definition


def _int(value: str | None, default: int = 0) -> int:
    return int(value) if value is not None and value.isdecimal() else default
