"""Encrypted stores: nothing plain in them, rotation that may be killed, deletion that destroys the key."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command

from hub.access.principals import local_operator
from hub.core.encryption.errors import KeyMissing, SealBroken
from hub.core.encryption.key_text import new_key
from hub.core.encryption.sealed_files import MAGIC
from knowledge.documents.deletion import delete_document
from knowledge.documents.reading import open_original
from knowledge.models import Blob, Document, PendingBytes, SealedBlob
from knowledge.storage import get_blob_store, rotate, sealed_state
from knowledge.storage.blobs import bare_store, unknown_names
from tests.factories import upload_text

pytestmark = pytest.mark.django_db

TEXT = "# 設計\n\n監視は五分ごとに行い、異常は当番へ連絡する。\n"


@pytest.fixture(autouse=True)
def _empty_store():
    for name in list(bare_store().iter_names()):
        bare_store().delete(name)


@pytest.fixture
def keys(settings):
    def use(*keys: str) -> None:
        settings.CONFIG = settings.CONFIG.model_copy(update={"encryption_key": ",".join(keys)})

    return use


@pytest.fixture
def uploaded(tmp_path):
    def upload(text: str = TEXT, name: str = "設計書.md") -> Document:
        return upload_text(local_operator(), tmp_path, text, name=name).document

    return upload


def stored_files() -> list[Path]:
    folder = django_settings.HUB_DATA_DIR / "blobs"
    return [path for path in folder.glob("??/??/*") if path.is_file()]


def content_of(document: Document) -> str:
    with open_original(local_operator(), document.public_id)[1] as file:
        return file.read().decode()


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_store_holds_neither_the_text_nor_its_hash(keys, uploaded):
    keys(new_key())
    document = uploaded()
    (path,) = stored_files()
    assert path.read_bytes().startswith(MAGIC)
    assert path.name != sha256_of(TEXT)
    assert content_of(document) == TEXT
    assert list(get_blob_store().iter_names()) == [sha256_of(TEXT)]
    assert unknown_names() == []
    with get_blob_store().local_path(sha256_of(TEXT)) as copy:
        assert copy.read_text() == TEXT
        assert copy.stat().st_mode & 0o777 == 0o600
        assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert not copy.exists()


def test_the_same_bytes_again_are_one_object(keys, uploaded):
    keys(new_key())
    uploaded()
    uploaded(name="別名.md")
    assert len(stored_files()) == SealedBlob.objects.count() == 1


def test_without_the_key_or_with_another_a_sentence_says_which_is_missing(keys, uploaded):
    keys(new_key())
    document = uploaded()
    key_id = SealedBlob.objects.get().key_id
    keys()
    with pytest.raises(KeyMissing, match=f"{key_id}.*ENCRYPTION_KEY"):
        content_of(document)
    with pytest.raises(KeyMissing, match=key_id), get_blob_store().local_path(sha256_of(TEXT)):
        pass
    keys(new_key())
    with pytest.raises(KeyMissing, match=key_id):
        content_of(document)
    assert sealed_state().unknown == [key_id]


def test_an_object_in_the_place_of_another_is_refused(keys, uploaded):
    keys(new_key())
    document = uploaded()
    (mine,) = stored_files()
    uploaded("# 別の文書\n", name="別.md")
    (other,) = set(stored_files()) - {mine}
    mine.write_bytes(other.read_bytes())
    with pytest.raises(SealBroken, match=mine.name):
        content_of(document)


def test_deleting_destroys_the_key_at_once_and_the_receipt_says_so(keys, uploaded, django_capture_on_commit_callbacks):
    keys(new_key())
    document = uploaded()
    with django_capture_on_commit_callbacks() as later:
        receipt = delete_document(principal=local_operator(), document_id=document.public_id)
    row = SealedBlob.objects.get()
    assert (row.key_id, bytes(row.wrapped_key)) == ("", b"")
    assert receipt.counts["keys_destroyed"] == receipt.counts["blobs"] == 1
    assert "overwritten" not in receipt.counts
    for callback in later:
        callback()
    assert not stored_files()
    assert not SealedBlob.objects.exists()
    assert not PendingBytes.objects.exists()


def test_plain_bytes_are_overwritten_and_the_receipt_says_so(uploaded, django_capture_on_commit_callbacks, tmp_path):
    document = uploaded()
    (path,) = stored_files()
    (tmp_path / "link").hardlink_to(path)
    with django_capture_on_commit_callbacks(execute=True):
        receipt = delete_document(principal=local_operator(), document_id=document.public_id)
    assert not stored_files()
    assert set((tmp_path / "link").read_bytes()) == {0}
    assert receipt.counts["overwritten"] == receipt.counts["blobs"] == 1


def test_what_is_being_read_is_not_overwritten_and_goes_later(uploaded, django_capture_on_commit_callbacks):
    from knowledge.storage import remove_pending_bytes

    document = uploaded()
    with open_original(local_operator(), document.public_id)[1] as file:
        with django_capture_on_commit_callbacks(execute=True):
            delete_document(principal=local_operator(), document_id=document.public_id)
        assert file.read().decode() == TEXT
        assert remove_pending_bytes().in_use == 1
    assert remove_pending_bytes().removed == 1
    assert not stored_files()


def test_bytes_that_come_again_while_they_are_deleted_get_a_key_of_their_own(keys, uploaded):
    keys(new_key())
    document = uploaded()
    delete_document(principal=local_operator(), document_id=document.public_id)  # the removal waits for the commit
    again = uploaded()
    assert content_of(again) == TEXT


def test_rotation_encrypts_what_was_plain_and_wraps_anew_what_was_not(keys, uploaded):
    documents = [uploaded(f"# 文書{number}\n", name=f"{number}.md") for number in range(3)]
    old, new = new_key(), new_key()
    keys(old)
    documents.append(uploaded())
    assert (sealed_state().plain, sealed_state().waiting) == (3, 3)
    call_command("encryption", "rotate")
    assert (sealed_state().plain, sealed_state().waiting) == (0, 0)
    assert all(path.read_bytes().startswith(MAGIC) for path in stored_files())
    sealed = {path: path.read_bytes() for path in stored_files()}
    keys(new, old)
    done = rotate(lambda _done: None)
    assert (done.rewrapped, done.encrypted) == (4, 0)
    assert {path: path.read_bytes() for path in stored_files()} == sealed
    keys(new)
    assert [content_of(document) for document in documents] == [*(f"# 文書{n}\n" for n in range(3)), TEXT]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("after", range(1, 9))
def test_a_rotation_that_was_killed_goes_on_and_everything_stays_readable(keys, uploaded, after, monkeypatch):
    documents = [uploaded(f"# 文書{number}\n", name=f"{number}.md") for number in range(3)]
    keys(new_key())
    steps = 0

    def killed_at(real):
        def step(*args, **kwargs):
            nonlocal steps
            steps += 1
            if steps == after:
                raise Killed
            return real(*args, **kwargs)

        return step

    bare = bare_store()
    with monkeypatch.context() as patch:
        patch.setattr(bare, "write", killed_at(bare.write))
        patch.setattr(bare, "delete", killed_at(bare.delete))
        patch.setattr("knowledge.storage.rotation.destroy_keys", killed_at(lambda _names: 0))
        try:
            rotate(lambda _done: None)
        except Killed:
            assert [content_of(document) for document in documents] == [f"# 文書{n}\n" for n in range(3)]
        else:
            assert after > 6  # three are written, three plain copies removed
    rotate(lambda _done: None)
    assert sealed_state().waiting == 0
    assert all(path.read_bytes().startswith(MAGIC) for path in stored_files())
    assert len(stored_files()) == 3
    assert not PendingBytes.objects.exists()
    assert [content_of(document) for document in documents] == [f"# 文書{n}\n" for n in range(3)]


def test_a_plain_file_that_was_changed_is_not_taken_for_the_document(keys, uploaded):
    uploaded()
    (path,) = stored_files()
    path.write_bytes(b"something else")
    keys(new_key())
    with pytest.raises(CommandError, match=r"[0-9a-f]{64}"):
        call_command("encryption", "rotate")
    assert path.read_bytes() == b"something else"


def test_nobody_can_put_a_plain_file_in_the_place_of_an_encrypted_one(keys, uploaded):
    from knowledge.storage.errors import BlobMissing

    keys(new_key())
    document = uploaded()
    (path,) = stored_files()
    path.unlink()
    planted = django_settings.HUB_DATA_DIR / "blobs" / sha256_of(TEXT)[:2] / sha256_of(TEXT)[2:4] / sha256_of(TEXT)
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_bytes(b"planted")
    with pytest.raises(BlobMissing):
        content_of(document)


def test_rotating_without_a_key_says_what_to_set(uploaded):
    uploaded()
    with pytest.raises(CommandError, match="ENCRYPTION_KEY"):
        call_command("encryption", "rotate")
    assert Blob.objects.count() == 1


def test_doctor_counts_files_by_key(keys, uploaded, queue):
    import io
    import json

    def lines() -> dict[str, str]:
        out = io.StringIO()
        with contextlib.suppress(SystemExit):
            call_command("doctor", json=True, stdout=out)
        return {line["check"]: f"{line['status']} {line['detail']}" for line in json.loads(out.getvalue())["checks"]}

    uploaded()
    assert "1 plain; off" in lines()["encryption"]
    keys(new_key())
    assert "run: manage.py encryption rotate" in lines()["encryption"]
    call_command("encryption", "rotate")
    key_id = SealedBlob.objects.get().key_id
    assert lines()["encryption"] == f"ok stored files: 1 under {key_id}, 0 plain"
    keys(new_key())
    assert lines()["encryption"].startswith("error")
