"""`manage.py backup PATH`: the database and all stored files, while everything runs."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings

from hub.access.principals import system_principal
from hub.backups.folder import find_backup
from hub.backups.progress import Progress
from hub.backups.restoring import check_backup
from hub.backups.runs import recorded_backup
from hub.backups.sealing import read_opener
from hub.backups.taking import Made
from hub.backups.verifying import opening_file, verify_backup
from hub.core.commands import HubCommand, cli_call


class Command(HubCommand):
    help = (
        "Back up the database and all stored files into a folder that may hold several backups, while the hub runs. "
        "Keys are not in it. Exit code 1 where stored files were missing or damaged, or a check failed. "
        "Example: manage.py backup /backup/hub --encrypt-to age1… --keep 14"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="a folder, new or with earlier backups")
        parser.add_argument(
            "--encrypt-to",
            default="",
            metavar="KEY|FILE",
            help="public keys of age (age1…, comma separated), or a file with a passphrase",
        )
        parser.add_argument(
            "--with-keys", action="store_true", help="put SECRET_KEY and the other keys into it; encrypted backups only"
        )
        parser.add_argument(
            "--no-compression", action="store_true", help="for a storage that compresses, or finds what is the same"
        )
        parser.add_argument("--keep", type=int, metavar="N", help="remove all but the newest N backups of the folder")
        parser.add_argument(
            "--check", action="store_true", help="make none; read the newest one and compare it with its hashes"
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="restore it, or with --check the newest one, into a hub of its own and compare counts and searches",
        )
        parser.add_argument(
            "--identity", type=Path, metavar="FILE", help="for --verify: opens it; a passphrase file does by itself"
        )
        parser.add_argument("--json", action="store_true")

    def handle(
        self,
        *,
        path: Path,
        encrypt_to: str,
        with_keys: bool,
        no_compression: bool,
        keep: int | None,
        check: bool,
        verify: bool,
        identity: Path | None,
        json: bool,
        **_options: object,
    ) -> None:
        if keep is not None and keep < 1:
            self.stderr.write("--keep: expected 1 or more")
            sys.exit(2)
        facts: dict[str, object] = {}
        with cli_call():
            if not check:
                made, verified, problem = recorded_backup(
                    system_principal("backup"),
                    path,
                    encrypt_to=encrypt_to,
                    with_keys=with_keys,
                    keep=keep,
                    compress=not no_compression,
                    verify=verify,
                    identity=identity,
                    progress=Progress("files"),
                )
                facts = _facts(made) | {"verified": verified, "problem": problem}
            else:
                backup = find_backup(path)
                facts = {"backup": str(backup.path), "checked": check_backup(backup, Progress("files"))}
                if verify:
                    given = opening_file(encrypt_to, identity) if encrypt_to else identity
                    read_opener(given, backup.root / "passphrase.age")  # refused before a minute has gone
                    facts["verified"] = verify_backup(backup, given)
        if json:
            self.print_json(facts)
        else:
            self._print(facts)
        proof = facts.get("verified")
        differs = isinstance(proof, dict) and not proof["equal"]
        if differs or any(facts.get(name) for name in ("problem", "missing", "damaged")):
            sys.exit(1)

    def _print(self, facts: dict[str, object]) -> None:
        for name, value in facts.items():
            if isinstance(value, dict):
                self.stdout.write(f"{name}: " + ", ".join(f"{key} {one}" for key, one in value.items()))
            elif value not in (None, [], ""):
                self.stdout.write(f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}")


def _facts(made: Made) -> dict[str, object]:
    """What a person or a program is told of a backup."""
    config, copied = settings.CONFIG, made.copied
    apart = ["SECRET_KEY" if config.secret_key else str(settings.HUB_DATA_DIR / "secret_key")]
    apart += list(made.manifest.keys.master)
    return {
        "backup": str(made.backup.path),
        "taken_at": made.manifest.taken_at.isoformat(),
        "files": copied.files,
        "bytes": copied.file_bytes,
        "copied": copied.fresh,
        "replaced": copied.replaced,
        "removed_backups": made.pruned,
        "missing": copied.missing,
        "damaged": copied.damaged,
        "unopened": copied.unopened,
        "searches": len(made.manifest.searches),
        "searches_failed": made.manifest.searches_failed,
        "keys_to_keep_apart": [] if (made.backup.path / "keys.json.age").exists() else apart,
    }
