"""Record what the hub answers, and compare two records.

``python -m benchmarks.golden record FOLDER`` starts a hub of its own in this process, gives it the documents of
HUB_TEST_DATA and writes what it answers to FOLDER: one JSON-lines file per kind of answer, with everything that differs
from run to run replaced. ``--queries N`` asks N questions of each question set, ``--documents N`` takes in N documents
of each folder, ``--only KIND …`` asks for some kinds alone.

``python -m benchmarks.golden compare FOLDER OTHER`` prints, for each kind, how many answers are the same, changed, gone
and new, and where the first few differ; the exit code is 1 when anything does.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.golden.records import compare, report, write_kind
from benchmarks.golden.stable import LONGEST, Stable

REPOSITORY = Path(__file__).resolve().parents[2]
KINDS = (
    *("openapi", "documents", "chunks", "lint", "masters", "guidelines", "ontology", "graph", "answers", "reviews"),
    *("searches", "mcp", "questions"),
)
# Searches repeat the same passages often.
SEARCHES_LONGEST = 200
LONGEST_BY_KIND = {"openapi": 100_000, "mcp": 20_000, "searches": SEARCHES_LONGEST}
"""The most characters of a text that is kept as it is; `LONGEST` of other kinds."""


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.golden", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write what the hub answers")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--queries", type=int, help="questions of each set (default: all)")
    recording.add_argument("--documents", type=int, help="documents of each folder (default: all)")
    default_data = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    recording.add_argument("--only", nargs="+", choices=KINDS, metavar="KIND", help="these kinds: %(choices)s")
    recording.add_argument("--data", type=Path, default=default_data, help="documents and question sets")
    recording.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "hub-benchmark-vectors")
    comparing = commands.add_parser("compare", help="say how two records differ")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("other", type=Path)
    return parser.parse_args()


def record(asked: argparse.Namespace) -> None:
    """Start a scratch hub and write all of its answers."""
    if not asked.data.is_dir():
        sys.exit(f"no documents in {asked.data}: give --data or set HUB_TEST_DATA")
    if list(asked.folder.glob("*.jsonl")):
        sys.exit(f"{asked.folder} holds a record already: remove it, or give another folder")
    with tempfile.TemporaryDirectory(prefix="hub-golden-", ignore_cleanup_errors=True) as scratch:
        Path(scratch).chmod(0o711)
        own = {"HUB_DATA_DIR": scratch, "DATABASE_URL": "", "REDIS_URL": "", "POSTGRES_HOST": ""}
        own |= {"DJANGO_SETTINGS_MODULE": "hub.settings", "HUB_RATE_LIMIT_PER_MINUTE": "1000000"}
        os.environ |= own | {"LLM_PROVIDER": "none", "LOG_LEVEL": "ERROR"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        names = Stable(begun=datetime.now(UTC), folders={scratch: "<data>", str(REPOSITORY): "<hub>"})
        _record(asked, names)


def _record(asked: argparse.Namespace, names: Stable) -> None:
    from benchmarks.golden import ask
    from benchmarks.golden.fill import fill, same_ids, work_here
    from benchmarks.golden.mcp_servers import mcp
    from benchmarks.golden.questions import question_sets

    begun = time.perf_counter()

    def write(kind: str, answers: Iterable[tuple[str, Any]], longest: int) -> None:
        number = write_kind(asked.folder, kind, ((names.key(k), names.answer(a, longest=longest)) for k, a in answers))
        print(f"{time.perf_counter() - begun:7.0f} s  {kind}: {number}", flush=True)

    work_here()
    same_ids()
    hub = fill(asked.data, names, most=asked.documents)
    print(f"{time.perf_counter() - begun:7.0f} s  {len(hub.documents)} documents taken in", flush=True)
    whole = (ask.openapi, ask.documents, ask.chunks, ask.lint, ask.masters, ask.guidelines, ask.ontology, ask.graph)
    for kind in (*whole, ask.answers, ask.reviews, ask.searches, mcp):
        if kind.__name__ in (asked.only or KINDS):
            write(kind.__name__, kind(hub), LONGEST_BY_KIND.get(kind.__name__, LONGEST))
    if "questions" in (asked.only or KINDS):
        for name, found in question_sets(asked.data / "retrieval", asked.cache, names, most=asked.queries):
            write(name, found, SEARCHES_LONGEST)


def main() -> int:
    """Record or compare; gives the exit code."""
    asked = parse_arguments()
    if asked.command == "record":
        record(asked)
        return 0
    for folder in (asked.folder, asked.other):
        if not list(folder.glob("*.jsonl")):
            sys.exit(f"no record in {folder}")
    return int(report(compare(asked.folder, asked.other)))


if __name__ == "__main__":
    sys.exit(main())
