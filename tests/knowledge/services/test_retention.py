"""Retention, legal hold and complete deletion: what goes, what stays, and what is written down."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from hub.access.models import AuditEvent, IdempotencyRecord
from hub.access.principals import Classification, Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from hub.core.lease import LeaseLost, claim
from knowledge import scheduled
from knowledge.backends.blob_locks import lock_bytes
from knowledge.backends.postings import prune_terms
from knowledge.backends.storage import StorageUnavailable, get_blob_store
from knowledge.models import (
    Blob,
    Collection,
    DeletionReceipt,
    Document,
    DocumentVersion,
    Figure,
    LexicalPosting,
    LexicalTerm,
)
from knowledge.search.hybrid import search
from knowledge.services import retention
from knowledge.services.collections import update_collection
from knowledge.services.deletion import delete_document, remove_stray_bytes, retire_document
from knowledge.services.editing import set_legal_hold, update_document
from knowledge.services.reading import count_documents
from knowledge.services.uploads import hash_file
from knowledge.types.search import SearchFilter, SearchQuery
from tests.factories import CollectionFactory, principal_with, upload_text, work_through

pytestmark = pytest.mark.django_db

TEXT = "# 契約書\n\n## 第1条\n\n甲は乙に前橋工場の図面を貸与する。\n"


@pytest.fixture
def document(tmp_path) -> Document:
    return work_through(upload_text(local_operator(), tmp_path, TEXT, name="契約書.md").document)


def age(document: Document, *, days: int) -> None:
    Document.objects.filter(pk=document.pk).update(updated_at=Now() - timedelta(days=days))


def keep_for(days: int | None) -> None:
    update_collection(principal=local_operator(), slug="default", retention_days=days)


def delete(document: Document) -> DeletionReceipt:
    return delete_document(principal=local_operator(), document_id=document.public_id)


def found(text: str) -> set[str]:
    return {hit.document_id for hit in search(local_operator(), SearchQuery(text=text)).hits}


def test_a_document_goes_when_its_period_is_over_and_not_a_day_before(document):
    keep_for(30)
    age(document, days=29)
    assert retention.enforce_retention() == 0
    age(document, days=31)
    assert retention.enforce_retention() == 1
    assert not Document.objects.exists()
    receipt = DeletionReceipt.objects.get()
    assert (receipt.document_id, receipt.principal) == (document.public_id, "system:retention")
    assert AuditEvent.objects.filter(action="DOCUMENT_DELETE", principal="system:retention").count() == 1


def test_without_a_period_nothing_ever_goes(document):
    age(document, days=100_000)
    assert retention.enforce_retention() == 0
    assert retention.retention_days(document.collection) is None


def test_the_setting_is_the_period_of_collections_without_their_own(document, tmp_path, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"retention_days": 10})
    longer = CollectionFactory(retention_days=1000)
    kept = upload_text(local_operator(), tmp_path, TEXT, name="長期.md", collection=longer.slug).document
    for each in (document, kept):
        age(each, days=11)
    assert retention.enforce_retention() == 1
    assert list(Document.objects.all()) == [kept]
    assert retention.retention_days(Collection.objects.get(slug="default")) == 10


def test_a_new_version_begins_the_period_again(document, tmp_path):
    keep_for(30)
    age(document, days=31)
    upload_text(local_operator(), tmp_path, TEXT + "\n## 第2条\n\n改定。\n", name="契約書.md")
    assert retention.enforce_retention() == 0


def test_a_retired_document_goes_as_well(document):
    keep_for(30)
    retire_document(document)
    age(document, days=31)
    assert retention.enforce_retention() == 1


def test_a_legal_hold_stops_retention_and_lifting_it_does_not_renew_the_period(document):
    keep_for(30)
    age(document, days=31)
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="訴訟 令和7年(ワ)第1号")
    assert retention.enforce_retention() == 0
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="")
    assert retention.enforce_retention() == 1


def test_the_preview_counts_what_would_go_and_what_is_held_and_deletes_nothing(document, tmp_path):
    held = upload_text(local_operator(), tmp_path, TEXT, name="保全.md").document
    upload_text(local_operator(), tmp_path, TEXT, name="新しい.md")
    set_legal_hold(principal=local_operator(), document_id=held.public_id, reason="調査")
    keep_for(30)
    for each in (document, held):
        age(each, days=31)
    [row] = retention.preview_retention(local_operator())
    assert (row.collection.slug, row.days, row.due, row.held) == ("default", 30, 1, 1)
    assert Document.objects.count() == 3
    assert retention.preview_retention(principal_with(None, row.collection)) == []


def test_a_batch_is_bounded_and_takes_the_oldest_first(document, tmp_path):
    keep_for(30)
    older = upload_text(local_operator(), tmp_path, TEXT, name="古い.md").document
    age(document, days=31)
    age(older, days=60)
    assert retention.enforce_retention(limit=1) == 1
    assert list(Document.objects.all()) == [document]


def test_the_task_deletes_what_is_due(document, queue):
    keep_for(30)
    age(document, days=31)
    assert scheduled.enforce_retention() == 1
    scheduled.tidy()
    assert not Document.objects.exists()


def test_nobody_deletes_under_a_legal_hold_and_the_reason_is_named(document):
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="訴訟 令和7年(ワ)第1号")
    with pytest.raises(Conflict, match="令和7年") as caught:
        delete(document)
    assert caught.value.error_code == "legal_hold"
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="  ")
    assert delete(document).document_id == document.public_id


def test_only_a_curator_sets_or_lifts_a_hold_and_both_are_written_down(tmp_path):
    collection = CollectionFactory()
    uploader = principal_with(Role.REVIEWER, collection)
    document = upload_text(uploader, tmp_path, TEXT, collection=collection.slug).document
    with pytest.raises(Forbidden):
        set_legal_hold(principal=uploader, document_id=document.public_id, reason="隠したい")
    curator = principal_with(Role.CURATOR, collection)
    set_legal_hold(principal=curator, document_id=document.public_id, reason="監査")
    set_legal_hold(principal=curator, document_id=document.public_id, reason="監査")
    with pytest.raises(Forbidden):
        update_document(principal=uploader, document_id=document.public_id, legal_hold="")
    set_legal_hold(principal=curator, document_id=document.public_id, reason="")
    events = AuditEvent.objects.filter(action__startswith="LEGAL_HOLD").order_by("pk")
    assert [(event.action, event.details["reason"]) for event in events] == [
        ("LEGAL_HOLD_SET", "監査"),
        ("LEGAL_HOLD_LIFT", "監査"),
    ]


def test_a_hold_without_end_is_refused_as_too_long(document):
    with pytest.raises(InvalidInput, match="legal_hold"):
        set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="長" * 301)


def test_what_is_said_of_a_document_can_be_changed_and_search_knows_it_at_once(document):
    changed = update_document(
        principal=local_operator(),
        document_id=document.public_id,
        title="富岡製糸場貸与契約",
        document_type="guideline",
        metadata={"部署": "法務"},
        classification=Classification.C3,
    )
    assert (changed.title, changed.document_type_id, changed.classification) == ("富岡製糸場貸与契約", "guideline", 3)
    hits = search(
        local_operator(),
        SearchQuery(
            text="製糸場", filter=SearchFilter(metadata={"部署": "法務"}, document_types=("guideline",)), detail=True
        ),
    ).hits
    assert hits[0].legs["lexical"].rank == 1
    event = AuditEvent.objects.get(action="DOCUMENT_CHANGE")
    assert event.details["changed"] == ["classification", "document_type_id", "metadata", "title"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"title": " "}, InvalidInput),
        ({"title": "題" * 501}, InvalidInput),
        ({"document_type": "novel"}, InvalidInput),
        ({"document_type": ""}, InvalidInput),
    ],
)
def test_changes_that_can_not_be_are_refused_and_nothing_is_changed(document, changes, error):
    with pytest.raises(error):
        update_document(principal=local_operator(), document_id=document.public_id, metadata={"a": 1}, **changes)
    document.refresh_from_db()
    assert document.metadata == {}


def test_nobody_classifies_above_their_ceiling_and_a_reader_changes_nothing(tmp_path):
    collection = CollectionFactory()
    document = upload_text(local_operator(), tmp_path, TEXT, collection=collection.slug).document
    with pytest.raises(Forbidden):
        update_document(
            principal=principal_with(Role.CURATOR, collection),
            document_id=document.public_id,
            classification=Classification.C3,
        )
    with pytest.raises(Forbidden):
        update_document(
            principal=principal_with(Role.READER, collection), document_id=document.public_id, title="変える"
        )


def test_a_deleted_document_is_found_by_no_search_no_count_and_no_word(document):
    assert found("前橋工場の図面") == {document.public_id}
    delete(document)
    assert found("前橋工場の図面") == set()
    assert count_documents(local_operator()) == (0, 0)
    assert not LexicalPosting.objects.exists()
    prune_terms()
    assert not LexicalTerm.objects.exists()
    receipt = DeletionReceipt.objects.get()
    assert "前橋" not in str(receipt.counts)


def test_kept_answers_that_show_the_document_are_forgotten(document):
    def keep(key: str, body: str) -> None:
        IdempotencyRecord.objects.create(
            key=key, principal="user:1", request_digest="x", status=200, body=body.encode()
        )

    keep("search", f'{{"document_id": "{document.public_id}", "content": "前橋工場"}}')
    keep("other", '{"document_id": "doc_other"}')
    delete(document)
    assert list(IdempotencyRecord.objects.values_list("key", flat=True)) == ["other"]


def add_figure(version: DocumentVersion, tmp_path, content: bytes) -> Figure:
    path = tmp_path / "figure.png"
    path.write_bytes(content)
    sha256, size_bytes = hash_file(path)
    get_blob_store().put(sha256, path)
    blob, _made = Blob.objects.get_or_create(sha256=sha256, defaults={"size_bytes": size_bytes})
    index = version.figures.count()
    return Figure.objects.create(version=version, index=index, blob=blob, media_type="image/png")


def test_figures_go_with_the_last_document_that_has_them(document, tmp_path, django_capture_on_commit_callbacks):
    other = upload_text(local_operator(), tmp_path, "# 別紙\n\n図を含む。\n", name="別紙.md").document
    alone = add_figure(document.latest_version, tmp_path, b"only here").blob_id
    shared = add_figure(document.latest_version, tmp_path, b"in both").blob_id
    add_figure(other.latest_version, tmp_path, b"in both")
    with django_capture_on_commit_callbacks(execute=True):
        receipt = delete(document)
    assert receipt.counts["figures"] == 2
    assert receipt.counts["blobs"] == 2
    names = set(get_blob_store().iter_names())
    assert (alone in names, shared in names) == (False, True)
    with django_capture_on_commit_callbacks(execute=True):
        delete(other)
    assert shared not in set(get_blob_store().iter_names())
    assert not Blob.objects.exists()


def test_a_file_that_is_another_documents_figure_stays(document, tmp_path, django_capture_on_commit_callbacks):
    other = upload_text(local_operator(), tmp_path, "# 別紙\n\n図を含む。\n", name="別紙.md").document
    add_figure(other.latest_version, tmp_path, TEXT.encode())
    with django_capture_on_commit_callbacks(execute=True):
        receipt = delete(document)
    assert receipt.counts["blobs"] == 0
    assert Blob.objects.filter(pk=document.latest_version.blob_id).exists()


def test_whoever_works_on_a_document_that_is_deleted_loses_the_lease(tmp_path):
    document = upload_text(local_operator(), tmp_path, TEXT).document
    lease = claim(DocumentVersion.objects.all(), document.latest_version_id)
    delete(document)
    with pytest.raises(LeaseLost):
        lease.lock()


def test_a_store_that_is_down_keeps_no_deletion_from_standing_and_the_bytes_go_later(
    document, monkeypatch, django_capture_on_commit_callbacks
):
    def fail(_sha256):
        raise StorageUnavailable("down")

    sha256 = document.latest_version.blob_id
    with monkeypatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
        patch.setattr(get_blob_store(), "delete", fail, raising=False)
        delete(document)
        for_later = set(get_blob_store().iter_names())
    assert not Document.objects.exists()
    assert sha256 in for_later
    remove_stray_bytes()
    assert sha256 not in set(get_blob_store().iter_names())


def test_bytes_with_a_row_are_no_stray_bytes(document):
    remove_stray_bytes()
    assert document.latest_version.blob_id in set(get_blob_store().iter_names())


def test_deleting_twice_says_that_it_is_gone(document):
    lock_bytes(document.latest_version.blob_id)
    delete(document)
    with pytest.raises(NotFound):
        delete(document)
