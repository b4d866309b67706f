"""The life of embedding sets, on real vectors: built beside, kept in step, switched to under load, gone back from."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.core.errors import Conflict
from hub.core.lease import claim
from knowledge.backends.active_embedder import active_embedding_set, chunks_of, find_active_set, get_embedder
from knowledge.ingest import pipeline, set_builds, set_removal, stages
from knowledge.models import (
    Chunk,
    ChunkPolicy,
    ChunkVector,
    Document,
    DocumentVersion,
    EmbeddingSet,
    LexicalStatistics,
)
from knowledge.search.hybrid import search
from knowledge.services import embedding_sets, retrieval_evaluation, set_comparisons, set_switching
from knowledge.services.consistency import check_consistency
from knowledge.services.deletion import delete_document
from knowledge.services.embedding_sets import SetDraft
from knowledge.services.reading import count_documents, list_chunks
from knowledge.tasks import sweep
from knowledge.types.chunks import ChunkOptions
from knowledge.types.search import SearchMode, SearchQuery
from tests.factories import upload_text, work_through
from tests.knowledge.embedding_server import DIMENSION, embedding_server
from tests.knowledge.search.postings import posting_rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

ME = local_operator()
SMALL = ChunkOptions(size=60, overlap=0)
DOCUMENTS = {
    "性能.md": "# 性能設計\n\n## 応答時間\n\n画面の応答時間は通常時3秒以内とする。帳票の出力は10秒以内とする。"
    "夜間の一括処理は6時までに終える。\n\n## 移行\n\n旧システムの台帳を三回に分けて移す。移行のたびに件数と合計を"
    "照らし合わせる。食い違いがあれば移行を取りやめる。移行の責任者は情報システム部長とする。",
    "認証.md": "# 認証設計\n\n## 利用者の認証\n\n利用者の認証には多要素認証を用いる。合言葉は12文字以上とする。"
    "五回続けて誤った利用者は締め出す。\n\n## 記録\n\n操作の記録は一年間保存する。記録は改ざんを検知できること。",
}
QUESTION = "認証に失敗した利用者はどうなるか"


@pytest.fixture(autouse=True)
def corpus(db: None, tmp_path: Path) -> None:
    for name, text in DOCUMENTS.items():
        add(tmp_path, name, text)


def add(folder: Path, name: str, text: str, **more: object) -> Document:
    document = work_through(upload_text(ME, folder, text, name=name, **more).document)
    assert document.latest_version.status == "ready"
    return document


def make(name: str, backend: str = "bundled-fp32", **more: object) -> EmbeddingSet:
    return embedding_sets.create_set(principal=ME, draft=SetDraft(name=name, backend=backend, **more))


def build(name: str) -> EmbeddingSet:
    made = embedding_sets.start_build(principal=ME, name=name)
    while set_builds.build_slice(made.pk):
        pass
    made.refresh_from_db()
    return made


def switch(name: str) -> EmbeddingSet:
    return set_switching.switch_to(principal=ME, name=name)


def vectors_of(embedding_set: EmbeddingSet) -> set[str]:
    return set(ChunkVector.objects.filter(embedding_set=embedding_set).values_list("chunk__public_id", flat=True))


def needed_by(embedding_set: EmbeddingSet) -> set[str]:
    return set(Chunk.objects.filter(chunks_of(embedding_set)).values_list("public_id", flat=True))


def inconsistencies() -> set[str]:
    """What doctor would say; files of earlier tests, whose rows were flushed, aside."""
    return {found.code for found in check_consistency()} - {"blobs_without_rows"}


def answer(embedding_set: EmbeddingSet | None = None, **more: object) -> tuple:
    """All that a search says, without its timings."""
    result = search(ME, SearchQuery(text=QUESTION, **more), embedding_set=embedding_set)
    hits = tuple((hit.chunk_id, hit.score, hit.content, hit.is_context) for hit in result.hits)
    return hits, tuple(notice.code for notice in result.notices), result.total_found


# making


def test_the_active_set_comes_whole_with_its_policy_in_one_query(django_assert_num_queries) -> None:
    expected = EmbeddingSet.objects.select_related("policy").get(is_active=True)
    with django_assert_num_queries(1):
        found = find_active_set()
        assert found is not None
        assert found.policy == expected.policy
    for row, same in ((found, expected), (found.policy, expected.policy)):
        assert {**vars(row), "_state": None} == {**vars(same), "_state": None}
    found.status_reason = "読み取った行はそのまま保存できる"
    found.save(update_fields=["status_reason"])
    EmbeddingSet.objects.update(is_active=False)
    assert find_active_set() is None


def test_a_new_set_changes_nothing_until_it_is_switched_to() -> None:
    before = answer()
    made = make("fp32")
    assert (made.status, made.is_active, made.dimension) == ("building", False, 384)
    assert set_builds.take_waiting() == []
    assert build("fp32").status == "ready"
    assert vectors_of(made) == needed_by(made)
    assert active_embedding_set().backend == "bundled"
    assert answer() == before


# building


def test_a_build_that_was_killed_goes_on_and_leaves_the_same_rows_as_a_clean_one(monkeypatch) -> None:
    clean = build(make("clean", chunk_options=SMALL).name)
    want = (vectors_of(clean), posting_rows())
    made = make("killed", chunk_options=SMALL)
    embedding_sets.start_build(principal=ME, name=made.name)
    _die_after(1, monkeypatch, made)
    assert 0 < len(vectors_of(made)) < len(want[0])
    assert set_builds.build_slice(made.pk) is False  # the dead one's lease holds
    EmbeddingSet.objects.filter(pk=made.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert set_builds.take_waiting() == [made.pk]
    assert set_builds.build_slice(made.pk) is False
    made.refresh_from_db()
    assert made.status == "ready"
    postings = posting_rows()
    assert (vectors_of(made), postings) == want


def _die_after(batches: int, monkeypatch, made: EmbeddingSet) -> None:
    """What SIGKILL does: the process is gone, its lease stays."""
    write, calls = set_builds.write_vectors, []

    def write_then_die(*args, **kwargs):
        calls.append(args)
        if len(calls) > batches:
            raise SystemExit
        write(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(set_builds, "write_vectors", write_then_die)
        with pytest.raises(SystemExit):
            set_builds.build_slice(made.pk)


def test_how_long_it_takes_is_told_before_the_first_slice_is_over(monkeypatch) -> None:
    made = make("told", chunk_options=SMALL)
    embedding_sets.start_build(principal=ME, name="told")
    monkeypatch.setattr(set_builds, "NOTE_EVERY_S", 0.0)
    _die_after(1, monkeypatch, made)
    made.refresh_from_db()
    progress = set_builds.progress_of(made)
    assert progress.done < progress.total
    assert progress.eta_s


def test_slices_are_bounded_and_progress_tells_what_is_left() -> None:
    made = make("sliced", chunk_options=SMALL)
    embedding_sets.start_build(principal=ME, name="sliced")
    before = set_builds.progress_of(made)
    assert (before.done, before.percent, before.eta_s) == (0, 0, None)
    slices = 1
    seen = []
    while set_builds.build_slice(made.pk, seconds=0):
        slices += 1
        made.refresh_from_db()
        seen.append(set_builds.progress_of(made))
    assert slices > 4
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert any(one.eta_s for one in seen)
    made.refresh_from_db()
    after = set_builds.progress_of(made)
    assert (after.done, after.percent, after.eta_s) == (len(needed_by(made)), 100, 0.0)
    assert after.per_second is not None


def test_only_one_worker_builds_a_set() -> None:
    made = make("held")
    embedding_sets.start_build(principal=ME, name="held")
    assert claim(EmbeddingSet.objects.all(), made.pk) is not None
    assert set_builds.build_slice(made.pk) is False
    assert vectors_of(made) == set()


def test_a_new_document_comes_to_every_set_that_is_kept(tmp_path: Path) -> None:
    fp32, small = make("fp32"), make("small", chunk_options=SMALL)
    build("fp32")
    build("small")
    document = work_through(
        upload_text(ME, tmp_path, "# 保守\n\n保守の窓口は平日の9時から17時まで。", name="保守.md").document
    )
    assert document.latest_version.status == "ready"
    assert set_builds.take_waiting() == [fp32.pk, small.pk]
    assert sweep() >= 2
    for made in (fp32, small):
        assert set_builds.build_slice(made.pk) is False
        made.refresh_from_db()
        assert made.status == "ready"
        assert vectors_of(made) == needed_by(made)
    switch("small")
    assert work_through(
        upload_text(ME, tmp_path, "# 廃棄\n\n媒体は破砕する。", name="廃棄.md").document
    ).current_version
    assert "廃棄" in str(answer(embedding_set=None, limit=100)) or search(ME, SearchQuery(text="媒体の破砕")).hits
    set_switching.roll_back(principal=ME)
    assert search(ME, SearchQuery(text="媒体の破砕", mode=SearchMode.VECTOR)).hits[0].document_path == "廃棄.md"
    assert vectors_of(active_embedding_set()) == needed_by(active_embedding_set())


def test_a_set_whose_model_is_away_holds_nobody_up(tmp_path: Path) -> None:
    with embedding_server() as server:
        made = make("server", "openai", model="projection", base_url=server.url)
        build("server")
        server.refuses = True
        add(tmp_path, "保守.md", "# 保守\n\n窓口は平日のみ。")
        assert set_builds.build_slice(made.pk) is False
        made.refresh_from_db()
        assert made.status == "building"
        assert "401" in made.status_reason
        assert set_builds.take_waiting() == []  # for a minute
        with pytest.raises(Conflict, match="401"):
            switch("server")
        server.refuses = False
        assert build("server").status == "ready"
        assert switch("server").is_active


def test_documents_that_go_during_a_build_leave_nothing_behind() -> None:
    made = make("small", chunk_options=SMALL)
    embedding_sets.start_build(principal=ME, name="small")
    set_builds.build_slice(made.pk, seconds=0)
    delete_document(principal=ME, document_id=Document.objects.get(path="性能.md").public_id)
    build("small")
    assert vectors_of(made) == needed_by(made)
    assert set(Chunk.objects.values_list("version__document__path", flat=True)) == {"認証.md"}


# policies


def test_documents_follow_the_set_except_those_with_a_policy_of_their_own(tmp_path: Path) -> None:
    own = ChunkOptions(size=100, overlap=0)
    document = add(tmp_path, "自前.md", DOCUMENTS["認証.md"] * 3, chunk_options=own)
    before = list(list_chunks(ME, document.public_id).values_list("public_id", flat=True))
    follower = Document.objects.get(path="性能.md").public_id
    few = list_chunks(ME, follower).count()
    build(make("small", chunk_options=SMALL).name)
    assert list_chunks(ME, follower).count() == few
    assert inconsistencies() == set()
    switch("small")
    assert list(list_chunks(ME, document.public_id).values_list("public_id", flat=True)) == before
    assert list_chunks(ME, follower).count() > few
    assert count_documents(ME)[1] == len(needed_by(active_embedding_set()))
    assert Document.objects.get(path="性能.md").current_version.chunks_count == list_chunks(ME, follower).count()
    assert inconsistencies() == set()


def test_a_version_that_was_in_work_during_a_switch_is_cut_and_embedded_for_the_new_set(tmp_path: Path) -> None:
    build(make("small", chunk_options=SMALL).name)
    old = active_embedding_set()
    version = upload_text(
        ME, tmp_path, DOCUMENTS["認証.md"].replace("認証", "照合"), name="照合.md"
    ).document.latest_version
    while DocumentVersion.objects.get(pk=version.pk).status != "embedding":
        pipeline.advance(version.pk)
    switch("small")
    lease = claim(DocumentVersion.objects.all(), version.pk)
    assert lease is not None
    assert stages._publish(version, lease, old) == "embedding"
    lease.release()
    document = work_through(version.document)
    assert document.current_version_id == version.pk
    assert list_chunks(ME, document.public_id).first().policy_id == active_embedding_set().policy_id
    assert vectors_of(active_embedding_set()) == needed_by(active_embedding_set())


# switching


def test_after_a_switch_the_row_decides_and_not_the_settings() -> None:
    build(make("fp32").name)
    switch("fp32")
    assert get_embedder().name == "bundled-fp32"
    assert answer() == answer(EmbeddingSet.objects.get(name="fp32"))
    assert set_switching.roll_back(principal=ME).backend == "bundled"
    assert set_switching.roll_back(principal=ME).backend == "bundled-fp32"
    actions = AuditEvent.objects.filter(action__startswith="EMBEDDING_SET_").values_list("action", flat=True)
    assert sorted(actions) == [f"EMBEDDING_SET_{what}" for what in ("BUILD", "CREATE", "SWITCH", "SWITCH", "SWITCH")]


@contextmanager
def searchers(number: int, seen: list, **query: object) -> Iterator[None]:
    """Threads that search until the block is left; what they get, errors too, is in ``seen``."""
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                seen.append(answer(**query))
        except Exception as error:  # noqa: BLE001 (any failure fails the test)
            seen.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _number in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def switch_under_load(first: str, second: str, **query: object) -> None:
    """Every answer is wholly the one set's or wholly the other's, and each had its turn."""
    pure = [answer(EmbeddingSet.objects.get(name=name), **query) for name in (first, second)]
    assert pure[0] != pure[1]
    seen: list = []
    with searchers(3, seen, **query):
        for _round in range(3):
            for name in (second, first):
                switch(name)
                enough = len(seen) + 4
                while len(seen) < enough and not any(isinstance(one, Exception) for one in seen):
                    answer(**query)
    assert [one for one in seen if one not in pure] == []
    assert {pure.index(one) for one in seen} == {0, 1}


def test_no_answer_is_mixed_while_switching_between_two_precisions() -> None:
    build(make("fp32").name)
    switch_under_load("multilingual-e5-small-q4 1", "fp32", mode=SearchMode.VECTOR)


def test_no_answer_is_mixed_while_switching_between_chunk_policies() -> None:
    build(make("small", "bundled", chunk_options=SMALL).name)
    switch_under_load("multilingual-e5-small-q4 1", "small", with_context=True)


def test_no_answer_is_mixed_while_switching_between_dimensions() -> None:
    with embedding_server() as server:
        made = build(make("projection", "openai", model="projection", base_url=server.url).name)
        assert made.dimension == DIMENSION
        switch_under_load("multilingual-e5-small-q4 1", "projection")


# dropping


def test_dropping_clears_vectors_index_and_chunks_that_nobody_else_uses() -> None:
    small = build(make("small", chunk_options=SMALL).name)
    policy = ChunkPolicy.objects.get(pk=small.policy_id)
    embedding_sets.drop_set(principal=ME, name="small")
    assert set_builds.take_waiting() == [small.pk]
    assert set_removal.clear_slice(small.pk, seconds=0) is True
    while set_removal.clear_slice(small.pk):
        pass
    assert set_builds.take_waiting() == []
    assert vectors_of(small) == set()
    assert not Chunk.objects.filter(policy=policy).exists()
    assert not _has_index(small)
    assert inconsistencies() == set()
    with pytest.raises(Conflict):
        embedding_sets.start_build(principal=ME, name="small")


def _has_index(embedding_set: EmbeddingSet) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [f"chunkvector_hnsw_{embedding_set.pk}"])
        return cursor.fetchone()[0] is not None


def test_chunks_that_another_set_shares_stay_when_one_is_dropped() -> None:
    build(make("fp32").name)
    assert _has_index(EmbeddingSet.objects.get(name="fp32"))
    switch("fp32")
    first = EmbeddingSet.objects.get(is_active=False)
    before = answer()
    embedding_sets.drop_set(principal=ME, name=first.name)
    embedding_sets.clear_here(first.name)
    assert vectors_of(first) == set()
    assert answer() == before
    with pytest.raises(Conflict):
        set_switching.roll_back(principal=ME)


def test_a_search_that_began_before_a_drop_still_answers_whole() -> None:
    build(make("fp32").name)
    seen: list = []
    pure = [answer(one, mode=SearchMode.VECTOR) for one in EmbeddingSet.objects.order_by("pk")]
    with searchers(2, seen, mode=SearchMode.VECTOR):
        first = active_embedding_set().name
        switch("fp32")
        embedding_sets.drop_set(principal=ME, name=first)
        embedding_sets.clear_here(first)
        answer()
    assert [one for one in seen if one not in pure] == []


# comparing


CASES = [
    {"query": "画面は何秒で応答するか", "relevant": ["性能.md"]},
    {"query": "責任者は誰か", "relevant": [{"document": "性能.md", "text": "責任者は情報システム部長"}]},
    {"query": "記録をどれだけ保存するか", "relevant": [{"document": "認証.md", "text": "一年間保存"}], "weight": 2},
]


def import_cases() -> None:
    retrieval_evaluation.import_retrieval_cases(
        principal=ME, dataset="gold", lines=[json.dumps(case, ensure_ascii=False) for case in CASES]
    )


def test_two_sets_are_compared_on_the_same_questions() -> None:
    import_cases()
    _dataset, again = retrieval_evaluation.import_retrieval_cases(
        principal=ME, dataset="gold", lines=[json.dumps(CASES[0], ensure_ascii=False)]
    )
    assert (again.created, again.replaced) == (0, 1)
    build(make("fp32").name)
    run = set_comparisons.start_comparison(principal=ME, dataset="gold", candidate="fp32")
    assert (run.status, run.baseline.status) == ("queued", "queued")
    run = set_comparisons.wait_for_comparison(ME, run)
    assert (run.status, run.baseline.status) == ("completed", "completed")
    assert (run.subject, run.baseline.subject) == ("fp32", "multilingual-e5-small-q4 1")
    assert run.metrics["cases"] == len(run.scores) == 3
    for name in ("ndcg@10", "recall@10", "mrr@10"):
        assert 0.5 < run.metrics[name]["low"] <= run.metrics[name]["value"] <= 1.0
        assert run.metrics["delta"][name]["low"] <= 0 <= run.metrics["delta"][name]["high"]
    assert run.metrics["improved"] is None
    assert run.flips == []


# the command


def run_command(*arguments: str) -> dict:
    out = StringIO()
    call_command("embedding_set", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_each_step_has_a_command(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(json.dumps(case, ensure_ascii=False) for case in CASES), encoding="utf-8")
    assert (
        run_command("create", "small", "--backend", "bundled", "--chunk-size", "60", "--chunk-overlap", "0")["done"]
        == 0
    )
    built = run_command("build", "small")
    assert (built["status"], built["done"]) == ("ready", built["total"])
    assert run_command("import-cases", "--dataset", "gold", "--file", str(file))["created"] == 3
    assert run_command("compare", "small", "--dataset", "gold")["subject"] == "small"
    assert run_command("switch", "small")["is_active"]
    assert run_command("rollback")["name"] == "multilingual-e5-small-q4 1"
    assert run_command("drop", "small")["status"] == "dropped"
    names = [row["name"] for row in run_command("list")["embedding_sets"]]
    assert names == ["small", "multilingual-e5-small-q4 1"]


def test_building_a_set_that_cuts_otherwise_leaves_lexical_scores_alone() -> None:
    """Its passages have statistics of their own, and only the sets that search them count them."""

    def scores() -> list[tuple[str, float | None]]:
        result = search(ME, SearchQuery(text=QUESTION, mode=SearchMode.LEXICAL, limit=50))
        return [(hit.chunk_id, hit.score) for hit in result.hits]

    before = scores()
    assert before
    build(make("small", chunk_options=SMALL).name)
    assert scores() == before
    assert LexicalStatistics.objects.exclude(policy=active_embedding_set().policy).filter(chunks__gt=0).exists()
