"""Backups made in this process: what is copied, held, refused, kept and found damaged. Whole hubs: tests/flows."""

from __future__ import annotations

import json
import stat
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, transaction
from pyrage import passphrase, x25519

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.backups import restoring, sealing
from hub.backups.errors import BackupDamaged, BackupFailed, RestoreRefused
from hub.backups.folder import Folder, find_backup
from hub.backups.keys import Keys, keys_in_use
from hub.backups.restoring import check_backup, read_keys, read_manifest, restore_backup
from hub.backups.sealing import Opener, Recipients, read_opener, read_recipients
from hub.backups.taking import make_backup
from hub.core.encryption.key_text import new_key
from hub.core.errors import Conflict
from hub.core.hashes import sha256_of_file
from hub.core.schema_version import applied_migrations, unknown_migrations
from knowledge.documents.deletion import delete_document
from knowledge.models import Blob, PendingBytes, SealedBlob
from knowledge.storage import get_blob_store, hold_removals, remove_pending_bytes, rotate
from knowledge.storage.blobs import bare_store
from knowledge.storage.holding import HOLD, may_remove
from tests.factories import upload_text

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

TEXT = "# 設計\n\n監視は五分ごとに行い、異常は当番へ連絡する。\n"


@pytest.fixture
def document(tmp_path):
    wait_until_alone()
    return upload_text(local_operator(), tmp_path, TEXT, name="設計書.md").document


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "backups"


def wait_until_alone() -> None:
    """Wait until a live server has closed the sessions of a browser that has gone: a restore refuses others."""
    end = time.monotonic() + 20
    while other_sessions():
        assert time.monotonic() < end, "somebody else uses the database of the tests"
        time.sleep(0.02)


def other_sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def back_up(folder: Path, **options):
    return make_backup(local_operator(), folder, **options)


