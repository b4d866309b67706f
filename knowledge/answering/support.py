"""Whether a cited passage bears a sentence out, told without any model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.answering.sentences import PlacedSentence, sentences_of, whole_passage
from knowledge.backends.analysis import analyse_passage, fold
from knowledge.types import Hit

# Half of what a sentence says must be in the words of the passages: a paraphrase keeps its nouns, an invention
# does not. Tried on the sentences of tests/knowledge/answering/test_support.py.
LEAST_SHARE = 0.5
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_KANJI_DIGITS = str.maketrans("〇一二三四五六七八九", "0123456789")


def shared_words(sentence: str, text: str) -> float:
    """The share of a sentence's terms that a text has too, from 0 to 1; words and neighbouring characters count alike.

    >>> shared_words("応答時間は3秒以内。", "検索の応答時間は3秒以内であること。")
    1.0
    """
    ours, theirs = analyse_passage("", sentence), analyse_passage("", text)
    shares = [
        sum(1 for term in own if term in others) / len(own)
        for own, others in ((ours.words, theirs.words), (ours.bigrams, theirs.bigrams))
        if own
    ]
    return max(shares, default=0.0)


def numbers_of(text: str) -> set[str]:
    """The numbers of a text, digits of any width, without separators of thousands: 1,000 and １０００ are the same."""
    return {match[0].replace(",", "") for match in _NUMBER.finditer(fold(text))}


def is_supported(sentence: str, passages: Sequence[Hit]) -> bool:
    """Tell whether the passages have the sentence's words, and every number in it.

    What it can't see is a sentence that turns what the passages say into its opposite with the same words.
    """
    text = "\n".join(" ".join([hit.title, *hit.section_path, hit.content]) for hit in passages)
    if not numbers_of(sentence) <= numbers_of(text) | numbers_of(text.translate(_KANJI_DIGITS)):
        return False
    return shared_words(sentence, text) >= LEAST_SHARE


def best_quote(sentence: str, hit: Hit) -> PlacedSentence:
    """The sentence of a passage that has the most words of ``sentence``; the first of equals."""
    candidates = list(sentences_of(hit)) or [whole_passage(hit)]
    return max(candidates, key=lambda one: (shared_words(sentence, one.text), -one.start))
