"""Indexes behind the port of search: one suite over PostgreSQL and over Qdrant's own engine in several shards.

The engine is told of changes by the hub's own sending; what is lost, repeated or delayed on the way is done by the
façade (`tests/contracts/qdrant_facade.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from django.db import transaction

from hub.access.principals import Classification, Principal, local_operator
from hub.core.errors import Conflict, Unavailable
from knowledge.documents.deletion import delete_document
from knowledge.documents.editing import update_document
from knowledge.generations import generations, reconciling, sending
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.engine import get_engine
from knowledge.index.postings import delete_postings, write_postings
from knowledge.index.vectors import write_vectors
from knowledge.models import Chunk, Document, IndexChange, IndexGeneration
from knowledge.search import scope
from knowledge.search.hybrid import search
from knowledge.types.engines import Within
from knowledge.types.search import Hit, SearchDetail, SearchFilter, SearchMode, SearchQuery
from tests.contracts.qdrant_facade import Facade, Fault, qdrant_facade
from tests.knowledge.search.shelf import Library, person

pytestmark = pytest.mark.django_db

DESIGN = [
    "応答時間は3秒以内とする。可用性は99.9%以上とする。",
    "認証は多要素認証とし、パスワードは12文字以上とする。",
    "バックアップは毎日午前2時に取得し、90日間保存する。NFR-001を満たす。",
    "稼働率は月ごとに報告する。障害時は30分以内に復旧する。",
    "通信はTLS 1.3で暗号化する。証明書は毎年更新する。",
]
MEETING = [
    "次回の会議は4月1日に行う。応答時間の測り方を決める。",
    "可用性の目標は前回の会議で合意した。NFR-001は見直さない。",
    "バックアップの保存期間を延ばす案は見送った。",
]
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


@pytest.fixture(scope="module")
def facade() -> Iterator[Facade]:
    with qdrant_facade() as running:
        yield running


@pytest.fixture
def engine_set(facade: Facade, settings) -> Iterator[None]:
    """Qdrant is set, and nothing is in it yet."""
    changes = {"search_index": "qdrant", "qdrant_url": facade.url, "qdrant_timeout_s": 1.0}
    settings.CONFIG = settings.CONFIG.model_copy(update=changes)
    yield
    facade.script.clear()
    facade.is_down = False
    facade.release()
    engine = get_engine()
    for name in list(facade.collections):
        engine.drop(name)
    engine.close()


@pytest.fixture
def library(db: None) -> Library:
    made = Library()
    made.add("設計書.md", DESIGN)
    other = Library(slug="meetings")
    other.add("議事録.md", MEETING)
    made.made |= other.made
    return made


@pytest.fixture
def generation(engine_set: None, library: Library) -> IndexGeneration:
    return filled()


def filled() -> IndexGeneration:
    """Make a generation, fill it, and have searches ask it."""
    made = generations.create_generation(principal=local_operator(), shards=3, copies=1)
    send(made)
    return generations.switch_to_generation(principal=local_operator(), generation_id=made.pk)


def send(generation: IndexGeneration) -> None:
    """Do what workers do until nothing is left to send; the pause after a failure is not waited for."""
    IndexGeneration.objects.filter(pk=generation.pk).update(lease_expires_at=None)
    while sending.work_on(generation.pk):
        pass


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
    assert facade_count(facade, generation) == 1000 + 1 + len(DESIGN) + len(MEETING)
    for mode in SearchMode:
        hits = found("図書の予約", mode=mode)
        assert {hit.document_path for hit in hits} <= {"残り.md", "設計書.md", "議事録.md"}
        assert any(hit.document_path == "残り.md" for hit in hits)
    send(generation)
    assert facade_count(facade, generation) == 1 + len(DESIGN) + len(MEETING)


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


@pytest.mark.parametrize("fault", [Fault.AWAY, Fault.HALF, Fault.TWICE])
def test_what_did_not_arrive_whole_is_sent_again(
    generation: IndexGeneration, library: Library, facade: Facade, fault: Fault
) -> None:
    chunks = library.add("追補.md", ["電子署名は長期署名とする。", "電子署名の検証は年に一度行う。"])
    delete_postings([library.made["議事録.md"].current_version.chunks.order_by("index")[0].pk])
    facade.script.append(fault)
    send(generation)
    waits = generations.lag_of(generation.pk).rows
    assert (waits == 0) == (fault is Fault.TWICE)
    assert bool(IndexGeneration.objects.get(pk=generation.pk).failure) == bool(waits)
    send(generation)
    assert not generations.lag_of(generation.pk).rows
    assert not IndexGeneration.objects.get(pk=generation.pk).failure
    assert facade_count(facade, generation) == generations.wanted_passages(generation)
    assert {hit.chunk_id for hit in found("電子署名", mode=SearchMode.LEXICAL)} == {one.public_id for one in chunks}


def test_what_comes_late_raises_a_stray_passage_that_nobody_sees_and_that_goes(
    generation: IndexGeneration, library: Library, facade: Facade
) -> None:
    facade.script.append(Fault.HELD)
    chunks = library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    delete_postings([chunk.pk for chunk in chunks])
    send(generation)
    facade.release()
    assert facade_count(facade, generation) == generations.wanted_passages(generation) + 1
    assert not found("電子署名 長期署名", mode=SearchMode.LEXICAL)
    assert reconciling.reconcile(generation.pk).stray == 1
    assert facade_count(facade, generation) == generations.wanted_passages(generation)


def test_what_was_lost_is_found_by_comparing(generation: IndexGeneration, library: Library, facade: Facade) -> None:
    facade.script.append(Fault.LOST)
    library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    facade.script.append(Fault.LOST)
    update_document(
        principal=local_operator(),
        document_id=library.made["議事録.md"].public_id,
        classification=Classification.C3,
    )
    send(generation)
    repaired = reconciling.reconcile(generation.pk)
    assert (repaired.missing, repaired.stray, repaired.retagged > 0) == (1, 0, True)
    assert found("電子署名", mode=SearchMode.LEXICAL)
    assert reconciling.reconcile(generation.pk) == reconciling.Reconciled()


def test_what_a_node_forgot_is_sent_once_more(generation: IndexGeneration, library: Library, facade: Facade) -> None:
    chunks = library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    numbers = list(Chunk.objects.filter(pk__in=[one.pk for one in chunks]).values_list("lexical_entry", flat=True))
    get_engine().delete(generation.collection, numbers)
    assert not found("電子署名", mode=SearchMode.LEXICAL)
    assert sending.send_again() > 0
    send(generation)
    assert found("電子署名", mode=SearchMode.LEXICAL)


def test_nothing_is_noted_of_what_was_rolled_back(generation: IndexGeneration, library: Library) -> None:
    with transaction.atomic():
        library.add("追補.md", ["電子署名は長期署名とする。"])
        assert generations.lag_of(generation.pk).rows
        transaction.set_rollback(True)
    assert not generations.lag_of(generation.pk).rows


def test_without_an_engine_nothing_is_noted_and_nothing_asked(library: Library, django_assert_num_queries) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    assert not IndexChange.objects.exists()
    with django_assert_num_queries(0):
        assert sending.take_waiting() == []
        assert generations.lags() == {}
    with pytest.raises(Conflict) as refused:
        generations.create_generation(principal=local_operator(), shards=3, copies=1)
    assert refused.value.error_code == "no_search_engine"


def test_an_engine_that_is_behind_says_so(generation: IndexGeneration, library: Library) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    assert "index_behind" not in codes("応答時間")
    IndexChange.objects.filter(sent_at__isnull=True).update(created_at="2026-01-01T00:00:00Z")
    assert "index_behind" in codes("応答時間")


def test_a_generation_is_switched_to_when_it_is_whole_and_back_with_one_row(
    engine_set: None, library: Library, facade: Facade
) -> None:
    first = generations.create_generation(principal=local_operator(), shards=3, copies=1)
    with pytest.raises(Conflict) as refused:
        generations.switch_to_generation(principal=local_operator(), generation_id=first.pk)
    assert refused.value.error_code == "index_generation_incomplete"
    assert found("応答時間")  # PostgreSQL answers as long as no generation is switched to
    send(first)
    library.add("追補.md", ["電子署名は長期署名とする。"])
    with pytest.raises(Conflict):
        generations.switch_to_generation(principal=local_operator(), generation_id=first.pk)
    send(first)
    generations.switch_to_generation(principal=local_operator(), generation_id=first.pk)
    with pytest.raises(Conflict) as refused:
        generations.drop_generation(principal=local_operator(), generation_id=first.pk)
    assert refused.value.error_code == "index_generation_active"
    second = filled()
    assert active_embedding_set().generation_id == second.pk
    generations.drop_generation(principal=local_operator(), generation_id=first.pk)
    send(first)
    assert list(facade.collections) == [second.collection]
    assert not IndexGeneration.objects.filter(pk=first.pk).exists()
    generations.switch_to_postgresql(principal=local_operator())
    asked = len(facade.requests)
    assert found("電子署名")
    assert len(facade.requests) == asked


def test_what_was_sent_stays_an_hour(generation: IndexGeneration, library: Library) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    sending.prune_changes()
    assert IndexChange.objects.exists()
    IndexChange.objects.update(sent_at="2026-01-01T00:00:00Z")
    sending.prune_changes()
    assert not IndexChange.objects.exists()


def facade_count(facade: Facade, generation: IndexGeneration) -> int:
    return get_engine().count(generation.collection, Within())


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
