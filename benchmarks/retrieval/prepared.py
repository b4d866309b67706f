"""Questions whose vectors were made before, so that only the search is timed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.filling import filled
from benchmarks.retrieval.question_sets import QuestionSet, read_sets
from knowledge.index.active_embedder import active_embedding_set
from knowledge.search import recall

QUERIES = 200


class PreparedVectors:
    """Stands in for the model: gives each question a vector that was made before."""

    def __init__(self, by_text: Mapping[str, NDArray[np.float32]]) -> None:
        self._by_text = by_text

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._by_text[text]

    def query_is_truncated(self, _text: str) -> bool:
        return False


def prepare(by_text: Mapping[str, NDArray[np.float32]]) -> None:
    """Let searches of this process take these vectors instead of asking the model."""
    prepared = PreparedVectors(by_text)
    setattr(recall, "embedder_of", lambda _set: prepared)  # noqa: B010 (a stand-in for a name it imports)


def drawn_questions(sets: Sequence[QuestionSet]) -> list[str]:
    """Draw ``QUERIES`` questions, the same ones in every run."""
    return random.Random(0).sample([q.text for one in sets for q in one.questions], QUERIES)


def questions_of_filled(data: Path, chunks: int, folder: Path) -> list[str]:
    """Fill the hub in ``folder`` with ``chunks`` passages, if it is empty, and prepare questions of it."""
    sets = read_sets(data)
    vectors = filled(chunks, sets, active_embedding_set(), QUERIES, folder)
    questions = drawn_questions(sets)
    prepare(dict(zip(questions, vectors, strict=True)))
    return questions
