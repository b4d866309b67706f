"""Letters: their width, kanji out of the common list, long runs of kanji, stray letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from knowledge.text.folding import normalise
from review.rules.findings import DATA
from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.reading import JAPANESE, Unit, UnitKind
from review.types import Severity

_KANJI = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANJI_RUN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
# Forms that fonts and input methods give for characters of the table (its 付 情報機器 notes): 𠮟る/叱る and so on.
_OTHER_FORMS = "叱填剥頬"
_HALFWIDTH_KANA = re.compile("[\uff66-\uff9f]+")
_FULLWIDTH = {"digits": "０-９", "letters": "Ａ-Ｚａ-ｚ"}
_STRAY = re.compile(f"(?<=[{JAPANESE}])[A-Za-zＡ-Ｚａ-ｚ](?=[{JAPANESE}\u2212－])")
_COMMON_TAILS = re.compile(
    "軸|値|検定|座標|方向|成分|番目|近傍|乗|次|型|個|回|倍|点|側|面|線|版|行|列|項|章|地点|社|氏|案|君|さん|言語|分布|進"
)


@unit_rule(
    "style.halfwidth_kana",
    skips_named=True,
    kinds=(UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION, UnitKind.HEADING),
)
def halfwidth_kana(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark runs of half-width katakana."""
    for match in _HALFWIDTH_KANA.finditer(unit.plain):
        yield Mark(*match.span(), normalise(match[0]))


@unit_rule(
    "style.fullwidth_alphanumeric",
    defaults={"classes": tuple(_FULLWIDTH)},
    skips_named=True,
    kinds=(UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION, UnitKind.HEADING),
)
def fullwidth_alphanumeric(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark runs of full-width letters and digits. ``classes``: digits, letters."""
    ranges = "".join(characters for name, characters in _FULLWIDTH.items() if name in params["classes"])
    for match in re.finditer(f"[{ranges}]+", unit.plain) if ranges else ():
        yield Mark(*match.span(), normalise(match[0]))


@unit_rule("style.uncommon_kanji", defaults={"allow": ""}, by_default=False, skips_named=True, severity=Severity.INFO)
def uncommon_kanji(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark kanji outside the table. ``allow``: characters that may stand."""
    known = _common_kanji() | frozenset(params["allow"])
    for match in _KANJI.finditer(unit.plain):
        if match[0] not in known:
            yield Mark(*match.span())


@unit_rule("style.kanji_run", defaults={"max": 8, "allow": ()}, severity=Severity.INFO, skips_named=True)
def kanji_run(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark more than ``max`` kanji in a row. ``allow``: words that may be that long."""
    for match in _KANJI_RUN.finditer(unit.plain):
        rest = match[0]
        for word in params["allow"]:
            rest = rest.replace(word, "")
        if len(rest) > params["max"]:
            yield Mark(*match.span(), values={"length": len(match[0]), "limit": params["max"]})


@unit_rule("style.stray_letter", defaults={"allow": "aiueon", "allow_common": True}, skips_named=True)
def stray_letter(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark single letters between Japanese ones.

    Params: ``allow`` (vowels and n, which input methods leave seldom), ``allow_common`` (x軸, p値 and the like).
    """
    for match in _STRAY.finditer(unit.plain):
        letter = normalise(match[0])
        is_common = params["allow_common"] and _COMMON_TAILS.match(unit.plain, match.end())
        if letter.islower() and letter not in params["allow"] and not is_common:
            yield Mark(*match.span())


@lru_cache(maxsize=1)
def _common_kanji() -> frozenset[str]:
    return frozenset("".join((DATA / "joyo_kanji.txt").read_text(encoding="utf-8").split())) | frozenset(_OTHER_FORMS)
