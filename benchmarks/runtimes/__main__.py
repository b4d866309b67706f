"""Runtimes of the web process under the same calls: ``python -m benchmarks.runtimes [--only NAME …]``.

Starts PostgreSQL and Valkey in a scratch folder with the sample documents, then one runtime after the other over the
same data: request threads (the hub as it is) in one process and in two, Django's own way under ASGI, a2wsgi, and
granian over ASGI, over ASGI with a2wsgi, and over WSGI with MCP on a second port. Prints, for each, what calls take
idle and beside 50 clients who search, and bursts of 300 searches at one moment, with memory and connections; with
``--behaviour`` what becomes of streams, slow senders, too many connections, a full line and a stop. Half a minute to
two minutes for each runtime; PostgreSQL logs what Django's own way can't do.

Needs packages that the hub does without, in the environment that runs this: ``pip install a2wsgi granian``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.runtimes.servers import RUNTIMES, Callers, prepare, running

# What is measured is not the limits of one address, which all clients here share.
GENEROUS = {"HUB_MAX_CONNECTIONS_PER_ADDRESS": 2000, "HUB_MAX_CONNECTIONS": 2000}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runtimes", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=RUNTIMES, default=list(RUNTIMES))
    parser.add_argument("--behaviour", action="store_true", help="what becomes of calls in trouble, and no times")
    parser.add_argument("--calls", type=int, default=150, help="calls of each kind to an idle server (default 150)")
    parser.add_argument("--bursts", type=int, default=3, help="bursts of 300 searches (default 3)")
    parser.add_argument("--seconds", type=float, default=12, help="for which 50 clients search (default 12)")
    parser.add_argument("--json", type=Path, help="a file to add the rows to, a line of JSON for each runtime")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hub-runtimes-", ignore_cleanup_errors=True) as scratch:
        home = Path(scratch)
        home.chmod(0o711)
        callers = prepare(home)
        for name in asked.only:
            rows = _rows(name, home, callers, asked)
            _print(name, rows)
            if asked.json:
                with asked.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"runtime": name, **rows}, ensure_ascii=False) + "\n")


def _rows(name: str, home: Path, callers: Callers, asked: argparse.Namespace) -> dict[str, str]:
    from benchmarks.runtimes import behaviour, figures

    if asked.behaviour:
        return behaviour.observe(name, home, callers)
    with running(name, home, **GENEROUS) as server:
        return figures.measure(server, callers, calls=asked.calls, bursts=asked.bursts, seconds=asked.seconds)


def _print(name: str, rows: dict[str, str], write: Callable[[str], object] = sys.stdout.write) -> None:
    write(f"\n{name}\n")
    for what, value in rows.items():
        write(f"  {what:55} {value}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
