"""Two checkouts side by side, without HTTP: processor time of searches and reviews, in turn, on one machine.

``python -m benchmarks.beside_work OTHER`` (a checkout with its own or the same ``.venv``) starts a process of this
checkout and one of OTHER, each with a scratch hub of its own, gives both the same documents of
``HUB_TEST_DATA/documents``, a part of them in a collection that a reader does not see, and has them work in turn. It
prints for each kind of work the milliseconds of processor time of the process and of its connection of PostgreSQL, and
the median of the ratios of both together. Load stretches these less than the clock, but not by nothing: look at the
ratios, and at several runs.

This file is what the process of either checkout runs, with the modules of that one: it asks for nothing that an older
one lacks.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
DOCUMENTS = (".docx", ".xlsx", ".md")
SEARCHES_AT_ONCE = 4
SEARCHES = [(person, mode) for mode in ("hybrid", "lexical") for person in ("reader", "all")]
Spent = tuple[float, float]
"""Processor time in milliseconds: of the process, and of its connection of PostgreSQL."""


def serve(count: int) -> None:
    """Do what is asked for on standard input, one line a time: ``search PERSON MODE`` or ``review NUMBER``."""
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        Path(scratch).chmod(0o711)
        sys.path.insert(0, str(Path.cwd()))
        os.environ |= {"HUB_RATE_LIMIT_PER_MINUTE": "1000000", "ALLOWED_HOSTS": "testserver", "LOG_LEVEL": "ERROR"}
        os.environ |= {"HUB_DATA_DIR": scratch, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "hub.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        works = _works(count)
        print("ready", flush=True)
        for line in sys.stdin:
            kind, *asked = line.split()
            before = _spent()
            works[kind](*asked)
            print(json.dumps([now - then for now, then in zip(_spent(), before, strict=True)]), flush=True)


def _spent() -> Spent:
    from django.db import connection

    connection.ensure_connection()
    process = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return time.process_time() * 1000, int(process.read_text().split()[0]) / 1e6


def _works(count: int) -> dict[str, Callable[..., object]]:
    from django.contrib.auth.models import User
    from django.test import Client

    from benchmarks.beside import QUESTIONS
    from hub.access.principals import ALL_SCOPES, local_operator
    from hub.access.services import create_token
    from knowledge.models import Collection, CollectionGrant
    from review.runs.execution import execute
    from review.runs.reviews import ReviewOptions, start_review
    from tests.factories import upload_file, work_through

    folder = Path(os.environ["HUB_TEST_DATA"]) / "documents"
    files = sorted(path for path in folder.rglob("*") if path.suffix in DOCUMENTS)
    random.Random(7).shuffle(files)
    Collection.objects.create(slug="other", name="別")
    documents = []
    for number, path in enumerate(files[:count]):
        hidden = number % 4 == 3
        place = {"collection": "other" if hidden else "default", "document_type": "basic_design"}
        documents.append(work_through(upload_file(local_operator(), path, **place).document))
    clients = {}
    for name, rights in (("all", {"is_superuser": True}), ("reader", {})):
        user = User.objects.create(username=name, **rights)
        _row, token = create_token(principal=local_operator(), user=user, name="beside", scopes=ALL_SCOPES)
        clients[name] = Client(headers={"Authorization": f"Bearer {token}"})
    CollectionGrant.objects.create(collection=Collection.objects.get(slug="default"), user=user, role="reviewer")
    turns = iter(range(10**9))

    def search(person: str, mode: str) -> None:
        for _call in range(SEARCHES_AT_ONCE):
            turn = next(turns)  # each question is another one, so that no answer or vector is kept
            asked = {"query": f"{QUESTIONS[turn % len(QUESTIONS)]} {turn}", "mode": mode, "limit": 10}
            answer: Any = clients[person].post("/api/v1/search", asked, content_type="application/json")
            if answer.status_code != 200:
                raise RuntimeError(answer.content)

    def review(number: str) -> None:
        made = start_review(
            principal=local_operator(),
            document_id=documents[int(number)].public_id,
            options=ReviewOptions(judge="rules", parallel=False),
        )
        execute(made.pk)
        made.refresh_from_db()
        if made.status != "completed":
            raise RuntimeError(made.error)

    return {"search": search, "review": review}


class Other:
    """A process of a checkout that works when it is asked."""

    def __init__(self, root: Path, documents: int, stack: ExitStack) -> None:
        python = str(root / ".venv" / "bin" / "python")
        command = [python, "-W", "ignore", str(HERE), "--serve", "--documents", str(documents)]
        self._process = stack.enter_context(subprocess.Popen(command, cwd=root, stdin=-1, stdout=-1, text=True))
        self._answer()

    def ask(self, work: str) -> Spent:
        """Have a work done; returns what it took."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{work}\n")
        self._process.stdin.flush()
        process, server = json.loads(self._answer())
        return process, server

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a process ended")
        return line


def main() -> None:
    """Start both, and have them work in turn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside_work", description=__doc__)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=50, help=f"of {SEARCHES_AT_ONCE} searches of each kind")
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--reviews", type=int, default=5, help="of each document")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.documents)
        return
    with ExitStack() as stack:
        roots = {"before": asked.other.resolve(), "now": HERE.parents[1]}
        both = {name: Other(root, asked.documents, stack) for name, root in roots.items()}
        print(f"{'ms: process, PostgreSQL':28}{'before':>20}{'now':>20}   ratio")
        _report({f"search {person} {mode}": SEARCHES_AT_ONCE for person, mode in SEARCHES}, both, asked.rounds)
        _report({f"review {number}": 1 for number in range(asked.documents)}, both, asked.reviews)


def _report(works: dict[str, int], both: dict[str, Other], rounds: int) -> None:
    """Print what each work took; the works take turns, so that what else the machine does meets all alike."""
    taken: dict[str, dict[str, list[Spent]]] = {work: {name: [] for name in both} for work in works}
    for turn in range(rounds + 2):
        for work in works:
            for name in random.sample(list(both), len(both)):
                spent = both[name].ask(work)
                if turn > 1:  # the first ones load and compile
                    taken[work][name].append(spent)
    for work, calls in works.items():
        of_both = list(taken[work].values())
        ratio = statistics.median(sum(now) / sum(before) for before, now in zip(*of_both, strict=True))
        columns = [[statistics.median(part) / calls for part in zip(*spent, strict=True)] for spent in of_both]
        shown = "".join(f"{process:12.2f} {server:7.2f}" for process, server in columns)
        print(f"{work:28}{shown}   {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
