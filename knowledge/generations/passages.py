"""What a search engine is told of passages: their vectors, and their terms with BM25's weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from django.db.models import F
from numpy.typing import NDArray

from knowledge.index.active_embedder import chunks_of
from knowledge.index.analysis import PassageTerms
from knowledge.index.bm25_constants import CONSTANTS
from knowledge.index.segments import MAX_LENGTH, MAX_TF
from knowledge.index.terms import TermIds, term_ids_of, terms_of
from knowledge.models import Chunk, ChunkVector, IndexGeneration, LexicalField
from knowledge.types.engines import IndexedPassage, Tags

# An engine's terms are numbers of 32 bits.
MOST_TERM_ID = 2**32 - 1


class TermIdTooLarge(Exception):
    """There are more terms than an engine has numbers for."""


def numbers_after(generation: IndexGeneration, number: int, limit: int) -> list[int]:
    """Return the next numbers that passages of the generation's set have in the lexical index. One query."""
    numbered = Chunk.objects.filter(chunks_of(generation.embedding_set), lexical_entry__ordinal__gt=number)
    ordinals = numbered.order_by("lexical_entry__ordinal").values_list("lexical_entry__ordinal", flat=True)
    return list(ordinals[:limit])


def passages_of(generation: IndexGeneration, numbers: Sequence[int]) -> list[IndexedPassage]:
    """Read what an engine is told of passages; numbers that are gone, or of other sets, are left out. Three queries.

    Terms are those that the text has now, by the present edition of the analysis: what an older one indexed is about
    to be indexed again, under another number.
    """
    own = Chunk.objects.filter(chunks_of(generation.embedding_set), lexical_entry__ordinal__in=numbers)
    chunks = list(own.select_related("version__document").annotate(number=F("lexical_entry__ordinal")))
    vectors = dict(
        ChunkVector.objects.filter(embedding_set=generation.embedding_set, chunk__in=chunks).values_list(
            "chunk_id", "vector"
        )
    )
    terms = [terms_of(chunk, title=chunk.version.document.title, path=chunk.version.document.path) for chunk in chunks]
    term_ids = term_ids_of(terms)
    lengths = {LexicalField.WORD.value: generation.word_length, LexicalField.BIGRAM.value: generation.bigram_length}
    passages = []
    for chunk, own_terms in zip(chunks, terms, strict=True):
        document, vector = chunk.version.document, vectors.get(chunk.pk)
        ids, weights = _weighed(own_terms, term_ids, lengths)
        passages.append(
            IndexedPassage(
                number=chunk.number,
                document_id=document.pk,
                tags=Tags(collection_id=document.collection_id, classification=document.classification),
                vector=None if vector is None else np.array(vector, np.float32),
                term_ids=ids,
                weights=weights,
            )
        )
    return passages


def _weighed(
    terms: PassageTerms, term_ids: TermIds, average_lengths: Mapping[int, float]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Weigh a passage's terms as `FieldTerm.brings` does, without the question's share."""
    ids: list[int] = []
    weights: list[float] = []
    for field, counts in ((LexicalField.WORD.value, terms.words), (LexicalField.BIGRAM.value, terms.bigrams)):
        bm25, known = CONSTANTS[field], term_ids[field]
        length = min(counts.total(), MAX_LENGTH)
        added = bm25.k1 * (1 - bm25.b) + bm25.k1 * bm25.b / average_lengths[field] * length
        for text, number in counts.items():
            if text in known:
                tf = min(number, MAX_TF)
                ids.append(known[text])
                weights.append(tf / (tf + added))
    if max(ids, default=0) > MOST_TERM_ID:
        raise TermIdTooLarge(f"term {max(ids)} is above {MOST_TERM_ID}")
    return np.array(ids, np.int64), np.array(weights, np.float32)
