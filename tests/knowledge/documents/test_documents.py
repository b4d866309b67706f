"""Taking documents in: identity, versions, who may what, deletion."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Classification, Principal, Role, local_operator
from hub.access.services import create_token
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.documents.deletion import delete_document, retire_document
from knowledge.documents.documents import get_document
from knowledge.documents.editing import update_document
from knowledge.documents.reindexing import reindex_document
from knowledge.documents.uploads import Upload, clean_path, create_document, hash_file
from knowledge.models import (
    Blob,
    Chunk,
    ChunkVector,
    Document,
    DocumentVersion,
    LexicalEntry,
    LexicalPosting,
    LexicalStatistics,
)
from knowledge.storage import get_blob_store
from knowledge.types.chunks import ChunkOptions
from tests.factories import new_collection, principal_with, upload_text, work_through

pytestmark = pytest.mark.django_db

TEXT = "# 基本設計\n\n## 1. 目的\n\n予約を受け付けるシステムの設計を定める。\n\n## 2. 性能\n\n応答は 2 秒以内とする。\n"


def test_new_bytes_at_a_new_path_make_a_document_and_queue_its_first_stage(
    tmp_path, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as callbacks:
        done = upload_text(local_operator(), tmp_path, TEXT)
    assert done.outcome == "created"
    assert done.document.latest_version.number == 1
    assert len(callbacks) == 1


def test_the_same_file_again_changes_nothing_and_says_so(tmp_path):
    first = upload_text(local_operator(), tmp_path, TEXT)
    work_through(first.document)
    again = upload_text(local_operator(), tmp_path, TEXT)
    assert again.outcome == "unchanged"
    assert again.document.pk == first.document.pk
    assert DocumentVersion.objects.count() == 1


def test_other_bytes_at_the_same_path_make_a_new_version_and_search_keeps_the_old_until_it_is_ready(tmp_path):
    first = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    changed = upload_text(local_operator(), tmp_path, TEXT + "\n## 3. 可用性\n\n稼働率は 99.9 % とする。\n")
    assert changed.outcome == "new_version"
    document = Document.objects.get(pk=first.pk)
    assert document.current_version.number == 1
    document = work_through(document)
    assert document.current_version.number == 2


def test_when_a_new_version_is_ready_the_old_one_leaves_every_index_and_its_text_stays(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    old = document.current_version
    work_through(upload_text(local_operator(), tmp_path, TEXT.replace("2 秒", "3 秒")).document)
    assert Chunk.objects.filter(version=old).exists()
    assert not ChunkVector.objects.filter(chunk__version=old).exists()
    assert not LexicalEntry.objects.filter(chunk__version=old).exists()
    assert old.content.markdown == TEXT


def test_the_same_bytes_at_two_paths_are_two_documents_and_one_blob(tmp_path):
    first = upload_text(local_operator(), tmp_path, TEXT, name="a.md")
    second = upload_text(local_operator(), tmp_path, TEXT, name="b.md")
    assert second.outcome == "created"
    assert second.same_content_as == first.document.public_id
    assert Blob.objects.count() == 1


def test_a_twin_that_the_caller_may_not_see_is_not_named(tmp_path):
    hidden, open_ = new_collection(), new_collection()
    upload_text(local_operator(), tmp_path, TEXT, name="a.md", collection=hidden.slug)
    reviewer = principal_with(Role.REVIEWER, open_)
    assert upload_text(reviewer, tmp_path, TEXT, name="b.md", collection=open_.slug).same_content_as is None


def test_a_path_of_another_uploader_is_a_conflict_unless_a_curator_replaces_it(tmp_path):
    collection = new_collection()
    upload_text(principal_with(Role.REVIEWER, collection), tmp_path, TEXT, collection=collection.slug)
    other = principal_with(Role.REVIEWER, collection)
    with pytest.raises(Conflict):
        upload_text(other, tmp_path, TEXT + "x", collection=collection.slug, replace=True)
    curator = principal_with(Role.CURATOR, collection)
    with pytest.raises(Conflict):
        upload_text(curator, tmp_path, TEXT + "x", collection=collection.slug)
    assert upload_text(curator, tmp_path, TEXT + "x", collection=collection.slug, replace=True).outcome == "new_version"


@pytest.mark.parametrize("role", [None, Role.READER, Role.AUDITOR])
def test_who_may_not_upload_is_told_that_there_is_no_such_collection(tmp_path, role):
    collection = new_collection()
    with pytest.raises(NotFound):
        upload_text(principal_with(role, collection), tmp_path, TEXT, collection=collection.slug)


def test_nobody_uploads_above_their_ceiling(tmp_path):
    collection = new_collection()
    with pytest.raises(Forbidden):
        upload_text(
            principal_with(Role.CURATOR, collection),
            tmp_path,
            TEXT,
            collection=collection.slug,
            classification=Classification.C3,
        )


def test_a_new_version_may_raise_the_classification_and_leaves_it_otherwise(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    upload_text(local_operator(), tmp_path, TEXT + "\n個人情報を含む。\n", classification=Classification.C3)
    upload_text(local_operator(), tmp_path, TEXT + "\n改訂した。\n")
    document.refresh_from_db()
    assert document.classification == Classification.C3


def test_a_document_above_the_ceiling_is_not_replaced_either(tmp_path):
    collection = new_collection()
    curator = replace(principal_with(Role.CURATOR, collection), ceiling=Classification.C3)
    hidden = upload_text(curator, tmp_path, TEXT, collection=collection.slug, classification=Classification.C3).document
    lowered = replace(curator, ceiling=Classification.C2)
    done = upload_text(lowered, tmp_path, TEXT + "\n改訂した。\n", collection=collection.slug, replace=True)
    assert done.outcome == "created"
    assert done.document.pk != hidden.pk
    hidden.refresh_from_db()
    assert hidden.versions.count() == 1


def test_uploads_at_a_path_reach_the_document_that_the_uploader_means(tmp_path):
    collection = new_collection()
    alice = replace(principal_with(Role.CURATOR, collection), ceiling=Classification.C3)
    bob = principal_with(Role.REVIEWER, collection)
    secret = upload_text(alice, tmp_path, TEXT, collection=collection.slug, classification=Classification.C3).document
    public = upload_text(bob, tmp_path, TEXT, collection=collection.slug).document
    again = upload_text(alice, tmp_path, TEXT + "\n改訂した。\n", collection=collection.slug)
    assert (again.document.pk, again.outcome) == (secret.pk, "new_version")
    assert upload_text(bob, tmp_path, TEXT, collection=collection.slug).document.pk == public.pk
    with pytest.raises(Conflict):
        update_document(principal=alice, document_id=public.public_id, classification=Classification.C3)
    with pytest.raises(Conflict):
        update_document(principal=alice, document_id=secret.public_id, classification=Classification.C2)


def rest(principal: Principal) -> Client:
    user = User.objects.get(pk=principal.user_id)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


@pytest.mark.parametrize("with_replace", [False, True])
def test_an_upload_at_the_path_of_a_hidden_document_answers_as_at_a_free_one(tmp_path, with_replace):
    """The same person does the same in two collections; only one of them has a confidential document at the path."""
    seen = []
    for is_held in (True, False):
        collection = new_collection(name="文書")
        alice = replace(principal_with(Role.CURATOR, collection), ceiling=Classification.C3)
        if is_held:
            upload_text(alice, tmp_path, "# 秘密\n", collection=collection.slug, classification=Classification.C3)
        client, shown = rest(principal_with(Role.CURATOR, collection)), []
        for text in (TEXT, TEXT, TEXT + "\n改訂した。\n"):
            file = SimpleUploadedFile("設計書.md", text.encode())
            form = {"file": file, "collection": collection.slug, "replace": with_replace}
            shown.append(client.post("/api/v1/documents", form))
        shown.append(client.get("/api/v1/documents", {"collection": collection.slug}))
        seen.append([(answer.status_code, _unnamed(answer.json(), collection.slug)) for answer in shown])
    assert seen[0] == seen[1]
    assert [status for status, _body in seen[0]] == [202, 200, 202, 200]


CHANGING = {
    "document_id",
    "version_id",
    "job_id",
    "owner",
    "created_at",
    "updated_at",
    "next_cursor",
    "same_content_as",
}


def _unnamed(body: object, slug: str) -> object:
    if isinstance(body, dict):
        return {name: _unnamed(value, slug) for name, value in body.items() if name not in CHANGING}
    return [_unnamed(one, slug) for one in body] if isinstance(body, list) else str(body).replace(slug, "…")


def test_a_title_that_came_from_the_text_follows_it_and_one_that_was_given_stays(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    upload_text(local_operator(), tmp_path, TEXT.replace("基本設計", "基本設計（改訂）"))
    assert work_through(document).title == "基本設計（改訂）"
    upload_text(local_operator(), tmp_path, TEXT, title="予約の設計")
    upload_text(local_operator(), tmp_path, TEXT.replace("基本設計", "基本設計 第三版"))
    assert work_through(document).title == "予約の設計"


def test_a_title_is_one_line_without_what_nobody_sees(tmp_path):
    document = upload_text(local_operator(), tmp_path, TEXT, title="設計\u202efdp.exe\n第２版　案").document
    assert document.title == "設計fdp.exe 第２版　案"
    unnamed = upload_text(local_operator(), tmp_path, TEXT, name="白紙.md", title=" \u3000\u200b\n").document
    assert unnamed.title == "白紙.md"


def test_a_title_that_is_the_name_of_the_file_follows_the_file(tmp_path):
    titles = []
    for name in ("手順書_旧版.txt", "手順書_新版.txt"):
        file = tmp_path / name
        file.write_text(f"この手順書は、日常の運用を定める。{name}", encoding="utf-8")
        sha256, size_bytes = hash_file(file)
        upload = Upload(file=file, filename=name, sha256=sha256, size_bytes=size_bytes, path="手順書.txt")
        titles.append(work_through(create_document(principal=local_operator(), upload=upload).document).title)
    assert titles == ["手順書_旧版.txt", "手順書_新版.txt"]


def test_a_document_above_the_ceiling_answers_like_one_that_is_not_there(tmp_path):
    collection = new_collection()
    done = upload_text(local_operator(), tmp_path, TEXT, collection=collection.slug, classification=Classification.C3)
    reader = principal_with(Role.READER, collection)
    with pytest.raises(NotFound) as hidden:
        get_document(reader, done.document.public_id)
    with pytest.raises(NotFound) as absent:
        get_document(reader, "doc_00000000000000000000")
    assert hidden.value.error_code == absent.value.error_code


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../b.md", "a\x00b", "a\nb.md", "x" * 1001, "\ud800.md"])
def test_paths_that_can_not_be_kept_are_refused_by_name(path):
    with pytest.raises(InvalidInput) as caught:
        clean_path(path)
    assert caught.value.error_code == "invalid_path"


def test_paths_are_kept_in_composed_form_with_forward_slashes():
    assert clean_path("設計\\か\u3099いよう.md") == "設計/がいよう.md"


@pytest.mark.parametrize(("size", "overlap"), [(513, 50), (10, 0), (200, 150)])
def test_chunk_options_that_can_not_work_are_refused(tmp_path, size, overlap):
    options = ChunkOptions(size=size, overlap=overlap)
    with pytest.raises(InvalidInput):
        upload_text(local_operator(), tmp_path, TEXT, chunk_options=options)


def test_an_unknown_document_type_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(InvalidInput, match="basic_design"):
        upload_text(local_operator(), tmp_path, TEXT, document_type="novel")


def test_deleting_leaves_no_row_and_no_bytes_and_gives_a_receipt(tmp_path, django_capture_on_commit_callbacks):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    sha256 = document.latest_version.blob_id
    chunks = Chunk.objects.count()
    with django_capture_on_commit_callbacks(execute=True):
        receipt = delete_document(principal=local_operator(), document_id=document.public_id)
    assert receipt.counts.pop("graph") > 0
    assert receipt.counts == {"versions": 1, "chunks": chunks, "blobs": 1, "overwritten": 1}
    for model in (Document, DocumentVersion, Chunk, ChunkVector, LexicalEntry, LexicalPosting, Blob):
        assert not model.objects.exists(), model
    assert sha256 not in set(get_blob_store().iter_names())
    assert set(LexicalStatistics.objects.values_list("chunks", "total_length")) == {(0, 0)}


def test_bytes_that_another_document_uses_stay(tmp_path, django_capture_on_commit_callbacks):
    first = upload_text(local_operator(), tmp_path, TEXT, name="a.md")
    upload_text(local_operator(), tmp_path, TEXT, name="b.md")
    with django_capture_on_commit_callbacks(execute=True):
        receipt = delete_document(principal=local_operator(), document_id=first.document.public_id)
    assert receipt.counts["blobs"] == 0
    assert Blob.objects.get().pk in set(get_blob_store().iter_names())


def test_a_reader_can_not_delete_and_the_uploader_can(tmp_path):
    collection = new_collection()
    uploader = principal_with(Role.REVIEWER, collection)
    document = upload_text(uploader, tmp_path, TEXT, collection=collection.slug).document
    with pytest.raises(Forbidden):
        delete_document(principal=principal_with(Role.READER, collection), document_id=document.public_id)
    assert delete_document(principal=uploader, document_id=document.public_id).document_id == document.public_id


def test_reindexing_starts_from_the_beginning_and_gives_the_same_chunks(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    before = list(Chunk.objects.values_list("public_id", "content", "start_offset").order_by("index"))
    reindex_document(principal=local_operator(), document_id=document.public_id)
    document.latest_version.refresh_from_db()
    assert document.latest_version.status == "stored"
    work_through(document)
    assert list(Chunk.objects.values_list("public_id", "content", "start_offset").order_by("index")) == before


def test_a_retired_document_is_not_worked_on_again(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, TEXT).document)
    retire_document(document)
    with pytest.raises(Conflict) as refused:
        reindex_document(principal=local_operator(), document_id=document.public_id)
    assert refused.value.error_code == "document_retired"
    assert ChunkVector.objects.count() == 0


def test_uploads_are_in_the_audit_trail(tmp_path):
    done = upload_text(local_operator(), tmp_path, TEXT)
    event = AuditEvent.objects.get(action="DOCUMENT_UPLOAD")
    assert event.resource == f"document:{done.document.public_id}"
    assert event.principal == "operator"
