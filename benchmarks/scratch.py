"""A hub of a benchmark's own: Django on an embedded PostgreSQL, in a folder that goes or stays."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
OWN_SERVERS = {"DATABASE_URL": "", "REDIS_URL": "", "POSTGRES_HOST": ""}


@contextmanager
def scratch_hub(folder: Path | None = None, **settings: str) -> Iterator[Path]:
    """Set Django up with all tables, in ``folder``, which stays, or else in one that goes; gives the folder.

    ``settings`` are those of `docs/settings.md`, by their names.
    """
    kept = nullcontext(str(folder.resolve())) if folder else None
    with kept or tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        place = Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o711)  # the database's server is another user
        os.environ |= {"HUB_DATA_DIR": str(place), "DJANGO_SETTINGS_MODULE": "hub.settings", "LOG_LEVEL": "ERROR"}
        os.environ |= {**OWN_SERVERS, **settings}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield place


def add_data_argument(parser: argparse.ArgumentParser) -> None:
    """Let the folder of question sets be named; HUB_TEST_DATA names the one that is taken otherwise."""
    default = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "retrieval"
    parser.add_argument("--data", type=_folder, default=str(default), help="folder of question sets")


def _folder(given: str) -> Path:
    if not Path(given).is_dir():
        sys.exit(f"no question sets in {given}: give --data or set HUB_TEST_DATA")
    return Path(given)
