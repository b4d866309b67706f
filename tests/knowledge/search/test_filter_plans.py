"""Whatever filter and permissions: both plans of both legs find what comparing everything finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hub.access.principals import Principal, local_operator
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.analysis import analyse_query
from knowledge.index.vectors import vector_literal, write_vectors
from knowledge.models import Chunk, ChunkVector
from knowledge.search import candidates, scope
from knowledge.search.indexes import index_of
from knowledge.search.lexical import lexical_hits
from knowledge.search.reach import reach_of
from knowledge.search.scope import permitted_chunks, searchable_chunks
from knowledge.search.visible import visible_versions
from knowledge.search.weighing import weigh_terms
from knowledge.types.search import SearchFilter
from tests.knowledge.search.shelf import Library, person
from tests.knowledge.search.test_vectors import unit_vectors

pytestmark = pytest.mark.django_db
DOCUMENTS, PER_DOCUMENT = 20, 20
WORDS = ("性能", "可用性", "認証", "監査", "移行", "試験", "応答時間", "暗号化", "権限", "障害")
# All, half, a tenth, a twentieth of the passages, and a single one.
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"metadata": {"half": True}},
    {"metadata": {"tenth": True}},
    {"metadata": {"one": True}},
    {"language": "en"},
)


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> list[Principal]:
    """Four hundred passages in two collections, and callers who may see both, one, the other, or nothing."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr("tests.knowledge.search.shelf.write_vectors", lambda *_given: None)
    monkeypatch.setattr("tests.knowledge.search.shelf.get_embedder", lambda: _NoModel())
    libraries = [Library(slug="open"), Library(slug="closed")]
    for number in range(DOCUMENTS):
        texts = ["、".join(rng.choice(WORDS, size=6)) + f"第{number}号" for _ in range(PER_DOCUMENT)]
        shares = {"half": number % 2 == 0, "tenth": number % 10 == 0, "one": number == 7}
        libraries[number % 4 == 0].add(f"{number}.md", texts, metadata=shares)
    first = Chunk.objects.order_by("pk").values_list("pk", flat=True)[0]
    Chunk.objects.filter(pk=first).update(language="en")
    keys = list(Chunk.objects.order_by("pk").values_list("pk", flat=True))
    centres = unit_vectors(20, seed=1)[rng.integers(20, size=len(keys))]
    vectors = centres + 0.05 * rng.normal(size=centres.shape).astype(np.float32)
    write_vectors(active_embedding_set(), keys, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE knowledge_chunkvector")
    one, other = person("one", granted=libraries[0].collection), person("other", granted=libraries[1].collection)
    return [local_operator(), one, other, person("nobody")]


class _NoModel:
    def embed_passages(self, texts: list[str]) -> None:
        return None


@given(
    caller=st.integers(0, 3),
    restriction=st.sampled_from(FILTERS),
    asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    seed=st.integers(0, 500),
)
@settings(
    max_examples=20,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_plan_finds_what_comparing_all_finds(
    corpus: list[Principal], caller: int, restriction: dict[str, object], asked: list[str], seed: int
) -> None:
    principal, embedding_set = corpus[caller], active_embedding_set()
    chosen = SearchFilter(**restriction)  # type: ignore[arg-type]
    allowed = set(searchable_chunks(reach_of(principal), chosen, embedding_set).values_list("pk", flat=True))
    query = unit_vectors(1, seed=seed)[0]
    exact = _exact(query, allowed)
    terms = weigh_terms(analyse_query("と".join(asked)), embedding_set, visible=visible_versions(reach_of(principal)))
    rankings = []
    for small, compared in ((10_000, 10_000), (0, 10_000), (0, 0)):
        with pytest.MonkeyPatch.context() as patch, transaction.atomic():
            patch.setattr(scope, "SMALL", small)
            patch.setattr(scope, "COMPARED", compared)
            patch.setattr(scope, "COMPARED_ONE_OF", 1)
            permitted = permitted_chunks(reach_of(principal), chosen, embedding_set)
            index = index_of(embedding_set)
            nearest = index.nearest(vector_literal(query), permitted, limit=200).chunk_ids.tolist()
            lexical = lexical_hits(index.sum_terms(terms, permitted, limit=20), permitted, embedding_set)
        assert set(nearest) <= allowed
        assert set(lexical.candidates.chunk_ids.tolist()) <= allowed
        assert len(nearest) >= min(10, len(allowed))
        assert len(set(nearest[:10]) & exact) >= 0.95 * len(exact) - 1
        values = np.round(lexical.words + lexical.bigrams, 9).tolist()
        ranks, keys = lexical.ranks.tolist(), lexical.candidates.chunk_ids.tolist()
        rankings.append(sorted(zip(ranks, keys, values, strict=True)))
    assert rankings[0] == rankings[1] == rankings[2]


def _exact(query: np.ndarray, allowed: set[int]) -> set[int]:
    rows = list(ChunkVector.objects.filter(chunk_id__in=allowed).values_list("chunk_id", "vector"))
    if not rows:
        return set()
    cosines = np.array([vector for _key, vector in rows], np.float32) @ query
    return {rows[place][0] for place in np.argsort(-cosines)[:10]}


@pytest.mark.usefixtures("database_superuser")
@pytest.mark.parametrize(("vectors", "kept"), [(-1, 200), (100_000, 200), (1_000_000, 400)])
def test_a_walk_through_many_vectors_keeps_more_of_them(vectors, kept):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_class SET reltuples = %s WHERE oid = 'knowledge_chunkvector'::regclass", [vectors])
        cursor.execute(candidates._SETTINGS.format(ef_search=candidates._EF_BY_SIZE))
        cursor.execute("SHOW hnsw.ef_search")
        assert cursor.fetchone() == (str(kept),)