def everything_in(folder: Path) -> bytes:
    return b"\0".join(path.name.encode() + path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_backup_is_private_proves_itself_and_is_found_damaged(document, folder):
    made = back_up(folder)
    assert made.copied.fresh == made.manifest.files == Blob.objects.count()
    assert made.manifest.tables["knowledge_document"] == 1
    assert check_backup(made.backup) == made.manifest.files + 4  # and manifest, dump and lists
    assert not [path for path in folder.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert AuditEvent.objects.filter(action="BACKUP", resource=made.backup.name).count() == 1

    again = back_up(folder, keep=1)
    assert (again.copied.fresh, again.manifest.files, again.pruned) == (0, made.manifest.files, 1)
    assert find_backup(folder).name == again.backup.name
    assert not made.backup.path.exists()

    copy = again.backup.copies()[0]
    path = again.backup.copy_path(copy)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BackupDamaged, match=copy.rpartition("/")[2][:64]):
        check_backup(again.backup)
    assert back_up(folder).copied.replaced == 1  # it reads what it relies on
    assert check_backup(find_backup(folder))


def test_what_is_deleted_during_a_backup_goes_after_it(document, folder):
    sha256 = Blob.objects.get().pk
    with hold_removals():
        delete_in_another_session(document)
        assert not Blob.objects.filter(pk=sha256).exists()
        assert PendingBytes.objects.get(pk=sha256).deleted
        with get_blob_store().open(sha256) as file:
            assert file.read().decode() == TEXT
    assert remove_pending_bytes().removed == 1
    assert sha256 not in set(bare_store().iter_names())


def delete_in_another_session(document) -> None:
    def delete() -> None:
        try:
            delete_document(principal=local_operator(), document_id=document.public_id)
        finally:
            connection.close()

    thread = threading.Thread(target=delete)
    thread.start()
    thread.join()


def test_two_backups_of_one_hub_at_once_are_refused(document, folder, monkeypatch):
    monkeypatch.setattr("knowledge.storage.holding.WAIT", "50ms")
    with psycopg.connect(**other_session()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [HOLD])
        with pytest.raises(Conflict):
            back_up(folder)
    assert back_up(folder).copied.fresh == 1


def other_session() -> dict[str, Any]:
    params = connection.get_connection_params()
    return {name: params[name] for name in ("dbname", "user", "host", "port") if name in params}


def test_an_encrypted_backup_shows_neither_texts_nor_names_and_opens_for_its_recipient(document, folder, tmp_path):
    identity = x25519.Identity.generate()
    made = back_up(folder, encrypt_to=str(identity.to_public()), with_keys=True)
    content = everything_in(folder)
    sha256 = Blob.objects.get().pk
    assert "監視".encode() not in content
    assert sha256.encode() not in content
    assert b"knowledge_document" not in content
    key_file = tmp_path / "key.txt"
    key_file.write_text(f"# created\n{identity}\n")
    opener = read_opener(key_file, folder / "passphrase.age")
    assert read_manifest(made.backup, opener).files == 1
    assert read_keys(made.backup, opener)["SECRET_KEY"]
    with pytest.raises(RestoreRefused, match="age1"):
        read_manifest(made.backup, Opener())
    with pytest.raises(BackupDamaged):
        read_manifest(made.backup, Opener((x25519.Identity.generate(),)))
    with pytest.raises(BackupFailed, match="age1"):
        back_up(folder)  # a folder is encrypted, or it is not
    assert back_up(folder, encrypt_to=str(identity.to_public())).copied.fresh == 0


def test_keys_go_into_encrypted_backups_only(document, folder, settings):
    with pytest.raises(BackupFailed, match="--encrypt-to"):
        back_up(folder, with_keys=True)
    back_up(folder)
    assert settings.SECRET_KEY.encode() not in everything_in(folder)


def test_a_refused_or_broken_restore_leaves_the_key_that_was_there(document, folder, settings, tmp_path, monkeypatch):
    mine = settings.SECRET_KEY
    settings.HUB_DATA_DIR = tmp_path
    (tmp_path / "secret_key").write_text(mine)
    settings.CONFIG = settings.CONFIG.model_copy(update={"secret_key": "", "encryption_key": new_key()})
    rotate(lambda _done: None)
    identity = x25519.Identity.generate()
    settings.SECRET_KEY = "of the hub that was backed up"
    made = back_up(folder, encrypt_to=str(identity.to_public()), with_keys=True)
    settings.SECRET_KEY = mine
    with_master_key = settings.CONFIG
    settings.CONFIG = with_master_key.model_copy(update={"encryption_key": ""})
    opener = Opener((identity,))
    with pytest.raises(RestoreRefused, match="ENCRYPTION_KEY"):
        restore_backup(local_operator(), made.backup, opener, overwrite=True)
    assert [path.name for path in tmp_path.glob("secret_key*")] == ["secret_key"]
    assert (tmp_path / "secret_key").read_text() == settings.SECRET_KEY == mine

    settings.CONFIG = with_master_key
    during: list[str] = []

    def broken(*_given: object) -> None:
        during.append((tmp_path / "secret_key").read_text())
        raise BackupFailed("no room")

    monkeypatch.setattr(restoring, "_restore_database", broken)
    with pytest.raises(BackupFailed):
        restore_backup(local_operator(), made.backup, opener, overwrite=True)
    assert during == ["of the hub that was backed up"]
    assert (tmp_path / "secret_key").read_text() == settings.SECRET_KEY == mine


def test_a_restore_leaves_no_plain_dump_whatever_ends_it(document, folder, settings, tmp_path, monkeypatch):
    settings.HUB_DATA_DIR = tmp_path / "data"
    left = settings.HUB_DATA_DIR / "hub-restore-of-before"
    left.mkdir(parents=True)
    (left / "database.dump").write_bytes(b"plain")
    identity = x25519.Identity.generate()
    made = back_up(folder, encrypt_to=str(identity.to_public()))

    def look(dump, *_more: object) -> None:
        assert dump.read(5) == b"PGDMP"
        assert b"PGDMP" not in everything_in(settings.HUB_DATA_DIR)
        assert not left.exists()
        raise BackupFailed("looked")

    settings.EMBEDDED_DATABASE = False  # its server is where it was
    monkeypatch.setattr(restoring, "replace_schema", look)
    with pytest.raises(BackupFailed, match="looked"):
        restore_backup(local_operator(), made.backup, Opener((identity,)), overwrite=True)


def test_keys_are_written_into_a_new_file_only(document, folder, tmp_path):
    identity = x25519.Identity.generate()
    back_up(folder, encrypt_to=str(identity.to_public()), with_keys=True)
    key_file, env = tmp_path / "key.txt", tmp_path / ".env"
    key_file.write_text(str(identity))
    env.write_text("DATABASE_URL=postgresql://hub@db/hub\n")
    with pytest.raises(RestoreRefused, match="env"):
        call_command("restore", str(folder), identity=key_file, keys_to=env)
    assert env.read_text() == "DATABASE_URL=postgresql://hub@db/hub\n"
    call_command("restore", str(folder), identity=key_file, keys_to=tmp_path / "keys")
    assert "SECRET_KEY=" in (tmp_path / "keys").read_text()


@pytest.mark.parametrize(("part", "wrong"), [("name", "../../outside"), ("copy", "../backups/x.{sha256}")])
def test_a_list_of_files_that_leads_out_of_the_store_or_the_folder_is_damaged(document, folder, part, wrong):
    backup = back_up(folder).backup
    path = backup.path / "files.jsonl"
    line = json.loads(path.read_text())
    line[part] = wrong.format(sha256=line["copy"].rpartition(".")[2])
    path.write_text(json.dumps(line) + "\n")
    about = json.loads((backup.path / "about.json").read_text())
    about["files"]["files.jsonl"]["sha256"] = sha256_of_file(path)
    (backup.path / "about.json").write_text(json.dumps(about))
    with pytest.raises(BackupDamaged, match=r"files\.jsonl"):
        restore_backup(local_operator(), backup, Opener(), overwrite=True)


def test_copies_are_removed_while_no_other_backup_can_begin(document, folder, monkeypatch):
    remove, kept_out = Folder.prune, []

    def prune(self: Folder, keep: int) -> int:
        with pytest.raises(Conflict), Folder(self.root).locked():
            pass
        kept_out.append(self)
        return remove(self, keep)

    monkeypatch.setattr(Folder, "prune", prune)
    back_up(folder, keep=1)
    assert kept_out


def test_two_first_backups_at_once_have_one_key_pair(tmp_path, monkeypatch):
    words, identity_file = tmp_path / "words", tmp_path / "passphrase.age"
    words.write_text("correct horse battery staple")
    rivals: list[Recipients] = []

    def slowly(text: bytes, given: str) -> bytes:
        sealed = passphrase.encrypt(text, given)
        monkeypatch.setattr(sealing, "passphrase", passphrase)
        rivals.append(read_recipients(str(words), identity_file))
        return sealed

    monkeypatch.setattr(sealing, "passphrase", SimpleNamespace(encrypt=slowly, decrypt=passphrase.decrypt))
    assert [read_recipients(str(words), identity_file)] == rivals
    assert stat.S_IMODE(identity_file.stat().st_mode) == 0o600


def test_encrypted_files_are_copied_as_they_are_and_a_missing_one_is_named(document, folder, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"encryption_key": new_key()})
    rotate(lambda _done: None)
    made = back_up(folder)
    assert TEXT.encode() not in everything_in(folder / "files")
    row = SealedBlob.objects.get()
    assert made.backup.copies()[0].partition("/")[2].startswith(row.name)
    assert made.manifest.keys.master == (row.key_id,)

    bare_store().delete(row.name)
    shutil_copy = made.backup.copy_path(made.backup.copies()[0])
    shutil_copy.unlink()
    without = back_up(folder)
    assert without.manifest.missing == [row.sha256]
    assert without.manifest.files == 0


