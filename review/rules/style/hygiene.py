"""Characters that nobody sees and that break search and copying."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from hub.core.texts import Text
from knowledge.text.folding import normalise
from review.rules.style.base import EVERYTHING, Params, unit_rule
from review.rules.style.places import Mark
from review.rules.style.reading import Unit

_ZERO_WIDTH = re.compile("[\u200b\u200c\u2060\ufeff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
_DECOMPOSED = re.compile("[\u3041-\u30ff][\u3099\u309a]")
_RADICAL = re.compile("[\u2e80-\u2fd5]")
_SQUARED = re.compile("[\u3300-\u33ff\u2116\u2121]")


def _codepoints(match: re.Match[str]) -> dict[str, object]:
    return {"code": " ".join(f"U+{ord(character):04X}" for character in match[0])}


@unit_rule(
    id="style.zero_width",
    title=Text(ja="ゼロ幅の文字", en="Zero-width characters"),
    looks_at=Text(ja="ゼロ幅スペースなどの見えない文字", en="zero-width spaces and the like"),
    message=Text(ja="見えない文字 {code} があります。", en="There is an invisible character {code}."),
    kinds=EVERYTHING,
)
def zero_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark zero-width characters; the joiner in emoji stays."""
    for match in _ZERO_WIDTH.finditer(unit.plain):
        yield Mark(*match.span(), "", values=_codepoints(match))


@unit_rule(
    id="style.control_character",
    title=Text(ja="制御文字", en="Control characters"),
    looks_at=Text(
        ja="改行とタブ以外の制御文字、書字方向の制御文字",
        en="control characters other than newline and tab, direction marks",
    ),
    message=Text(ja="制御文字 {code} があります。", en="There is a control character {code}."),
    kinds=EVERYTHING,
)
def control_character(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark control characters."""
    for match in _CONTROL.finditer(unit.plain):
        yield Mark(*match.span(), "", values=_codepoints(match))


@unit_rule(
    id="style.decomposed_kana",
    title=Text(ja="分解された濁点・半濁点", en="Decomposed kana"),
    looks_at=Text(
        ja="濁点・半濁点が別の文字になった仮名（NFD。macOS のファイル名から写した文字に多い）",
        en="kana with a separate voicing mark (NFD)",
    ),
    message=Text(
        ja="「{found}」は濁点・半濁点が別の文字です。「{to}」の 1 文字にします。",
        en="“{found}” has a separate voicing mark; use “{to}”.",
    ),
    kinds=EVERYTHING,
)
def decomposed_kana(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark kana followed by a combining voicing mark."""
    for match in _DECOMPOSED.finditer(unit.plain):
        yield Mark(*match.span(), unicodedata.normalize("NFC", match[0]))


@unit_rule(
    id="style.kanji_radical",
    title=Text(ja="部首の文字", en="Radicals in place of kanji"),
    looks_at=Text(
        ja="漢字と同じ形の部首の文字（PDF から写した文字に多い）",
        en="characters of the radicals' block that look like kanji",
    ),
    message=Text(
        ja="「{found}」は部首の文字です。漢字「{to}」にします。", en="“{found}” is a radical; use the kanji “{to}”."
    ),
    kinds=EVERYTHING,
)
def kanji_radical(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark radicals that have a kanji of the same shape."""
    for match in _RADICAL.finditer(unit.plain):
        folded = normalise(match[0])
        yield Mark(*match.span(), folded if folded != match[0] else None)


@unit_rule(
    id="style.squared_unit",
    title=Text(ja="組み文字の単位", en="Squared units"),
    looks_at=Text(
        ja="㎡、㎏、㌔、№ など 1 文字に組んだ単位・記号", en="units and signs in one character such as ㎏, ㌔, №"
    ),
    message=Text(ja="「{found}」は機種に依存する文字です。「{to}」と書きます。", en="Write “{found}” as “{to}”."),
    defaults={"allow": "㎡㎥㎢"},
    kinds=EVERYTHING,
)
def squared_unit(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark squared characters. ``allow``: those that have no plain spelling."""
    for match in _SQUARED.finditer(unit.plain):
        if match[0] not in params["allow"]:
            yield Mark(*match.span(), normalise(match[0]))
