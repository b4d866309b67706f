"""The way back: keys and version first, then stored files, then the database in one transaction.

Killed at any moment it leaves the hub that was there before, or none, with some files in the store that no row names
yet; the next run goes on with the files that are missing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils.translation import gettext_lazy as _
from psycopg import Connection

from hub.access.audit_seals import seal_lines
from hub.access.principals import Principal
from hub.access.services import record_event
from hub.backups import folder as places
from hub.backups.errors import RestoreRefused
from hub.backups.folder import Backup
from hub.backups.manifest import Manifest, row_counts
from hub.backups.programs import replace_schema
from hub.backups.progress import Watch, unwatched
from hub.backups.sealing import Opener, new_file
from hub.backups.searches import differing
from hub.core.embedded import shared_postgres
from hub.core.embedded.cluster import lend_append_only
from hub.core.hashes import sha256_of
from hub.core.schema_version import unknown_migrations
from hub.core.temporary import temp_dir
from knowledge.ingest import pipeline
from knowledge.models import DocumentVersion
from knowledge.storage import put_copy

# What a running hub writes by itself between a restore and the look at it: signs of life and lines of the audit trail.
MOVING = frozenset({"access_auditevent", "access_auditseal", "access_auditsealedlines", "django_migrations"})
MOVING_BEGINNINGS = ("django_content_type", "auth_permission", "knowledge_workerheartbeat", "django_session", "axes_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was restored; ``tables`` differ in their counts (before, now), ``questions`` find something else now."""

    backup: str
    manifest: Manifest
    written: int
    tables: dict[str, tuple[int, int]]
    questions: list[str]

    @property
    def is_equal(self) -> bool:
        return not self.tables and not self.questions


def read_manifest(backup: Backup, opener: Opener) -> Manifest:
    """Read what a backup says of its hub. :raises RestoreRefused: it is encrypted, and nothing was given to open it."""
    if backup.is_encrypted and not opener.can_open:
        raise RestoreRefused(
            _("The backup {name} is encrypted to {recipients}: name a file with the identity, or with the passphrase, "
              "as --identity."),
            name=backup.name,
            recipients=", ".join(backup.about()["recipients"]),
        )  # fmt: skip
    backup.check(backup.stored_name(places.MANIFEST))
    return Manifest.model_validate_json(_part(backup, places.MANIFEST, opener))


def read_keys(backup: Backup, opener: Opener) -> dict[str, str]:
    """Give the keys that the backup has, by their settings' names; none where it was made without `--with-keys`."""
    if not (backup.path / backup.stored_name(places.KEYS)).is_file():
        return {}
    found: dict[str, str] = json.loads(_part(backup, places.KEYS, opener))
    return found


def check_backup(backup: Backup, progress: Watch = unwatched) -> int:
    """Read every file of a backup and compare it with its hash, which asks for no key; gives how many they were.

    :raises BackupDamaged: names the first that is another.
    """
    for name in backup.own_files():
        backup.check(name)
    copies = backup.copies()
    for number, copy in enumerate(copies, 1):
        backup.check_copy(copy)
        progress(number, len(copies))
    return len(copies) + len(backup.own_files())


def restore_backup(
    principal: Principal,
    backup: Backup,
    opener: Opener,
    *,
    overwrite: bool = False,
    without_keys: bool = False,
    progress: Watch = unwatched,
) -> Restored:
    """Put the hub of a backup in the place of this one, migrate it to this version, and compare it with the backup.

    Nothing else may use the database meanwhile. It writes a line of the restored audit trail and seals what the backup
    was taken too early to seal: those lines would wait for a worker that nobody has started yet. Documents that were
    worked on during the backup have no worker here; they wait for the first that is started.

    :raises RestoreRefused: nothing was written; the message says what to do.
    :raises BackupDamaged: a file of the backup is not what was written; the database is as it was.
    """
    _remove_left_behind()
    manifest = read_manifest(backup, opener)
    carried = "" if without_keys or settings.CONFIG.secret_key else read_keys(backup, opener).get("SECRET_KEY", "")
    with _secret_key(carried) as keep_key:
        _refuse(manifest, overwrite=overwrite, any_keys=without_keys)
        for name in backup.own_files():
            backup.check(name)
        written = _restore_files(backup, opener, progress)
        keep_key()
        _restore_database(backup, opener, manifest)
    call_command("migrate", interactive=False, verbosity=0)
    record_event(principal, "RESTORE", backup.name, taken_at=manifest.taken_at.isoformat(), files=manifest.files)
    seal_lines()
    pipeline.give_leases_back(DocumentVersion.objects.exclude(lease_token=""))
    return Restored(
        backup=backup.name,
        manifest=manifest,
        written=written,
        tables=_other_counts(manifest.tables),
        questions=differing(manifest.searches),
    )


def _refuse(manifest: Manifest, *, overwrite: bool, any_keys: bool) -> None:
    if unknown := unknown_migrations(manifest.migrations):
        raise RestoreRefused(
            _("The backup is of a newer version ({version}), whose {migration} this one does not have: put that "
              "version in place first."),
            version=manifest.hub_version,
            migration=unknown[0],
        )  # fmt: skip
    _refuse_used_database(manifest, overwrite=overwrite)
    if any_keys:
        return
    if missing := manifest.keys.missing():
        raise RestoreRefused(
            _("Keys of the backup are not configured here. {missing} Set them; where the backup was made with "
              "--with-keys, `restore … --keys-to FILE` writes them into a file. --without-keys goes on, and what they "
              "open is lost."),
            missing=" ".join(missing),
        )  # fmt: skip


