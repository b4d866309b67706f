"""Measure whether answers know what the documents do not say.

``python -m benchmarks.answers`` asks the question sets of HUB_TEST_DATA, and those of ``--squad`` (files in SQuAD's
format, one set each), three ways: with the passage that answers there, with it taken out while the rest of its
article stays, and the questions of the other sets. ``--half build`` has the questions that answers are built on,
``--half held``, the default, those of other articles, for reports. What is right of a sentence is known where the files
below ``--answers``, in SQuAD's format too, name the answers. Uses an embedded PostgreSQL in a scratch folder.

``--judged`` asks questions by hand of design documents and guidelines, too: with ``--half build`` those that answers
were built on (data/answers.json), else others of other documents (data/answers_held.json).
``--fit`` fits the chances that answers go by (``knowledge/answering/chances.json``) to the files of ``--squad`` and to
questions made by rule about one half of ``--documents``; nothing that is reported has a part in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.scratch import REPOSITORY, scratch_hub


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("--half", choices=("build", "held"), default="held")
    parser.add_argument("--queries", type=int, default=150, help="questions of each set (default 150)")
    default_data = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "retrieval"
    parser.add_argument("--data", type=Path, default=default_data, help="folder of question sets")
    parser.add_argument("--squad", type=Path, help="folder of files in SQuAD's format, measured instead of --data")
    parser.add_argument("--answers", type=Path, help="folder of files in SQuAD's format that name the answers")
    parser.add_argument("--judged", action="store_true", help="ask the questions by hand, too")
    parser.add_argument("--fit", action="store_true", help="fit the chances instead of measuring")
    parser.add_argument("--documents", type=Path, help="with --fit: folder of documents")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "hub-benchmark-vectors")
    arguments = parser.parse_args()
    if arguments.fit and not arguments.squad:
        parser.error("--fit needs --squad: what is reported, the sets of --data, has no part in the fit")
    if not arguments.squad and not arguments.data.is_dir():
        sys.exit(f"no question sets in {arguments.data}: give --data or set HUB_TEST_DATA")
    return arguments


def main() -> None:
    """Start a scratch hub and measure in it."""
    arguments = parse_arguments()
    with scratch_hub():
        from benchmarks.answering import fitting, halves, judged, measure
        from benchmarks.retrieval.question_sets import read_sets
        from benchmarks.retrieval.squad import read_squad_whole

        sets = (
            [read_squad_whole(path) for path in sorted(arguments.squad.glob("*.json"))]
            if arguments.squad
            else read_sets(arguments.data)
        )
        if arguments.answers:
            sets = [halves.with_answers(one, arguments.answers) for one in sets]
        if arguments.fit:
            fitting.run(sets, arguments.documents, arguments.queries, arguments.cache)
            return
        measure.run(sets, halves.Half(arguments.half), arguments.queries, arguments.cache)
        if arguments.judged:
            judged.run(arguments.data.parent, halves.Half(arguments.half), arguments.cache)


if __name__ == "__main__":
    main()
