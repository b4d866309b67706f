"""`manage.py restore PATH`: the hub of a backup, on an empty machine or in the place of what is there."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.access.principals import system_principal
from hub.backups.errors import RestoreRefused
from hub.backups.folder import find_backup
from hub.backups.progress import Progress
from hub.backups.restoring import Restored, read_keys, restore_backup
from hub.backups.sealing import new_file, read_opener
from hub.core.commands import HubCommand, cli_call
from hub.core.valkey import ensure_queue


class Command(HubCommand):
    help = (
        "Restore a backup: stored files, then the database in one transaction; then migrate it to this version and "
        "compare it with the backup (exit code 1 where it differs). Run it again after a kill. "
        "Example: manage.py restore /backup/hub --identity key.txt"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="a backup, or a folder of them: its newest")
        parser.add_argument("--yes", action="store_true", help="replace what the database has")
        parser.add_argument(
            "--identity", type=Path, metavar="FILE", help="opens encrypted ones: an age identity, or the passphrase"
        )
        parser.add_argument("--keys-to", type=Path, metavar="FILE", help="only write the keys in it, as for .env")
        parser.add_argument(
            "--without-keys", action="store_true", help="go on although keys are missing; what they open is lost"
        )
        parser.add_argument("--json", action="store_true")

    def handle(
        self,
        *,
        path: Path,
        yes: bool,
        identity: Path | None,
        keys_to: Path | None,
        without_keys: bool,
        json: bool,
        **_options: object,
    ) -> None:
        with cli_call():
            backup = find_backup(path)
            opener = read_opener(identity, backup.root / "passphrase.age")
            if keys_to is not None:
                keys = read_keys(backup, opener)
                if not keys:
                    raise RestoreRefused(_("The backup has no keys: it was made without --with-keys."))
                if keys_to.exists():
                    raise RestoreRefused(
                        _("{path} is there already and would be lost: name a new file for the keys."), path=str(keys_to)
                    )
                with new_file(keys_to) as file:
                    file.write("".join(f"{name}={value}\n" for name, value in sorted(keys.items())).encode())
                self.stdout.write(f"{len(keys)} keys in {keys_to}")
                return
            ensure_queue()
            done = restore_backup(
                system_principal("restore"),
                backup,
                opener,
                overwrite=yes,
                without_keys=without_keys,
                progress=Progress("files"),
            )
        facts = restored_facts(done)
        if json:
            self.print_json(facts)
        else:
            for name, value in facts.items():
                self.stdout.write(f"{name}: {value}")
        if not done.is_equal:
            sys.exit(1)


def restored_facts(done: Restored) -> dict[str, object]:
    """What a person or a program is told of a restore."""
    asked = len(done.manifest.searches)
    return {
        "backup": done.backup,
        "taken_at": done.manifest.taken_at.isoformat(),
        "files": done.manifest.files,
        "files_written": done.written,
        "missing": done.manifest.missing,
        "tables": len(done.manifest.tables),
        "tables_that_differ": done.tables,
        "searches": asked,
        "searches_equal": asked - len(done.questions),
        "searches_that_differ": done.questions,
        "equal": done.is_equal,
    }