def test_a_file_that_is_damaged_in_the_store_is_named_and_not_copied(document, folder):
    sha256 = Blob.objects.get().pk
    with bare_store().local_path(sha256) as path:
        path.write_bytes(b"other bytes")
    made = back_up(folder)
    assert made.manifest.damaged == [sha256]
    assert made.backup.copies() == []


def test_missing_keys_are_named_before_anything_is_written(document, folder, settings):
    made = back_up(folder)
    path = made.backup.path / "manifest.json"
    keys = keys_in_use()
    assert keys.missing() == []
    lost = Keys(secret_key="0" * 12, audit="11111111", master=("key-222222222222",), secrets=3)
    named = " ".join(lost.missing())
    assert all(part in named for part in ("000000000000", "11111111", "key-222222222222"))
    assert path.is_file()


def test_a_used_database_is_not_overwritten_without_being_asked(document, folder):
    made = back_up(folder)
    with pytest.raises(RestoreRefused, match="--yes"):
        restore_backup(local_operator(), made.backup, Opener())
    with psycopg.connect(**other_session()), pytest.raises(RestoreRefused, match="1 "):
        restore_backup(local_operator(), made.backup, Opener(), overwrite=True)
    assert Blob.objects.count() == 1


def test_migrations_of_a_newer_version_are_known_as_such():
    applied = applied_migrations()
    assert unknown_migrations(applied) == []
    assert unknown_migrations([*applied, ("knowledge", "9999_later")]) == ["knowledge.9999_later"]


def test_a_folder_with_other_files_is_left_alone(document, folder):
    folder.mkdir()
    (folder / "会計.xlsx").write_bytes(b"x")
    with pytest.raises(BackupFailed):
        back_up(folder)
    assert [path.name for path in folder.iterdir()] == ["会計.xlsx"]


def test_a_failed_dump_leaves_no_backup(document, folder, monkeypatch, tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("postgres", "initdb", "pg_dump"):
        (programs / name).write_text("#!/bin/sh\necho half of a dump\necho no room >&2\nexit 1\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("HUB_PG_BIN", str(programs))
    with pytest.raises(BackupFailed, match="no room"):
        back_up(folder)
    with pytest.raises(RestoreRefused):
        find_backup(folder)
    monkeypatch.delenv("HUB_PG_BIN")
    assert json.loads(find_about(back_up(folder)))["recipients"] == []
    with transaction.atomic():  # the lock of the failed one is gone
        assert may_remove()


def find_about(made) -> str:
    return (made.backup.path / "about.json").read_text()
