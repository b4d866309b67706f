"""Letters: their width, kanji outside the common list, stray and unseen ones, the final ー of katakana."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache, partial

from sudachipy import SplitMode

from knowledge.text.folding import normalise
from knowledge.text.morphology import tokenizer
from review.rules.base import DATA
from review.rules.style.base import EVERYTHING, WITH_HEADINGS, Mark, Params, pattern_rule, unit_rule
from review.rules.style.reading import JAPANESE, Unit
from review.types import Severity

_KANJI = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANJI_RUN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
# Forms that fonts and input methods give for characters of the table (its 付 情報機器 notes): 𠮟る/叱る and so on.
_OTHER_FORMS = "叱填剥頬"
_HALFWIDTH_KANA = re.compile("[\uff66-\uff9f]+")
_FULLWIDTH = {"digits": "０-９", "letters": "Ａ-Ｚａ-ｚ"}
_STRAY = re.compile(f"(?<=[{JAPANESE}])[A-Za-zＡ-Ｚａ-ｚ](?=[{JAPANESE}\u2212－])")
_COMMON_TAILS = re.compile(
    "軸|値|検定|座標|方向|成分|番目|近傍|乗|次|型|個|回|倍|点|側|面|線|版|行|列|項|章|地点|社|氏|案|君|さん|言語|ファイル|分布|進"
)
# No word is longer; Sudachi refuses a run that is very long.
_LONGEST = 100
_WORD = re.compile(rf"[\u30a1-\u30fa\u30fc]{{2,{_LONGEST}}}")
# 外来語の表記 (内閣告示) has ー for the English endings -er, -or, -ar. Without it such words end in this row.
_OPEN_END = re.compile("[アカサタナハマヤラワガザダバパァャ]$")
# Endings of -er, -or, -ar, which JIS Z 8301 up to 2008 wrote without ー in words of three and more sounds.
_DROPPED_END = re.compile("[アカサタナハマヤラワガザダバパァャ]ー$")
_SMALL = re.compile("[ァィゥェォャュョー]")
_SHORTEST_DROPPED = 3
_ZERO_WIDTH = re.compile("[\u200b\u200c\u2060\ufeff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
_DECOMPOSED = re.compile("[\u3041-\u30ff][\u3099\u309a]")
_RADICAL = re.compile("[\u2e80-\u2fd5]")
_SQUARED = re.compile("[\u3300-\u33ff\u2116\u2121]")


pattern_rule("style.halfwidth_kana", (_HALFWIDTH_KANA, normalise), kinds=WITH_HEADINGS, skips_named=True)


@unit_rule(
    "style.fullwidth_alphanumeric", defaults={"classes": tuple(_FULLWIDTH)}, skips_named=True, kinds=WITH_HEADINGS
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


@unit_rule(
    "style.katakana_long_vowel",
    defaults={"convention": "keep", "endings": "er", "allow": ("アーキテクチャ", "インフラ", "カメラ", "データ")},
    skips_named=True,
)
def katakana_long_vowel(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark words that do not follow the ``convention``: ``keep`` the final ー (JTF, 外来語の表記), or ``omit`` it.

    ``omit`` is the custom of JIS Z 8301 before 2019: no ー at the end of words of three and more sounds. ``endings``:
    with ``er`` words such as セキュリティ and カテゴリ, whose long form few use, are left alone; ``all`` has them too.
    """
    for match in _WORD.finditer(unit.plain):
        for start, word in _units(match[0]):
            if params["endings"] == "er" and not _OPEN_END.search(word.rstrip("ー")):
                continue
            corrected = _kept(word) if params["convention"] == "keep" else _omitted(word)
            if corrected and word not in params["allow"]:
                at = match.start() + start
                yield Mark(at, at + len(word), corrected)


@lru_cache(maxsize=8192)
def _units(word: str) -> tuple[tuple[int, str], ...]:
    found = tokenizer().tokenize(word, SplitMode.A)
    return tuple((part.begin(), part.surface()) for part in found)


@lru_cache(maxsize=8192)
def _kept(word: str) -> str | None:
    """The dictionary's normalised form has the ー that the word lacks."""
    found = tokenizer().tokenize(word, SplitMode.A)
    if word.endswith("ー") or len(found) != 1 or len(word) < 2:
        return None
    normal = found[0].normalized_form()
    if normal == f"{word}ー":
        return str(normal)
    # Some entries are normalised to their Latin spelling; the long form then leads to the same one.
    longer = tokenizer().tokenize(f"{word}ー", SplitMode.A)
    same = len(longer) == 1 and longer[0].normalized_form() == normal and longer[0].dictionary_id() >= 0
    return f"{word}ー" if same and normal.isascii() else None


def _omitted(word: str) -> str | None:
    sounds = len(_SMALL.sub("", word))
    return word[:-1] if _DROPPED_END.search(word) and sounds >= _SHORTEST_DROPPED else None


# The joiner in emoji stays.
pattern_rule("style.zero_width", (_ZERO_WIDTH, ""), kinds=EVERYTHING)


pattern_rule("style.control_character", (_CONTROL, ""), kinds=EVERYTHING)


pattern_rule("style.decomposed_kana", (_DECOMPOSED, partial(unicodedata.normalize, "NFC")), kinds=EVERYTHING)


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
