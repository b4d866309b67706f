"""Measure search on question sets, and fit the calibration of its scores.

``python -m benchmarks.search`` prints nDCG@10, recall@10 and MRR@10 of the search service next to what one would take
otherwise, and how well 0.7 separates answers from strangers. ``python -m benchmarks.search fit`` writes
``knowledge/search/calibrations.json``. ``python -m benchmarks.search cross`` chooses weights and calibration on each
set and reports them on the others. ``python -m benchmarks.search sizes`` measures small parts of each set. ``python
-m benchmarks.search squad --data FOLDER`` measures files in SQuAD's format, such as English ones, beside the small
English set. ``python -m benchmarks.search scale`` measures latency by leg, recall under filters, build time and size
with synthetic passages, by default a hundred thousand; with ``--keep FOLDER`` the hub stays there, and the next time
it is only measured. ``python -m benchmarks.search rest`` measures what a REST search costs besides SQL and the model.
All use an embedded PostgreSQL, in a scratch folder unless it is kept; vectors are kept in ``--cache`` for the next
time. ``EMBEDDING_BACKEND`` chooses the model.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.scratch import add_data_argument, scratch_hub

COMMANDS = ("measure", "fit", "cross", "sizes", "squad", "scale", "rest")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="measure")
    parser.add_argument("--queries", type=int, default=300, help="questions of each set (default 300)")
    parser.add_argument("--chunks", type=int, default=100_000, help="passages of `scale` (default 100,000)")
    parser.add_argument("--keep", type=Path, help="folder of the hub of `scale`, measured again when filled")
    add_data_argument(parser)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "hub-benchmark-vectors")
    return parser.parse_args()


def main() -> None:
    """Start a scratch hub and run the command in it."""
    arguments = parse_arguments()
    with scratch_hub(arguments.keep, HUB_RATE_LIMIT_PER_MINUTE="1000000") as scratch:
        from benchmarks.retrieval import cross, fit, measure, rest, scale, sizes, squad

        if arguments.command == "scale":
            scale.run(arguments.data, arguments.chunks, scratch)
            return
        chosen = {"fit": fit, "cross": cross, "measure": measure, "rest": rest, "sizes": sizes, "squad": squad}
        chosen[arguments.command].run(arguments.data, arguments.queries, arguments.cache)


if __name__ == "__main__":
    main()