@contextmanager
def _secret_key(key: str) -> Iterator[Callable[[], None]]:
    """Work with a SECRET_KEY inside the block; what is given makes it the generated key of this data folder.

    When the block fails, the key that was there is the one again, in the folder, too. Without ``key`` nothing is done.
    """
    before, path = settings.SECRET_KEY, settings.HUB_DATA_DIR / "secret_key"
    former = path.with_name("secret_key.before-restore")
    was_there, is_kept = path.exists(), False

    def keep() -> None:
        nonlocal is_kept
        if key and key != before:
            if was_there:
                _write(former, path.read_bytes())
            _write(path, key.encode())
            is_kept = True

    settings.SECRET_KEY = key or before
    try:
        yield keep
    except BaseException:
        settings.SECRET_KEY = before
        if is_kept and was_there:
            former.replace(path)
        elif is_kept:
            path.unlink()
        raise


def _write(path: Path, data: bytes) -> None:
    with new_file(path) as file:
        file.write(data)


def _refuse_used_database(manifest: Manifest, *, overwrite: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_schema(), current_database(),"
            " (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'),"
            " (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            "  AND backend_type = 'client backend' AND pid <> pg_backend_pid())"
        )
        schema, database, tables, others = cursor.fetchone()
    if schema != manifest.schema_name:
        raise RestoreRefused(
            _("The backup's tables are in the schema {backup}, and this database's are in {schema}: have the role's "
              "search_path begin with {backup}."),
            backup=manifest.schema_name,
            schema=schema,
        )  # fmt: skip
    if tables and not overwrite:
        raise RestoreRefused(
            _("The database {database} is not empty ({count} tables). --yes replaces all that is in it by the backup."),
            database=database,
            count=tables,
        )
    if others:
        raise RestoreRefused(
            _("{count} other connections use the database {database}: stop the hub (web, worker, beat) first."),
            count=others,
            database=database,
        )


def _restore_files(backup: Backup, opener: Opener, progress: Watch) -> int:
    """Put every stored file of the backup into the store; gives how many were not there."""
    lines = [json.loads(line) for line in _part(backup, places.FILES, opener).splitlines()]
    written = 0
    for number, line in enumerate(lines, 1):
        copy = line["copy"]
        if not places.STORED.fullmatch(line["name"]) or not places.COPY.fullmatch(copy):
            raise places.damaged(backup.path / places.FILES, _("it names what is no stored file"))
        backup.check_copy(copy)
        stored = backup.copy_path(copy)
        with _plain(stored, opener if backup.is_encrypted else None, scratch=temp_dir()) as data:
            written += put_copy(line["name"], sha256_of(data), partial(_again, data))
        progress(number, len(lines))
    return written


@contextmanager
def _plain(stored: Path, opener: Opener | None, *, scratch: Path) -> Iterator[IO[bytes]]:
    """Open a file of a backup, decrypted with ``opener`` into a file without a name, which no killed process leaves."""
    with stored.open("rb") as file:
        if opener is None:
            yield file
            return
        with TemporaryFile(dir=scratch) as plain:
            opener.copy(file, plain, stored.name)
            plain.seek(0)
            yield plain


def _again(data: IO[bytes]) -> Any:  # noqa: ANN401 (a context of the same file)
    data.seek(0)
    return nullcontext(data)


def _restore_database(backup: Backup, opener: Opener, manifest: Manifest) -> None:
    """Drop what is there and load the dump, in one transaction."""
    before = _drops()
    _as_superuser(lend_append_only)
    connection.close()
    dump = backup.path / backup.stored_name(places.DATABASE)
    with _plain(dump, opener if backup.is_encrypted else None, scratch=settings.HUB_DATA_DIR) as plain:
        replace_schema(plain, manifest.schema_name, before)


def _remove_left_behind() -> None:
    """Remove the plain dumps that killed restores of earlier versions left in the data folder."""
    for path in settings.HUB_DATA_DIR.glob("hub-restore-*"):
        shutil.rmtree(path)


def _drops() -> list[str]:
    """List the statements that remove every table and function of the hub's schema; extensions stay."""
    not_of_extension = "NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = {}.oid AND d.deptype = 'e')"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('DROP TABLE IF EXISTS %I.%I CASCADE', n.nspname, c.relname) FROM pg_class c"  # noqa: S608
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema()"
            f" AND c.relkind IN ('r', 'p') AND {not_of_extension.format('c')}"
            " UNION ALL SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure) FROM pg_proc p"
            f" WHERE p.pronamespace = current_schema()::regnamespace AND {not_of_extension.format('p')}"
        )
        return [statement for (statement,) in cursor.fetchall()]


def _as_superuser(act: Callable[[Connection[tuple[object, ...]]], None]) -> None:
    """Do what only the embedded server's superuser may; nothing on another server, where the role owns the tables."""
    if not settings.EMBEDDED_DATABASE:
        return
    server = shared_postgres(settings.HUB_DATA_DIR / "postgres")
    with server.superuser(str(connection.settings_dict["NAME"])) as superuser:
        act(superuser)


def _other_counts(before: dict[str, int]) -> dict[str, tuple[int, int]]:
    now = row_counts()
    fixed = {name for name in before if name not in MOVING and not name.startswith(MOVING_BEGINNINGS)}
    return {name: (before[name], now.get(name, 0)) for name in sorted(fixed) if before[name] != now.get(name, 0)}


def _part(backup: Backup, name: str, opener: Opener) -> bytes:
    backup.check(backup.stored_name(name))
    target = BytesIO()
    backup.write_plain(name, target, opener)
    return target.getvalue()
