"""The passages of one version, ranked for a question: exact, over all of them, without a permission filter."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import Error, transaction

from hub.core.database import in_one_line, is_connection_lost
from hub.core.errors import HubError
from knowledge.embedders import EmbeddingError
from knowledge.index.active_embedder import EmbedderMismatch, embedder_of, find_active_set, policy_id_of
from knowledge.index.analysis import analyse_query
from knowledge.index.vectors import vector_literal
from knowledge.models import Chunk, DocumentVersion, EmbeddingSet
from knowledge.search import notices
from knowledge.search.candidates import cosines_of
from knowledge.search.database import one_snapshot
from knowledge.search.indexes import index_in_postgresql
from knowledge.search.lexical import lexical_hits
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import weigh_terms
from knowledge.types.notices import Notice

logger = logging.getLogger(__name__)
# Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion", SIGIR 2009: k = 60.
RANK_CONSTANT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedChunks:
    """A version's chunks, the most relevant first, ``by_meaning``, ``by_words`` or both; ``notices`` say why not.

    In the document's order, and not ``is_ranked``, when neither did.
    """

    chunks: tuple[Chunk, ...]
    is_ranked: bool = True
    notices: tuple[Notice, ...] = ()
    by_meaning: bool = False
    by_words: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestChunks:
    """The nearest chunk by key, with its cosine (-1 to 1); ``notices`` say why there are none."""

    by_key: Mapping[str, tuple[Chunk, float]]
    notices: tuple[Notice, ...] = ()


def rank_within(version: DocumentVersion, question: str) -> RankedChunks:
    """Rank all chunks of a version by meaning and by words; equals in document order.

    No permission filter is applied: the document is one that the caller may read. Nine queries at most.
    A leg that fails is replaced by the other one and a notice. :raises django.db.Error: the passages can't be read, or
    the connection is lost.
    """
    active = find_active_set()
    if active is None:
        return RankedChunks(chunks=())
    chunks = _chunks(version, active)
    ids = [chunk.pk for chunk in chunks]
    remarks: list[Notice] = []
    legs = [_by_meaning(active, question, ids, remarks), _by_words(active, question, ids, remarks)]
    worth = {pk: sum(1 / (RANK_CONSTANT + leg[pk]) for leg in legs if pk in leg) for pk in ids}
    chunks.sort(key=lambda chunk: (-worth[chunk.pk], chunk.index))
    is_ranked = len(remarks) < 2
    return RankedChunks(
        chunks=tuple(chunks),
        is_ranked=is_ranked,
        notices=tuple(remarks) if is_ranked else (notices.PASSAGES_UNRANKED,),
        by_meaning=bool(legs[0]),
        by_words=bool(legs[1]),
    )


def chunks_of(version: DocumentVersion) -> tuple[Chunk, ...]:
    """Return all chunks of a version in its order; none without an embedding set. Asks nobody for permission."""
    active = find_active_set()
    return tuple(_chunks(version, active)) if active else ()


def _chunks(version: DocumentVersion, active: EmbeddingSet) -> list[Chunk]:
    return list(Chunk.objects.filter(version=version, policy_id=policy_id_of(version, active)).order_by("index"))


def nearest_within(version: DocumentVersion, questions: Mapping[str, str]) -> NearestChunks:
    """Find the passage of a version that is nearest in meaning to each question, by the question's key.

    Asks nobody for permission, as :func:`rank_within`. Two queries, and one per question, with a savepoint inside a
    transaction.
    """
    active = find_active_set()
    if active is None or not questions:
        return NearestChunks(by_key={})
    policy = policy_id_of(version, active)
    chunks = {chunk.pk: chunk for chunk in Chunk.objects.filter(version=version, policy_id=policy)}
    remarks: list[Notice] = []
    found: dict[str, tuple[Chunk, float]] = {}
    for key, question in questions.items():
        cosines = _cosines(active, question, list(chunks), remarks)
        if remarks:  # neither model nor vectors will answer the next question
            break
        if cosines:
            best = min(cosines, key=lambda pk: (-cosines[pk], chunks[pk].index))
            found[key] = (chunks[best], cosines[best])
    return NearestChunks(by_key=found, notices=tuple(remarks))


def _by_meaning(active: EmbeddingSet, question: str, ids: Sequence[int], remarks: list[Notice]) -> dict[int, int]:
    """Ranks from 1; empty, with a remark, where the embedding model or the vectors do not answer."""
    cosines = _cosines(active, question, ids, remarks)
    ordered = sorted(cosines, key=lambda pk: (-cosines[pk], pk))
    return {pk: rank for rank, pk in enumerate(ordered, 1)}


def _cosines(active: EmbeddingSet, question: str, ids: Sequence[int], remarks: list[Notice]) -> dict[int, float]:
    """Cosines of the question by chunk; empty, with a remark, where the model or the vectors do not answer."""
    try:
        vector = vector_literal(embedder_of(active).embed_query(question))
        with transaction.atomic():
            return cosines_of(active, vector, ids)
    except EmbeddingError as error:
        remarks.append(notices.vector_unavailable(error.text))
    except EmbedderMismatch:
        remarks.append(notices.EMBEDDER_MISMATCH)
    except HubError as error:
        logger.warning("passages are ranked without their meaning: %s", error.error_code)
        remarks.append(notices.vector_unavailable())
    except Error as error:
        _go_on_without("their meaning", error)
        remarks.append(notices.vector_unavailable())
    return {}


def _by_words(active: EmbeddingSet, question: str, ids: Sequence[int], remarks: list[Notice]) -> dict[int, int]:
    """Ranks from 1; empty, with a remark, where the lexical index does not answer."""
    own = PermittedChunks(
        sql="SELECT id FROM knowledge_chunk WHERE id = ANY(%s)", params=(list(ids),), is_empty=not ids, for_words=True
    )
    try:
        with one_snapshot():
            # How rare a word is in one document says little: it is weighed as in the whole set.
            weighed = weigh_terms(analyse_query(question), active, visible=None)
            sums = index_in_postgresql(active).sum_terms(weighed, own, limit=max(len(ids), 1))
            hits = lexical_hits(sums, own, active)
    except Error as error:
        _go_on_without("their words", error)
        remarks.append(notices.LEXICAL_UNAVAILABLE)
        return {}
    return dict(zip(hits.candidates.chunk_ids.tolist(), hits.ranks.tolist(), strict=True))


def _go_on_without(what: str, error: Error) -> None:
    """Note that a leg failed. A lost connection is no leg's affair, and passes: the other one would fail as well."""
    if is_connection_lost(error):
        raise error
    logger.error("passages are ranked without %s: %s", what, in_one_line(error))
