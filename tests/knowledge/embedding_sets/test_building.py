"""Embedding sets built beside the active one, on real vectors, and kept in step with documents and policies."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models.functions import Now

from hub.core.errors import Conflict
from hub.core.lease import claim
from knowledge.documents.deletion import delete_document
from knowledge.documents.reading import count_documents, list_chunks
from knowledge.embedding_sets import builds, sets, switching
from knowledge.index import vectors
from knowledge.index.active_embedder import active_embedding_set, find_active_set
from knowledge.ingest import pipeline, stages
from knowledge.models import Chunk, Document, DocumentVersion, EmbeddingSet, LexicalStatistics
from knowledge.search.hybrid import search
from knowledge.tasks import sweep
from knowledge.types.chunks import ChunkOptions
from knowledge.types.search import SearchMode, SearchQuery
from tests.factories import upload_text, work_through
from tests.knowledge.embedding_server import embedding_server
from tests.knowledge.embedding_sets.sets import (
    DOCUMENTS,
    ME,
    QUESTION,
    SMALL,
    add,
    answer,
    build,
    inconsistencies,
    make,
    needed_by,
    switch,
    vectors_of,
)
from tests.knowledge.search.postings import posting_rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("corpus", "queue")]


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
    assert builds.take_waiting() == []
    assert build("fp32").status == "ready"
    assert vectors_of(made) == needed_by(made)
    assert active_embedding_set().backend == "bundled"
    assert answer() == before


def test_a_build_that_was_killed_goes_on_and_leaves_the_same_rows_as_a_clean_one(monkeypatch) -> None:
    clean = build(make("clean", chunk_options=SMALL).name)
    want = (vectors_of(clean), posting_rows())
    made = make("killed", chunk_options=SMALL)
    sets.start_build(principal=ME, name=made.name)
    _die_after(1, monkeypatch, made)
    assert 0 < len(vectors_of(made)) < len(want[0])
    assert builds.build_slice(made.pk) is False  # the dead one's lease holds
    EmbeddingSet.objects.filter(pk=made.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert builds.take_waiting() == [made.pk]
    assert builds.build_slice(made.pk) is False
    made.refresh_from_db()
    assert made.status == "ready"
    postings = posting_rows()
    assert (vectors_of(made), postings) == want


def _die_after(batches: int, monkeypatch, made: EmbeddingSet) -> None:
    """What SIGKILL does: the process is gone, its lease stays."""
    write, calls = vectors.write_vectors, []

    def write_then_die(*args, **kwargs):
        calls.append(args)
        if len(calls) > batches:
            raise SystemExit
        write(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(vectors, "write_vectors", write_then_die)
        with pytest.raises(SystemExit):
            builds.build_slice(made.pk)


def test_how_long_it_takes_is_told_before_the_first_slice_is_over(monkeypatch) -> None:
    made = make("told", chunk_options=SMALL)
    sets.start_build(principal=ME, name="told")
    monkeypatch.setattr(builds, "NOTE_EVERY_S", 0.0)
    _die_after(1, monkeypatch, made)
    made.refresh_from_db()
    progress = builds.progress_of(made)
    assert progress.done < progress.total
    assert progress.eta_s


def test_slices_are_bounded_and_progress_tells_what_is_left() -> None:
    made = make("sliced", chunk_options=SMALL)
    sets.start_build(principal=ME, name="sliced")
    before = builds.progress_of(made)
    assert (before.done, before.percent, before.eta_s) == (0, 0, None)
    slices = 1
    seen = []
    while builds.build_slice(made.pk, seconds=0):
        slices += 1
        made.refresh_from_db()
        seen.append(builds.progress_of(made))
    assert slices > 4
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert any(one.eta_s for one in seen)
    made.refresh_from_db()
    after = builds.progress_of(made)
    assert (after.done, after.percent, after.eta_s) == (len(needed_by(made)), 100, 0.0)
    assert after.per_second is not None


def test_only_one_worker_builds_a_set() -> None:
    made = make("held")
    sets.start_build(principal=ME, name="held")
    assert claim(EmbeddingSet.objects.all(), made.pk) is not None
    assert builds.build_slice(made.pk) is False
    assert vectors_of(made) == set()


def test_a_new_document_comes_to_every_set_that_is_kept(tmp_path: Path) -> None:
    fp32, small = make("fp32"), make("small", chunk_options=SMALL)
    build("fp32")
    build("small")
    document = work_through(
        upload_text(ME, tmp_path, "# 保守\n\n保守の窓口は平日の9時から17時まで。", name="保守.md").document
    )
    assert document.latest_version.status == "ready"
    assert builds.take_waiting() == [fp32.pk, small.pk]
    assert sweep() >= 2
    for made in (fp32, small):
        assert builds.build_slice(made.pk) is False
        made.refresh_from_db()
        assert made.status == "ready"
        assert vectors_of(made) == needed_by(made)
    switch("small")
    assert work_through(
        upload_text(ME, tmp_path, "# 廃棄\n\n媒体は破砕する。", name="廃棄.md").document
    ).current_version
    assert search(ME, SearchQuery(text="媒体の破砕")).hits[0].document_path == "廃棄.md"
    switching.roll_back(principal=ME)
    assert search(ME, SearchQuery(text="媒体の破砕", mode=SearchMode.VECTOR)).hits[0].document_path == "廃棄.md"
    assert vectors_of(active_embedding_set()) == needed_by(active_embedding_set())


def test_a_set_whose_model_is_away_holds_nobody_up(tmp_path: Path) -> None:
    with embedding_server() as server:
        made = make("server", "openai", model="projection", base_url=server.url)
        build("server")
        server.refuses = True
        add(tmp_path, "保守.md", "# 保守\n\n窓口は平日のみ。")
        assert builds.build_slice(made.pk) is False
        made.refresh_from_db()
        assert made.status == "building"
        assert "401" in made.status_reason
        assert builds.take_waiting() == []  # for a minute
        with pytest.raises(Conflict, match="401"):
            switch("server")
        server.refuses = False
        assert build("server").status == "ready"
        assert switch("server").is_active


def test_documents_that_go_during_a_build_leave_nothing_behind() -> None:
    made = make("small", chunk_options=SMALL)
    sets.start_build(principal=ME, name="small")
    builds.build_slice(made.pk, seconds=0)
    delete_document(principal=ME, document_id=Document.objects.get(path="性能.md").public_id)
    build("small")
    assert vectors_of(made) == needed_by(made)
    assert set(Chunk.objects.values_list("version__document__path", flat=True)) == {"認証.md"}


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
