"""Bring English words to the stem that their forms share. Pure.

Source: M. F. Porter, "The English (Porter2) stemming algorithm", snowballstem.org/algorithms/english/stemmer.html,
without its lists of single exceptions beyond those that technical texts use.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWELS = "aeiouy"
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_EXCEPTIONS = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "only": "onli",
    **{word: word for word in ("sky", "news", "howe", "atlas", "bias", "access", "proceed", "exceed", "succeed")},
    "gently": "gentl",
    "early": "earli",
    "singly": "singl",
    "andes": "andes",
    "canning": "canning",
}
_SPECIAL_R1 = ("gener", "commun", "arsen", "later", "emerg", "organ")
_REGION = re.compile("[aeiouy][^aeiouy]")
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "abli": "able",
    "entli": "ent",
    "ization": "ize",
    "izer": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "aliti": "al",
    "alli": "al",
    "fulness": "ful",
    "ousli": "ous",
    "ousness": "ous",
    "iveness": "ive",
    "iviti": "ive",
    "biliti": "ble",
    "bli": "ble",
    "fulli": "ful",
    "lessli": "less",
}
_STEP_3 = {
    "ational": "ate",
    "tional": "tion",
    "alize": "al",
    "icate": "ic",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize"),
    *("ion", "al", "er", "ic"),
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Give the stem of a lower-case English word; words of one or two letters stay.

    >>> [stem(word) for word in ("requirements", "required", "policies", "testing", "hopping", "generally")]
    ['requir', 'requir', 'polici', 'test', 'hop', 'general']
    """
    if len(word) <= 2:
        return word
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    word = re.sub(r"(?<=[aeiouy])y|^y", "Y", word)
    r1 = _r1(word)
    r2 = _after_region(word, r1)
    word = _step_1b(_step_1a(word), r1)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _step_2(word, r1)
    word = _step_3(word, r1, r2)
    word = _step_4(word, r2)
    return _step_5(word, r1, r2).lower()


def _r1(word: str) -> int:
    for beginning in _SPECIAL_R1:
        if word.startswith(beginning):
            return len(beginning)
    return _after_region(word, 0)


def _after_region(word: str, start: int) -> int:
    found = _REGION.search(word, start)
    return found.end() if found else len(word)


def _has_vowel(text: str) -> bool:
    return any(letter in _VOWELS for letter in text)


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, r1: int) -> str:
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            return word[: -len(ending)] + "ee" if len(word) - len(ending) >= r1 else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _mend(rest, r1) if _has_vowel(rest) else word
    return word


def _mend(rest: str, r1: int) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(_DOUBLES):
        return rest[:-1]
    return rest + "e" if r1 >= len(rest) and _ends_short(rest) else rest


def _ends_short(word: str) -> bool:
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return len(word) > 2 and word[-3] not in _VOWELS and word[-2] in _VOWELS and word[-1] not in _VOWELS + "wxY"


def _step_2(word: str, r1: int) -> str:
    for ending in sorted(_STEP_2, key=len, reverse=True):
        if word.endswith(ending):
            return word[: -len(ending)] + _STEP_2[ending] if len(word) - len(ending) >= r1 else word
    if word.endswith("ogi") and len(word) - 3 >= r1 and word[-4] == "l":
        return word[:-1]
    if word.endswith("li") and len(word) - 2 >= r1 and word[-3] in "cdeghkmnrt":
        return word[:-2]
    return word


def _step_3(word: str, r1: int, r2: int) -> str:
    for ending in sorted(_STEP_3, key=len, reverse=True):
        if word.endswith(ending):
            return word[: -len(ending)] + _STEP_3[ending] if len(word) - len(ending) >= r1 else word
    return word[:-5] if word.endswith("ative") and len(word) - 5 >= r2 else word


def _step_4(word: str, r2: int) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            is_removed = len(word) - len(ending) >= r2 and (ending != "ion" or word[-4:-3] in ("s", "t"))
            return word[: -len(ending)] if is_removed else word
    return word


def _step_5(word: str, r1: int, r2: int) -> str:
    if word.endswith("e"):
        in_r1 = len(word) - 1 >= r1
        if len(word) - 1 >= r2 or (in_r1 and not _ends_short(word[:-1])):
            return word[:-1]
    elif word.endswith("ll") and len(word) - 1 >= r2:
        return word[:-1]
    return word
