"""Searches with no, one and two replicas: processor time of each server, and searches a second of equal shares.

Two questions. What does a search cost each server? That is processor time, which other programs hardly stretch. And how
many searches a second do so many servers give, each with the same share of a core (a control group's quota; needs root
and control groups of version 1)? All servers and the clients run on this machine, so that a share has to be small.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
QUERIES = 200
CLIENTS = 12
MOST_REPLICAS = 2
GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_US = 100_000


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000, help="passages (default 100,000)")
    parser.add_argument("--keep", type=Path, help="folder of the hub, measured again when filled")
    parser.add_argument("--share", type=float, default=0.15, help="of a core, for each server (default 0.15)")
    parser.add_argument("--seconds", type=float, default=20, help="of each count of searches (default 20)")
    default_data = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "retrieval"
    parser.add_argument("--data", type=Path, default=default_data, help="folder of question sets")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        sys.exit(f"no question sets in {arguments.data}: give --data or set HUB_TEST_DATA")
    return arguments


def main() -> None:
    """Start a scratch hub with its standbys, and measure."""
    asked = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        folder = asked.keep.resolve() if asked.keep else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        own = {"HUB_DATA_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "POSTGRES_HOST": ""}
        own |= {"DJANGO_SETTINGS_MODULE": "hub.settings", "LOG_LEVEL": "ERROR"}
        os.environ |= own
        import django

        django.setup()
        from django.core.management import call_command

        from hub.core.valkey import ensure_queue

        ensure_queue()
        call_command("migrate", verbosity=0)
        _run(asked, folder)


def _run(asked: argparse.Namespace, folder: Path) -> None:
    from hub.core.embedded import shared_postgres
    from tests.standbys import read_at, standby_of

    questions = _questions(asked, folder)
    primary = shared_postgres(folder / "postgres")
    with ExitStack() as stack:
        standbys = [stack.enter_context(standby_of(primary, f"copy{number}")) for number in range(MOST_REPLICAS)]
        print(f"{'replicas':10}{'here':>8}{'primary':>9}{'replicas':>10} processor ms a search", end="")
        print(f"{'searches/s':>14} with {asked.share:g} of a core each, load {os.getloadavg()[0]:.1f}")
        for count in range(MOST_REPLICAS + 1):
            with read_at(standbys[:count], primary):
                _ask_all(questions)
                _ask_all(questions)  # each server has everything in memory
                servers = [primary, *standbys]
                before = (time.process_time(), *map(_spent, servers))
                _ask_all(questions)
                here, at_primary, *at_replicas = (
                    (now - then) * 1000 / len(questions)
                    for now, then in zip((time.process_time(), *map(_spent, servers)), before, strict=True)
                )
                with _held_to(asked.share, servers):
                    rate = _rate(questions, asked.seconds)
                told = f"{count:<10}{here:8.1f}{at_primary:9.2f}{sum(at_replicas):10.2f}"
                print(f"{told}{rate:37.1f}", flush=True)


def _questions(asked: argparse.Namespace, folder: Path) -> list[str]:
    import random

    from benchmarks.retrieval.filling import filled
    from benchmarks.retrieval.question_sets import read_sets
    from benchmarks.retrieval.scale import PreparedVectors
    from knowledge.index.active_embedder import active_embedding_set
    from knowledge.search import recall

    sets = read_sets(asked.data)
    vectors = filled(asked.chunks, sets, active_embedding_set(), QUERIES, folder)
    drawn = random.Random(0).sample([q.text for one in sets for q in one.questions], QUERIES)
    prepared = PreparedVectors(dict(zip(drawn, vectors, strict=True)))
    setattr(recall, "embedder_of", lambda _set: prepared)  # noqa: B010 (a stand-in for a name it imports)
    return drawn


def _ask(text: str) -> None:
    from hub.access.principals import local_operator
    from knowledge.search.hybrid import search
    from knowledge.types.search import SearchQuery

    search(local_operator(), SearchQuery(text=text))


def _ask_all(questions: Sequence[str]) -> None:
    for text in questions:
        _ask(text)


def _rate(questions: Sequence[str], seconds: float) -> float:
    """Count how many searches a second several clients have answered, without the first moments."""
    from django.db import connections

    end = [0.0]

    def client(first: int) -> int:
        answered = 0
        for text in (*questions[first:], *questions[:first]) * 1000:
            if time.perf_counter() > end[0]:
                break
            _ask(text)
            answered += 1
        connections.close_all()
        return answered

    with ThreadPoolExecutor(max_workers=CLIENTS) as pool:
        begun = time.perf_counter()
        end[0] = begun + seconds
        answered = sum(pool.map(client, range(0, QUERIES, QUERIES // CLIENTS)))
        return answered / (time.perf_counter() - begun)


def _spent(server: Any) -> float:
    """Processor seconds of a server's living processes. Source: proc(5), utime and stime."""
    ticks = 0
    for pid in _pids(server):
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


def _pids(server: Any) -> set[int]:
    from hub.core.embedded.server import marked_pids

    return marked_pids(server.marker, server.process_names)


@contextmanager
def _held_to(share: float, servers: Sequence[Any]) -> Iterator[None]:
    """Give each server the same share of a core. What it starts meanwhile counts with it."""
    groups = [GROUPS / f"hub-benchmark-{os.getpid()}-{number}" for number, _server in enumerate(servers)]
    try:
        for group, server in zip(groups, servers, strict=True):
            group.mkdir()
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD_US)))
            for pid in _pids(server):
                _move(str(pid), group)
        yield
    finally:
        for group in filter(Path.exists, groups):
            for member in (group / "cgroup.procs").read_text().split():
                _move(member, GROUPS)
            group.rmdir()


def _move(pid: str, group: Path) -> None:
    with suppress(ProcessLookupError):  # one of a server's own short ones, such as a vacuum
        (group / "cgroup.procs").write_text(pid)


if __name__ == "__main__":
    main()
