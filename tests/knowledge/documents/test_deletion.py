"""Deleting completely: what goes, what others keep, and what the receipt says."""

from __future__ import annotations

import pytest

from hub.access.models import IdempotencyRecord
from hub.access.principals import local_operator
from hub.core.errors import Conflict, NotFound
from hub.core.lease import LeaseLost, claim
from knowledge.documents.deletion import remove_stray_bytes
from knowledge.documents.editing import set_legal_hold
from knowledge.documents.reading import count_documents
from knowledge.documents.uploads import hash_file
from knowledge.index.postings import prune_terms
from knowledge.models import Blob, DeletionReceipt, Document, DocumentVersion, Figure, LexicalPosting, LexicalTerm
from knowledge.search.hybrid import search
from knowledge.storage import StorageUnavailable, get_blob_store
from knowledge.storage.blobs import lock_bytes
from knowledge.types.search import SearchQuery
from tests.factories import upload_text
from tests.knowledge.documents.contract import TEXT, delete

pytestmark = pytest.mark.django_db


def found(text: str) -> set[str]:
    return {hit.document_id for hit in search(local_operator(), SearchQuery(text=text)).hits}


def test_nobody_deletes_under_a_legal_hold_and_the_reason_is_named(document):
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="訴訟 令和7年(ワ)第1号")
    with pytest.raises(Conflict, match="令和7年") as caught:
        delete(document)
    assert caught.value.error_code == "legal_hold"
    set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="  ")
    assert delete(document).document_id == document.public_id


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
