"""Whether a cited passage bears a sentence out, told without any model."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sudachipy import SplitMode

from knowledge.answering.sentences import PlacedSentence, sentences_of, whole_passage
from knowledge.backends.analysis import analyse_passage, fold
from knowledge.backends.dates import find_dates
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.types.search import Hit

# Half of what a sentence says must be in the words of the passages: a paraphrase keeps its nouns, an invention
# does not. Tried on the sentences of tests/knowledge/answering/test_support.py.
LEAST_SHARE = 0.5
Terms = tuple[frozenset[str], frozenset[str]]
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_KANJI_DIGITS = str.maketrans("〇一二三四五六七八九", "0123456789")
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "億": 10**8, "兆": 10**12}
_NUMERALS = {*"0123456789〇一二三四五六七八九", *_TENS, *_MYRIADS}


def shared_words(sentence: str, text: str) -> float:
    """The share of a sentence's terms that a text has too, from 0 to 1; words and neighbouring characters count alike.

    >>> shared_words("応答時間は3秒以内。", "検索の応答時間は3秒以内であること。")
    1.0
    """
    return share_of(terms_of(sentence), terms_of(text))


def terms_of(text: str) -> Terms:
    """The terms of a text: its words, and its neighbouring characters."""
    found = analyse_passage("", text)
    return frozenset(found.words), frozenset(found.bigrams)


def share_of(ours: Terms, *theirs: Terms) -> float:
    """The share of some terms that others have, together; the larger one of words and of neighbouring characters."""
    shares = [
        sum(1 for term in own if any(term in others[field] for others in theirs)) / len(own)
        for field, own in enumerate(ours)
        if own
    ]
    return max(shares, default=0.0)


def numbers_of(text: str) -> set[str]:
    """The numbers of a text, without separators of thousands: 1,000, １０００, 千 and 一〇〇〇 are the same.

    >>> sorted(numbers_of("三秒、百二十件、3万5千円、一般の一部")), numbers_of("1,000人") == numbers_of("千人")
    (['120', '3', '35000'], True)
    """
    return {match[0].replace(",", "") for match in _NUMBER.finditer(_in_digits(fold(text)))}


def _in_digits(text: str) -> str:
    """Write numerals in digits; characters that are part of a word, as in 一般, stay."""
    pieces = (text[at : at + MAX_INPUT_CHARACTERS] for at in range(0, len(text), MAX_INPUT_CHARACTERS))
    words = (word for piece in pieces for word in tokenizer().tokenize(piece, SplitMode.A))
    return "".join(_value(word.surface()) if word.part_of_speech()[1] == "数詞" else word.surface() for word in words)


def _value(numeral: str) -> str:
    """Write 三, 百二十, 二〇二六 or 3万5千 in digits; what is no such number (数百, 1,000) stays."""
    if numeral.isdecimal() or not set(numeral) <= _NUMERALS:
        return numeral
    total = section = 0
    digits = ""
    for character in numeral.translate(_KANJI_DIGITS):
        if character.isdecimal():
            digits += character
        elif character in _TENS:
            section, digits = section + int(digits or 1) * _TENS[character], ""
        else:
            total, section, digits = total + (section + int(digits or 0) or 1) * _MYRIADS[character], 0, ""
    return str(total + section + int(digits or 0))


def is_supported(sentence: str, passages: Sequence[Hit]) -> bool:
    """Tell whether the passages have the sentence's words, and every number in it; a date in any calendar and spelling.

    What it can't see is a sentence that turns what the passages say into its opposite with the same words.
    """
    text = "\n".join(" ".join([hit.title, *hit.section_path, hit.context_prefix, hit.content]) for hit in passages)
    told = {term for mention in find_dates(fold(text)) for term in mention.terms}
    if not numbers_of(_without_dates(sentence, told)) <= numbers_of(text) | numbers_of(text.translate(_KANJI_DIGITS)):
        return False
    return shared_words(sentence, text) >= LEAST_SHARE


def _without_dates(sentence: str, told: Collection[str]) -> str:
    """Leave out the dates of a sentence that are told already."""
    folded = fold(sentence)
    for mention in reversed(find_dates(folded)):
        if mention.terms[0] in told:
            folded = f"{folded[: mention.start]} {folded[mention.end :]}"
    return folded


def best_quote(sentence: str, hit: Hit) -> PlacedSentence:
    """The sentence of a passage that has the most words of ``sentence``; the first of equals."""
    candidates = list(sentences_of(hit)) or [whole_passage(hit)]
    return max(candidates, key=lambda one: (shared_words(sentence, one.text), -one.start))
