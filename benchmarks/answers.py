"""Measure whether answers know what the documents do not say.

``python -m benchmarks.answers`` asks the question sets of HUB_TEST_DATA, and those of ``--squad`` (files in SQuAD's
format, one set each), three ways: with the passage that answers there, with it taken out while the rest of its
article stays, and the questions of the other sets. ``--half build`` has the questions that answers are built on,
``--half held``, the default, those of other articles, for reports. What is right of a sentence is known where the files
below ``--answers``, in SQuAD's format too, name the answers. Uses an embedded PostgreSQL in a scratch folder.

``--judged`` asks questions by hand of design documents and guidelines, too: with ``--half build`` those that answers
were built on (data/answers.json), else others of other documents (data/answers_held.json).
``--made`` searches nothing: it asks the check after a model about sentences made by rule of questions and answers.
``--model URL`` asks a language model, too: every question goes to an OpenAI-compatible endpoint at once, so that
somebody may answer them one by one (no run takes longer than ``--wait``), and the table has a line for the documents
alone and one with the model. ``--strangers`` and ``--unlike`` keep the samples small and new.
``--fit`` fits the chances that answers go by (``knowledge/answering/chances.json``) to the files of ``--squad`` and to
questions made by rule about one half of ``--documents``; nothing that is reported has a part in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.scratch import REPOSITORY, scratch_hub

if TYPE_CHECKING:
    from benchmarks.retrieval.question_sets import QuestionSet


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("--half", choices=("build", "held"), default="held")
    parser.add_argument("--queries", type=int, default=150, help="questions of each set (default 150)")
    default_data = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "retrieval"
    parser.add_argument("--strangers", type=int, help="questions of other sets (default: as many as --queries)")
    parser.add_argument("--english", type=int, help="questions of each English set (default: as many as --queries)")
    parser.add_argument(
        "--unlike",
        type=int,
        nargs="*",
        default=(),
        help="leave out what runs with up to so many --queries asked; further numbers: those that left that out",
    )
    parser.add_argument("--unlike-judged", type=int, default=0, help="leave out what runs with so many by hand asked")
    parser.add_argument("--data", type=Path, default=default_data, help="folder of question sets")
    parser.add_argument(
        "--squad", type=Path, help="folder of files in SQuAD's format, instead of --data; --model: beside"
    )
    parser.add_argument("--answers", type=Path, help="folder of files in SQuAD's format that name the answers")
    parser.add_argument("--judged", action="store_true", help="ask the questions by hand, too")
    parser.add_argument("--made", action="store_true", help="check sentences made by rule, right and wrong ones")
    parser.add_argument("--model", metavar="URL", help="an endpoint, the part before /chat/completions")
    parser.add_argument("--wait", type=float, default=3400, help="with --model: seconds that an answer may take")
    parser.add_argument("--ready", type=Path, help="with --model: a file that says how many requests wait, once all do")
    parser.add_argument("--lines", type=Path, help="with --model: a file that gets each question and its answers")
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
    if arguments.model:
        measure_model(arguments)
        return
    with scratch_hub():
        from benchmarks.answering import fitting, halves, judged, made, measure
        from benchmarks.retrieval.question_sets import read_sets

        sets = read_squad_files(arguments.squad) if arguments.squad else read_sets(arguments.data)
        if arguments.answers:
            sets = [halves.with_answers(one, arguments.answers) for one in sets]
        if arguments.made:
            made.run(sets, halves.Half(arguments.half), arguments.queries)
            return
        if arguments.fit:
            fitting.run(sets, arguments.documents, arguments.queries, arguments.cache)
            return
        strangers = arguments.queries if arguments.strangers is None else arguments.strangers
        measure.run(sets, halves.Half(arguments.half), arguments.queries, strangers, arguments.cache)
        if arguments.judged:
            judged.run(arguments.data.parent, halves.Half(arguments.half), arguments.cache)


def read_squad_files(folder: Path) -> list[QuestionSet]:
    """Read the files of a folder as one set each; Django is set up."""
    from benchmarks.retrieval.squad import read_squad_whole

    return [read_squad_whole(path) for path in sorted(folder.glob("*.json"))]


def measure_model(arguments: argparse.Namespace) -> None:
    """Start a scratch hub whose questions go to a model, and measure in it."""
    with scratch_hub(None, **model_settings(arguments.model, timeout_s=arguments.wait)):
        from benchmarks.answering import halves, judged, measure
        from benchmarks.answering.with_model import run
        from benchmarks.retrieval.question_sets import read_sets

        half = halves.Half(arguments.half)
        strangers = arguments.queries if arguments.strangers is None else arguments.strangers
        sets = [*read_sets(arguments.data), *(read_squad_files(arguments.squad) if arguments.squad else [])]
        if arguments.answers:
            sets = [halves.with_answers(one, arguments.answers) for one in sets]
        asked = measure.asked_of(
            sets,
            half,
            arguments.queries,
            strangers=strangers,
            unlike=arguments.unlike,
            english=arguments.english,
        )
        if arguments.judged:
            most, unlike = arguments.queries // 2, arguments.unlike_judged
            by_hand = judged.asked_of(arguments.data.parent, half, most, strangers, unlike=unlike)
            asked = [*asked, *by_hand]

        def waits(count: int) -> None:
            print(f"{count} requests wait", flush=True)
            if arguments.ready:
                arguments.ready.write_text(f"{count} requests wait\n", encoding="utf-8")

        run(asked, arguments.cache, lines=arguments.lines, waits=waits)


def model_settings(url: str, *, timeout_s: float) -> dict[str, str]:
    """Give the settings of a hub whose questions go to an endpoint."""
    return {
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": url,
        "LLM_MODEL": "strong",
        "LLM_TIMEOUT_S": str(timeout_s),
        "LLM_MAX_OUTPUT_TOKENS": "4000",
        "HUB_LLM_TOKEN_BUDGET": "20000000",
    }


if __name__ == "__main__":
    main()
