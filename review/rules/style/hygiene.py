"""Characters that nobody sees and that break search and copying."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from knowledge.text.folding import normalise
from review.rules.style.base import EVERYTHING, Mark, Params, unit_rule
from review.rules.style.reading import Unit

_ZERO_WIDTH = re.compile("[\u200b\u200c\u2060\ufeff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
_DECOMPOSED = re.compile("[\u3041-\u30ff][\u3099\u309a]")
_RADICAL = re.compile("[\u2e80-\u2fd5]")
_SQUARED = re.compile("[\u3300-\u33ff\u2116\u2121]")


def _codepoints(match: re.Match[str]) -> dict[str, object]:
    return {"code": " ".join(f"U+{ord(character):04X}" for character in match[0])}


@unit_rule("style.zero_width", kinds=EVERYTHING)
def zero_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark zero-width characters; the joiner in emoji stays."""
    for match in _ZERO_WIDTH.finditer(unit.plain):
        yield Mark(*match.span(), "", values=_codepoints(match))


@unit_rule("style.control_character", kinds=EVERYTHING)
def control_character(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark control characters."""
    for match in _CONTROL.finditer(unit.plain):
        yield Mark(*match.span(), "", values=_codepoints(match))


@unit_rule("style.decomposed_kana", kinds=EVERYTHING)
def decomposed_kana(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark kana followed by a combining voicing mark."""
    for match in _DECOMPOSED.finditer(unit.plain):
        yield Mark(*match.span(), unicodedata.normalize("NFC", match[0]))


@unit_rule("style.kanji_radical", kinds=EVERYTHING)
def kanji_radical(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark radicals that have a kanji of the same shape."""
    for match in _RADICAL.finditer(unit.plain):
        folded = normalise(match[0])
        yield Mark(*match.span(), folded if folded != match[0] else None)


@unit_rule("style.squared_unit", defaults={"allow": "㎡㎥㎢"}, kinds=EVERYTHING)
def squared_unit(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark squared characters. ``allow``: those that have no plain spelling."""
    for match in _SQUARED.finditer(unit.plain):
        if match[0] not in params["allow"]:
            yield Mark(*match.span(), normalise(match[0]))
