"""Compute the numbers that Word draws in front of headings and list items."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from docx.parts.document import DocumentPart

from knowledge.backends.parsers.docx_names import qn
from knowledge.backends.parsers.docx_styles import NumberingRef
from knowledge.backends.parsers.ooxml import Element

_LEVELS = 9
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_KANJI = "〇一二三四五六七八九"
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMark:
    """What stands before a list paragraph. ``text`` is empty for bullets and for kinds of number not known here."""

    level: int
    text: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    number_format: str
    pattern: str
    start: int


class Numbering:
    """Counts along the document; call ``mark`` once for each numbered paragraph, in order."""

    def __init__(self, part: DocumentPart) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._list_of: dict[str, str] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counters: defaultdict[str, dict[int, int]] = defaultdict(dict)
        root = _numbering_root(part)
        if root is not None:
            self._load(root)

    def _load(self, root: Element) -> None:
        for abstract in root.iterchildren(qn("w:abstractNum")):
            key = abstract.get(qn("w:abstractNumId"), "")
            levels = (_level(element) for element in abstract.iterchildren(qn("w:lvl")))
            self._levels[key] = dict(levels)
        for number in root.iterchildren(qn("w:num")):
            number_id = number.get(qn("w:numId"), "")
            abstract = number.find(qn("w:abstractNumId"))
            self._list_of[number_id] = abstract.get(qn("w:val"), "") if abstract is not None else ""
            for override in number.iterchildren(qn("w:lvlOverride")):
                start = override.find(qn("w:startOverride"))
                if start is not None:
                    self._starts[number_id, _int(override.get(qn("w:ilvl")))] = _int(start.get(qn("w:val")), 1)

    def mark(self, reference: NumberingRef | None) -> ListMark | None:
        """Count one paragraph and return its mark; None when it belongs to no list."""
        if reference is None or reference.number_id not in self._list_of:
            return None
        list_id = self._list_of[reference.number_id]
        levels = self._levels.get(list_id, {})
        level = min(reference.level, _LEVELS - 1)
        definition = levels.get(level)
        if definition is None:
            return ListMark(level=level, text="", is_number=False)
        if definition.number_format in ("bullet", "none"):
            return ListMark(level=level, text="", is_number=False)
        self._count(reference.number_id, list_id, level, definition)
        text = self._render(definition, levels, self._counters[list_id])
        return ListMark(level=level, text=text, is_number=True)

    def _count(self, number_id: str, list_id: str, level: int, definition: _Level) -> None:
        counters = self._counters[list_id]
        # A start override counts once, when its list is first used.
        start = self._starts.pop((number_id, level), None)
        if start is not None:
            counters[level] = start
        elif level in counters:
            counters[level] += 1
        else:
            counters[level] = definition.start
        for deeper in range(level + 1, _LEVELS):
            counters.pop(deeper, None)

    @staticmethod
    def _render(definition: _Level, levels: dict[int, _Level], counters: dict[int, int]) -> str:
        """Fill ``%1.%2`` with the counters; empty when a number format is not known."""
        known = True

        def fill(match: re.Match[str]) -> str:
            nonlocal known
            index = int(match[1]) - 1
            source = levels.get(index)
            value = counters.get(index, source.start if source else 1)
            text = format_number(value, source.number_format if source else "decimal")
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
    def value(name: str, default: str) -> str:
        child = element.find(qn(name))
        return str(child.get(qn("w:val"), default)) if child is not None else default

    definition = _Level(
        number_format=value("w:numFmt", "decimal"),
        pattern=value("w:lvlText", ""),
        start=_int(value("w:start", "1"), 1),
    )
    return _int(element.get(qn("w:ilvl"))), definition


def _int(value: str | None, default: int = 0) -> int:
    return int(value) if value is not None and value.isdecimal() else default


def format_number(value: int, number_format: str) -> str | None:
    """Write a list number in one of Word's formats; None for formats that are not known here.

    >>> [format_number(3, name) for name in ("decimal", "upperLetter", "aiueo", "decimalEnclosedCircle")]
    ['3', 'C', 'ウ', '③']
    """
    if number_format in ("decimal", "decimalHalfWidth"):
        return str(value)
    if number_format == "decimalZero":
        return f"{value:02d}"
    if number_format in ("decimalFullWidth", "decimalFullWidth2"):
        return str(value).translate({ord("0") + digit: ord("０") + digit for digit in range(10)})
    if number_format in ("upperLetter", "lowerLetter"):
        letter = chr(ord("A") + (value - 1) % 26) * ((value - 1) // 26 + 1)
        return letter if number_format == "upperLetter" else letter.lower()
    if number_format in ("upperRoman", "lowerRoman"):
        return _roman(value) if number_format == "lowerRoman" else _roman(value).upper()
    return _japanese_number(value, number_format)


def _japanese_number(value: int, number_format: str) -> str | None:
    if number_format in ("aiueoFullWidth", "aiueo") and 1 <= value <= len(_AIUEO):
        return _AIUEO[value - 1]
    if number_format in ("irohaFullWidth", "iroha") and 1 <= value <= len(_IROHA):
        return _IROHA[value - 1]
    if number_format in ("decimalEnclosedCircle", "decimalEnclosedCircleChinese") and 1 <= value <= 20:
        return chr(ord("①") + value - 1)
    if number_format in ("japaneseCounting", "japaneseDigitalTenThousand", "chineseCounting") and 1 <= value <= 99:
        tens, ones = divmod(value, 10)
        return ("" if tens < 2 else _KANJI[tens]) + ("十" if tens else "") + (_KANJI[ones] if ones else "")
    return None


def _roman(value: int) -> str:
    text = ""
    for unit, letters in _ROMAN:
        count, value = divmod(value, unit)
        text += letters * count
    return text
