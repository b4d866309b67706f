"""Searches with no, one and two replicas: processor time of each server, and searches a second of equal shares.

Two questions. What does a search cost each server? That is processor time, which other programs hardly stretch. And how
many searches a second do so many servers give, each with the same share of a core (a control group's quota; needs root
and control groups of version 1)? All servers and the clients run on this machine, so that a share has to be small; the
clients have a group of their own without a quota. *Held back* is the part of the time in which a server wanted more
than its share: where none is, the count of searches says what the clients did, and nothing of the servers. The standbys
keep as much in memory as the primary.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.scratch import add_data_argument, scratch_hub

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
    add_data_argument(parser)
    return parser.parse_args()


def main() -> None:
    """Start a scratch hub with its standbys, and measure."""
    asked = parse_arguments()
    with scratch_hub(asked.keep) as folder:
        from hub.core.valkey import ensure_queue

        ensure_queue()
        _run(asked, folder)


def _run(asked: argparse.Namespace, folder: Path) -> None:
    from benchmarks.retrieval.prepared import questions_of_filled
    from hub.core.embedded import shared_postgres
    from hub.core.embedded.postgres import machine_memory_bytes, tuning_for
    from tests.standbys import read_at, standby_of

    questions = questions_of_filled(asked.data, asked.chunks, folder)
    primary = shared_postgres(folder / "postgres")
    with ExitStack() as stack:
        names, tuning = (f"copy{number}" for number in range(MOST_REPLICAS)), tuning_for(machine_memory_bytes())
        standbys = [stack.enter_context(standby_of(primary, name, **tuning)) for name in names]
        print(f"{'replicas':10}{'here':>8}{'primary':>9}{'replicas':>10} processor ms a search", end="")
        print(f"{'searches/s':>14}{'primary':>9}{'replicas':>10} held back at {asked.share:g} of a core each", end="")
        print(f", load {os.getloadavg()[0]:.1f}")
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
                line = f"{count:<10}{here:8.1f}{at_primary:9.2f}{sum(at_replicas):10.2f}"
                with _held_to(asked.share, servers) as groups:
                    rate = _rate(questions, asked.seconds)
                    primary_held, *replicas_held = map(_held_back, groups[: 1 + count])
                each = f"{sum(replicas_held) / count:.0%}" if count else "–"
                print(f"{line}{rate:37.1f}{primary_held:9.0%}{each:>10}", flush=True)


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
        answered = sum(pool.map(client, range(0, len(questions), len(questions) // CLIENTS)))
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
def _held_to(share: float, servers: Sequence[Any]) -> Iterator[list[Path]]:
    """Give each server a group with the same share of a core, and the clients one; yield the servers' groups."""
    groups = [GROUPS / f"hub-benchmark-{os.getpid()}-{number}" for number in range(len(servers) + 1)]
    try:
        for group, pids in zip(groups, ([os.getpid()], *map(_pids, servers)), strict=True):
            group.mkdir()
            if group is not groups[0]:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (group / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD_US)))
            for pid in pids:
                _move(str(pid), group)
        yield groups[1:]
    finally:
        for group in filter(Path.exists, groups):
            _dissolve(group)


def _held_back(group: Path) -> float:
    """The part of its periods in which a group used up its share and wanted more."""
    facts = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(facts["nr_throttled"]) / max(int(facts["nr_periods"]), 1)


def _dissolve(group: Path) -> None:
    """Remove a group; its members go on without one. They may start others meanwhile."""
    while members := (group / "cgroup.procs").read_text().split():
        for member in members:
            _move(member, GROUPS)
    group.rmdir()


def _move(pid: str, group: Path) -> None:
    with suppress(ProcessLookupError):  # one of a server's own short ones, such as a vacuum
        (group / "cgroup.procs").write_text(pid)


if __name__ == "__main__":
    main()
