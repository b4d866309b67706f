"""An answer without a language model: the sentences of the documents that answer best, word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from knowledge.answering.instructions import speaks_to_a_model
from knowledge.answering.sentences import PlacedSentence, sentences_of
from knowledge.answering.support import numbers_of, shared_words
from knowledge.answering.types import AnswerSentence
from knowledge.backends.active_embedder import EmbedderMismatch, get_embedder
from knowledge.backends.analysis import fold
from knowledge.backends.embedders.base import EmbeddingError
from knowledge.types.search import Hit

MAX_SENTENCES = 3
# Embedding one sentence takes some 5 ms with the bundled model; more than these have no word of the question.
MAX_EMBEDDED = 32
# A sentence that fits the question much worse than the best one is not part of the answer.
LEAST_OF_BEST = 0.75
_WORDS, _MEANING, _PASSAGE = 0.4, 0.4, 0.2
# Who asks when or how many is answered by a number, which no word of the question tells.
_NUMBER = 0.2
_ASKS_FOR_NUMBER = re.compile(
    r"何\s*(?:[秒分時日週月年件人名個回台円割点度桁%]|か[所月]|文字|ページ|パーセント)|いつ(?!も)|いく[つら]"
    r"|ど[のれ](?:[くぐ]らい|ほど|程度)|\b(?:when|how (?:many|much|long|often|large|fast|old))\b"
)


def best_sentences(question: str, hits: Sequence[Hit]) -> tuple[AnswerSentence, ...]:
    """Choose up to ``MAX_SENTENCES`` sentences, best first, each with its verbatim citation.

    Ranked by the words of the question that they have, by their similarity in meaning, by their passage's score, and
    for a question that asks when or how many by whether they tell a number. Without the embedding model similarity
    does not count.
    """
    candidates = _different([one for hit in hits for one in sentences_of(hit) if not speaks_to_a_model(one.text)])
    if not candidates:
        return ()
    words = [shared_words(question, one.text) for one in candidates]
    order = sorted(range(len(candidates)), key=lambda n: -words[n])[:MAX_EMBEDDED]
    candidates, words = [candidates[n] for n in order], [words[n] for n in order]
    meaning = _similarities(question, [one.text for one in candidates])
    number = _NUMBER if _ASKS_FOR_NUMBER.search(fold(question)) else 0.0
    scores = [
        _WORDS * words[n]
        + _MEANING * meaning[n]
        + _PASSAGE * (one.hit.score or 0.0)
        + (number if number and numbers_of(one.text) else 0.0)
        for n, one in enumerate(candidates)
    ]
    ranked = sorted(range(len(candidates)), key=lambda n: -scores[n])[:MAX_SENTENCES]
    return tuple(
        AnswerSentence(text=candidates[n].text, citations=(candidates[n].cite(),))
        for n in ranked
        if scores[n] >= LEAST_OF_BEST * scores[ranked[0]]
    )


def _different(candidates: Sequence[PlacedSentence]) -> list[PlacedSentence]:
    """Leave out repetitions; of sentences that overlapping passages share, the first stays."""
    seen: dict[str, PlacedSentence] = {}
    for one in candidates:
        seen.setdefault(fold(one.text), one)
    return list(seen.values())


def _similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Similarity in meaning, from 0 for the least similar text to 1 for the most similar one."""
    try:
        embedder = get_embedder()
        cosines = embedder.embed_passages(texts) @ embedder.embed_query(question)
    except (EmbeddingError, EmbedderMismatch):
        return [0.0] * len(texts)  # the search has said already that its vector leg is down
    spread = float(np.ptp(cosines))
    return [float((cosine - cosines.min()) / spread) if spread else 1.0 for cosine in cosines]
