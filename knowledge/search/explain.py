"""Tell how an answer came about, in terms of what the caller may know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from typing import Any

import numpy as np

from knowledge.index.analysis import OtherName, QueryTerms
from knowledge.models import EmbeddingSet
from knowledge.search.legs import Findings
from knowledge.search.scope import SMALL, PermittedChunks
from knowledge.search.weighing import SYNONYM_WEIGHT
from knowledge.types.search import Explanation, SearchFilter, SearchQuery


def explain(
    query: SearchQuery,
    embedding_set: EmbeddingSet,
    terms: QueryTerms,
    phrases: tuple[str, ...],
    permitted: PermittedChunks,
    findings: Findings,
) -> Explanation:
    """Collect what was looked for and how. Nothing in it depends on passages that the caller may not see, but
    for whether the permitted ones are few among all.

    So terms are listed whether or not the index has them, and without their rarity.
    """
    is_small = permitted.is_small
    return Explanation(
        mode=findings.mode.value,
        embedding_set=embedding_set.name,
        permitted=permitted.count if is_small else None,
        plans={
            "vector": _vector_plan(permitted),
            "lexical": "all permitted passages" if is_small else "best passages first, then permissions",
        },
        words=_with_others(terms.words, terms.other_words),
        bigrams=_with_others(terms.bigrams, terms.other_bigrams),
        codes=terms.codes,
        phrases=phrases,
        filters=_given(query.filter),
        candidates={
            "vector": int(np.count_nonzero(findings.vector_ranks)),
            "lexical": int(np.count_nonzero(findings.lexical_ranks)),
        },
    )


def _with_others(asked: Mapping[str, float], others: Sequence[OtherName]) -> dict[str, float]:
    """Add the terms of synonyms, with what all terms of one bring together of what they stand for."""
    terms = dict.fromkeys((term for other in others for term in other.terms), SYNONYM_WEIGHT)
    return {**asked, **{term: weight for term, weight in terms.items() if term not in asked}}


def _vector_plan(permitted: PermittedChunks) -> str:
    if permitted.is_small:
        return f"exact over up to {SMALL} permitted passages"
    return "all permitted passages" if permitted.is_comparable else "HNSW, iterative scan"


def _given(restriction: SearchFilter) -> dict[str, Any]:
    given = {one.name: getattr(restriction, one.name) for one in fields(restriction)}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in given.items() if value}
