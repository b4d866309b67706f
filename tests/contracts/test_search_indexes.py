"""Indexes behind the port of search: one suite over PostgreSQL and over Qdrant's own engine in several shards.

The engine is told of changes by the hub's own sending; what is lost, repeated or delayed on the way is done by the
façade (`tests/contracts/qdrant_facade.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from hub.access.principals import Classification, Principal, local_operator
from hub.core.errors import Unavailable
from knowledge.documents.deletion import delete_document
from knowledge.documents.editing import update_document
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.engine import get_engine
from knowledge.index.postings import write_postings
from knowledge.index.vectors import write_vectors
from knowledge.models import Document, IndexChange, IndexGeneration
from knowledge.search import scope
from knowledge.search.hybrid import search
from knowledge.types.engines import Within
from knowledge.types.search import Hit, SearchDetail, SearchFilter, SearchMode, SearchQuery
from tests.contracts.engine_shelf import DESIGN, MEETING, filled, in_engine, send
from tests.contracts.qdrant_facade import Facade, Fault
from tests.knowledge.search.shelf import Library, person

pytestmark = pytest.mark.django_db

QUESTIONS = [
    "応答時間は何秒以内か",
    "可用性",
    "NFR-001のバックアップ",
    "会議で決めたこと",
    "TLS 証明書",
    "認証とパスワード",
]
# Both scores are rounded to the sixth decimal when they are shown.
SIXTH_DECIMAL = 1.5e-6
OTHER_NAMES = {"稼働率": "可用性", "アベイラビリティ": "可用性"}


def found(
    text: str,
    *,
    principal: Principal | None = None,
    mode: SearchMode = SearchMode.HYBRID,
    **restriction: tuple[str, ...],
) -> list[Hit]:
    only = SearchFilter(**restriction)  # type: ignore[arg-type]
    query = SearchQuery(text=text, mode=mode, filter=only, limit=50, detail=SearchDetail.EXPLAIN)
    return list(search(principal or local_operator(), query).hits)


def codes(text: str, mode: SearchMode = SearchMode.HYBRID) -> set[str]:
    return {notice.code for notice in search(local_operator(), SearchQuery(text=text, mode=mode)).notices}


def in_postgresql(settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"search_index": "embedded"})


@pytest.mark.parametrize("small", [scope.SMALL, 1], ids=["few permitted", "many permitted"])
@pytest.mark.parametrize("mode", list(SearchMode))
def test_both_find_the_same_passages_with_the_same_scores(
    generation: IndexGeneration, settings, monkeypatch: pytest.MonkeyPatch, mode: SearchMode, small: int
) -> None:
    monkeypatch.setattr(scope, "SMALL", small)
    of_engine = [found(text, mode=mode) for text in QUESTIONS]
    in_postgresql(settings)
    for text, hits in zip(QUESTIONS, of_engine, strict=True):
        expected = found(text, mode=mode)
        assert [hit.chunk_id for hit in hits] == [hit.chunk_id for hit in expected], text
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=SIXTH_DECIMAL)
        assert len(hits) >= 2


@pytest.mark.parametrize("small", [scope.SMALL, 1], ids=["few permitted", "many permitted"])
def test_what_other_names_bring_is_the_larger_of_both_in_either(
    generation: IndexGeneration, settings, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(scope, "SMALL", small)
    query = SearchQuery(text="可用性の目標", mode=SearchMode.LEXICAL, limit=50)

    def ask() -> list[tuple[str, float]]:
        hits = search(local_operator(), query, expand=lambda _text: OTHER_NAMES).hits
        return [(hit.chunk_id, round(hit.score, 5)) for hit in hits]

    of_engine = ask()
    in_postgresql(settings)
    assert of_engine == ask()
    assert any("稼働率" in hit.content for hit in search(local_operator(), query, expand=lambda _t: OTHER_NAMES).hits)


@pytest.mark.parametrize("small", [scope.SMALL, 1], ids=["few permitted", "many permitted"])
def test_a_reader_of_one_collection_finds_what_is_in_it_and_nothing_else(
    generation: IndexGeneration, library: Library, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(scope, "SMALL", small)
    reader = person("reader", granted=library.collection)
    nobody = person("nobody")
    for text in QUESTIONS:
        assert {hit.document_path for hit in found(text, principal=reader)} == {"設計書.md"}
        assert not found(text, principal=nobody)


def test_what_is_written_is_found_once_it_was_sent(generation: IndexGeneration, library: Library) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    before = {hit.document_path for hit in found("電子署名", mode=SearchMode.LEXICAL)}
    assert "追補.md" not in before
    send(generation)
    assert found("電子署名", mode=SearchMode.LEXICAL)[0].document_path == "追補.md"
    assert found("電子署名", mode=SearchMode.VECTOR)


@pytest.mark.parametrize("small", [scope.SMALL, 1], ids=["few permitted", "many permitted"])
def test_a_thousand_deleted_passages_are_gone_at_the_commit_while_the_engine_has_them_still(
    engine_set: None, library: Library, facade: Facade, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(scope, "SMALL", small)
    many = unembedded(library, "大量.md", [f"図書の予約番号は{number}番である。" for number in range(1000)])
    unembedded(library, "残り.md", ["図書の予約は窓口でも受け付ける。"])
    generation = filled()
    delete_document(principal=local_operator(), document_id=many.public_id)
    assert in_engine(generation) == 1000 + 1 + len(DESIGN) + len(MEETING)
    for mode in SearchMode:
        hits = found("図書の予約", mode=mode)
        assert {hit.document_path for hit in hits} <= {"残り.md", "設計書.md", "議事録.md"}
        assert any(hit.document_path == "残り.md" for hit in hits)
    send(generation)
    assert in_engine(generation) == 1 + len(DESIGN) + len(MEETING)


def test_an_engine_that_was_not_told_shows_nothing_that_is_hidden_now(
    generation: IndexGeneration, library: Library, facade: Facade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "SMALL", 1)
    reader = person("reader", granted=library.collection)
    assert found("応答時間", principal=reader)
    update_document(
        principal=local_operator(),
        document_id=library.made["設計書.md"].public_id,
        classification=Classification.C3,
    )
    assert not found("応答時間", principal=reader)
    facade.script.append(Fault.LOST)
    send(generation)
    assert not found("応答時間", principal=reader)
    update_document(
        principal=local_operator(),
        document_id=library.made["設計書.md"].public_id,
        classification=Classification.C1,
    )
    send(generation)
    assert found("応答時間", principal=reader)
    place = Within(collection_ids=(library.collection.pk,), ceiling=1)
    assert get_engine().count(generation.collection, place) == len(DESIGN)


@pytest.mark.parametrize("fault", [Fault.AWAY, Fault.LATE, Fault.WRONG])
def test_an_engine_that_fails_a_leg_is_told_and_the_other_leg_answers(
    generation: IndexGeneration, facade: Facade, fault: Fault
) -> None:
    facade.script.append(fault)
    assert codes("応答時間", SearchMode.VECTOR) >= {"vector_unavailable"}
    facade.script.append(fault)
    assert codes("応答時間", SearchMode.LEXICAL) >= {"lexical_unavailable"}


def test_without_the_engine_a_search_says_that_it_can_not_answer(generation: IndexGeneration, facade: Facade) -> None:
    facade.is_down = True
    for mode in SearchMode:
        with pytest.raises(Unavailable) as refused:
            found("応答時間", mode=mode)
        assert refused.value.error_code == "search_unavailable"
    facade.is_down = False
    assert found("応答時間")


def test_an_engine_that_is_behind_says_so(generation: IndexGeneration, library: Library) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    assert "index_behind" not in codes("応答時間")
    IndexChange.objects.filter(sent_at__isnull=True).update(created_at="2026-01-01T00:00:00Z")
    assert "index_behind" in codes("応答時間")


def unembedded(library: Library, path: str, texts: Sequence[str]) -> Document:
    """Add a document whose vectors are of chance, since the model would take a minute for a thousand."""
    document = Document.objects.create(collection=library.collection, path=path, title=path)
    version = library.make_version(document, texts)
    chunks = list(version.chunks.order_by("index"))
    vectors = np.random.default_rng(3).normal(size=(len(chunks), active_embedding_set().dimension))
    write_vectors(
        active_embedding_set(),
        [chunk.pk for chunk in chunks],
        (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32),
    )
    write_postings(chunks, title=path, path=path)
    document.current_version = document.latest_version = version
    document.save()
    return document
