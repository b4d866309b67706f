"""片仮名の長音: whether katakana words keep their final ー."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sudachipy import SplitMode

from knowledge.text.morphology import tokenizer
from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.reading import Unit

# No word is longer; Sudachi refuses a run that is very long.
_LONGEST = 100
_WORD = re.compile(rf"[\u30a1-\u30fa\u30fc]{{2,{_LONGEST}}}")
# 外来語の表記 (内閣告示) has ー for the English endings -er, -or, -ar. Without it such words end in this row.
_OPEN_END = re.compile("[アカサタナハマヤラワガザダバパァャ]$")
# Endings of -er, -or, -ar, which JIS Z 8301 up to 2008 wrote without ー in words of three and more sounds.
_DROPPED_END = re.compile("[アカサタナハマヤラワガザダバパァャ]ー$")
_SMALL = re.compile("[ァィゥェォャュョー]")
_SHORTEST_DROPPED = 3


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
