"""The ways in which Japanese writes one word: with and without okurigana, its numeral in kanji or in digits. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from sudachipy import SplitMode

from knowledge.text.folding import fold_terms
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.numerals import DIGITS, NUMERAL, read_numeral

_KANJI = "[\u3005\u3400-\u4dbf\u4e00-\u9fff]"
_PIECES = re.compile(f"({_KANJI})([\u3041-\u3096]*)")
_NUMERAL_FIRST = re.compile(f"(?P<numeral>[0-9]+|{NUMERAL}+)(?P<rest>.*)", re.DOTALL)


@lru_cache(maxsize=4096)
def spellings(word: str) -> re.Pattern[str]:
    """Return what finds a word (folded) in a folded text, in each of its spellings that the dictionary holds for one.

    >>> [spellings("取り消し").search(text) is not None for text in ("予約取消", "予約を取り消す", "取りやめ")]
    [True, True, False]
    >>> [spellings("一人").search(text) is not None for text in ("1人10冊", "11人", "一人前")]
    [True, False, True]
    """
    form = _dictionary_form(word)
    return re.compile("|".join([re.escape(word), *_with_okurigana(word, form), *_with_another_numeral(word, form)]))


def spelt_as_in(text: str, words: Collection[str], others: Sequence[str]) -> str:
    """Write words (folded) of a text as some other folded texts do, where none of these has them as they are.

    >>> spelt_as_in("予約の取り消しは一人何件まで", ["取り消し", "一人"], ["予約取消は、1人3件まで", "取り消す"])
    '予約の取消は1人何件まで'
    """
    for word in words:
        if not any(word in other for other in others):
            found = (match[0] for other in others for match in spellings(word).finditer(other))
            text = text.replace(word, next((one for one in found if _is_same(one, word)), word))
    return text


def _is_same(one: str, other: str) -> bool:
    return _dictionary_form(one) == _dictionary_form(other)


def _with_okurigana(word: str, form: str) -> list[str]:
    """A pattern of the same kanji with as much okurigana as the dictionary gives each, or less."""
    pieces = _PIECES.findall(form)
    has_okurigana = len(pieces) > 1 and any(kana for _kanji, kana in pieces)
    if not has_okurigana or "".join(map("".join, pieces)) != form or _kanji_of(word) != _kanji_of(form):
        return []
    return ["".join(f"{kanji}{_or_less(kana)}" for kanji, kana in pieces)]


def _or_less(okurigana: str) -> str:
    """A pattern of okurigana or its end: わせ and せ of 問い合わせ, or nothing."""
    return f"(?:{'|'.join(okurigana[at:] for at in range(len(okurigana)))})?" if okurigana else ""


def _with_another_numeral(word: str, form: str) -> list[str]:
    """Patterns of the same word with its numeral in digits or in kanji: 1人 of 一人, but not 1般 of 一般."""
    found = _NUMERAL_FIRST.fullmatch(word)
    value = read_numeral(found["numeral"]) if found else None
    if found is None or value is None or not found["rest"]:
        return []
    numeral = str(value) if not found["numeral"].isdecimal() else DIGITS[value] if value < len(DIGITS) else ""
    other = f"{numeral}{found['rest']}"
    return [rf"(?<![0-9{DIGITS}]){other}"] if numeral and _dictionary_form(other) == form else []


def _dictionary_form(word: str) -> str:
    """The normalised form of a word, or the word itself where the dictionary cuts it into several."""
    found = tokenizer().tokenize(word[:MAX_INPUT_CHARACTERS], SplitMode.A)
    return fold_terms(found[0].normalized_form()) if len(found) == 1 else word


def _kanji_of(word: str) -> str:
    return "".join(kanji for kanji, _kana in _PIECES.findall(word))
