"""Measure the rules, and reviews with a model, on documents that none was made on, round by round.

``python -m benchmarks.first_shot`` prints how far the two readings agree. ``--documents FOLDER --round 1`` runs the
rules of the shipped check lists over the round's documents and prints agreement, false alarms and misses by kind of
row, type and format; ``--wrong`` also prints every row that is answered otherwise, ``--findings`` every finding, with
how sure it is.

With ``--model URL`` each document is reviewed by the whole path against an OpenAI-compatible endpoint, in a scratch
hub: judge, second opinion, reading. ``--handed-everything`` also (``--only-handed``: only) hands the same model each
whole document and the check list in one request. ``--all-ways`` does all three in one go, rules alone, the whole path
and everything handed over, and prints one table of them. ``--write FOLDER`` writes findings, rows and a file for blind
judging.

A round of one's own needs no change here: ``--documents FOLDER``, where FOLDER holds the documents and a
``sources.jsonl`` and a ``readings.jsonl`` of the form described in the README, measures those rows, all of its rounds
unless ``--round`` names some.

A round that has been run is not a first shot again: see the README before running one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.first_shot.outputs import table, write_all
from benchmarks.first_shot.readings import SOURCES, agreement, readings, rounds, rows_beside, sources

if TYPE_CHECKING:
    from benchmarks.first_shot.readings import Source
    from benchmarks.first_shot.running import Run
    from benchmarks.first_shot.with_model import Reviewed
    from hub.evaluation.metrics import Judged

LONGEST_QUOTE = 60
SHARES = ("agreement", "false_positive_rate", "false_negative_rate")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_shot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=Path, help="the folder with the documents named in sources.jsonl")
    parser.add_argument("--round", type=int, action="append", dest="rounds", help="default: 1, or all of FOLDER's own")
    parser.add_argument("--wrong", action="store_true", help="print the rows that are answered otherwise")
    parser.add_argument("--findings", action="store_true", help="print every finding")
    parser.add_argument(
        "--model", metavar="URL", help="an OpenAI-compatible endpoint, the part before /chat/completions"
    )
    parser.add_argument("--model-name", default="strong", help="the model to ask for (default: strong)")
    parser.add_argument("--price-in", type=Decimal, default=Decimal(1), help="US$ per million tokens in (default 1)")
    parser.add_argument("--price-out", type=Decimal, default=Decimal(5), help="US$ per million tokens out (default 5)")
    parser.add_argument("--context-tokens", type=int, default=16_000, help="LLM_CONTEXT_TOKENS (default 16000)")
    parser.add_argument("--reading-tokens", type=int, default=80_000, help="LLM_READING_TOKENS (default 80000)")
    parser.add_argument("--sweep-limit", type=int, default=30, help="findings of the reading per category (default 30)")
    parser.add_argument("--timeout", type=float, default=3500, help="seconds that an answer may take (default 3500)")
    parser.add_argument("--handed-everything", action="store_true", help="also hand the model everything at once")
    parser.add_argument("--only-handed", action="store_true", help="hand it everything, without the hub's own path")
    parser.add_argument("--all-ways", action="store_true", help="rules alone, the whole path, everything handed over")
    parser.add_argument("--hub", type=Path, help="keep the scratch hub and its recorded answers in this folder")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write findings, rows and blind.jsonl there")
    parser.add_argument("--judged", type=Path, metavar="FOLDER", help="answer rows by near.jsonl of FOLDER, judged")
    asked = parser.parse_args()
    if asked.judged:
        _print_judged(asked.judged)
        return
    if asked.documents is None:
        _print_agreement()
        return
    rows = rows_beside(asked.documents)
    wanted = asked.rounds or (rounds(rows) if rows == asked.documents else [1])
    if unknown := sorted(set(wanted) - set(rounds(rows))):
        parser.error(f"{rows / SOURCES} has no round {', '.join(map(str, unknown))}")
    chosen = [source for source in sources(rows) if source.round in wanted]
    if asked.model:
        with _hub_folder(asked.hub) as folder:
            _run_with_model(chosen, folder, asked)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    import django

    django.setup()
    from benchmarks.first_shot.running import OtherFile, run

    try:
        runs = [run(source, asked.documents) for source in chosen]
    except OtherFile as error:
        sys.exit(str(error))
    _print_figures(runs)
    if asked.wrong:
        _print_wrong(runs)
    if asked.findings:
        _print_findings(runs)


@contextmanager
def _hub_folder(kept: Path | None) -> Iterator[Path]:
    if kept:
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def _run_with_model(chosen: Sequence[Source], folder: Path, asked: argparse.Namespace) -> None:
    from benchmarks.first_shot.with_model import ModelOptions, review_all, start_hub

    options = ModelOptions(
        url=asked.model,
        model=asked.model_name,
        price_in=asked.price_in,
        price_out=asked.price_out,
        timeout_s=asked.timeout,
        context_tokens=asked.context_tokens,
        reading_tokens=asked.reading_tokens,
        sweep_limit=asked.sweep_limit,
    )
    start_hub(folder, options)
    from benchmarks.first_shot.running import OtherFile, run

    handed = asked.handed_everything or asked.only_handed or asked.all_ways
    try:
        ruled = [run(source, asked.documents) for source in chosen] if asked.all_ways else []
        reviewed, others = review_all(chosen, asked.documents, options, handed=handed, whole_path=not asked.only_handed)
    except OtherFile as error:
        sys.exit(str(error))
    if ruled:
        print("\nrules alone")
        _print_figures(ruled)
    for name, runs in (("the hub's whole path", reviewed), ("handed everything", others)):
        if runs:
            print(f"\n{name}")
            _print_figures(runs)
            _print_spent(runs)
            if asked.wrong:
                _print_wrong(runs)
    if asked.all_ways:
        print(table({"rules alone": ruled, "the whole path": reviewed, "the same model handed everything": others}))
    if asked.write:
        write_all(asked.write, reviewed, others)


def _print_judged(folder: Path) -> None:
    from benchmarks.first_shot.near import judged_rows

    print(f"{'':<30}  rows  agreement  false alarms  misses")
    for way in ("hub", "handed"):
        found = judged_rows(folder, way)
        shares = (found["metrics"][each]["value"] for each in SHARES)
        said = ["     –" if share is None else f"{share:6.3f}" for share in shares]
        print(f"{way:<30}  {found['details']['samples_evaluated']:>4}  {said[0]:>9}  {said[1]:>12}  {said[2]:>6}")


def _print_spent(runs: Sequence[Reviewed]) -> None:
    print(f"{'':<30}  requests  tokens in  tokens out    US$  at most, as estimated  steps")
    for done in runs:
        spent = done.spent
        most = "–" if spent.estimated_cost is None else f"{spent.estimated_cost:.3f}"
        steps = ", ".join(f"{name} {state}" for name, state in done.steps.items())
        print(
            f"{done.source.document:<30}  {spent.requests:>8}  {spent.tokens_in:>9}  {spent.tokens_out:>10}"
            f"  {spent.cost:>5.3f}  {most:>21}  {steps}"
        )
        for notice in done.notices:
            print(f"    {notice}")


def _print_agreement() -> None:
    found = agreement(readings())
    for kind, counts in [*sorted(found.items()), ("all", sum(found.values(), Counter()))]:
        twice = counts["alike"] + counts["otherwise"]
        print(f"{kind:<18} {counts['alike']:>4} of {twice:>3} read alike, {counts['one']} in one reading only")


def _print_figures(runs: Sequence[Run | Reviewed]) -> None:
    from benchmarks.first_shot.running import by_name

    answers = [one for done in runs for one in done.answers]
    print(f"{'':<30}  rows  agreement  false alarms  misses  undecided")
    _print_line("all", [one.judged for one in answers])
    for name in ("check_type", "document_type", "format", "document"):
        for value, judged in by_name(answers, name).items():
            _print_line(value, judged)
    for done in runs:
        if done.crashed:
            print(f"crashed on {done.source.document}: {', '.join(done.crashed)}")


def _print_line(name: str, judged: Sequence[Judged]) -> None:
    from hub.evaluation.metrics import figures

    found = figures(judged, intervals=False)
    measures, counts = found["metrics"], found["details"]
    shares = [measures[each]["value"] for each in SHARES]
    said = ["     –" if share is None else f"{share:6.3f}" for share in shares]
    print(f"{name:<30}  {len(judged):>4}  {said[0]:>9}  {said[1]:>12}  {said[2]:>6}  {counts['undecided']:>9}")


def _print_wrong(runs: Sequence[Run | Reviewed]) -> None:
    for one in (one for done in runs for one in done.answers if one.is_wrong):
        case = one.case
        print(f"{case['id']} {case['check_type']} {case['item']}: {case['expected_verdict']}, said {one.said}")


def _print_findings(runs: Sequence[Run]) -> None:
    from review.rules.certainty import certainty_of

    for done in runs:
        print(done.source.document)
        for found in done.findings:
            places = [
                done.text[span.start : span.end].replace("\n", " ")[:LONGEST_QUOTE] for span in found.evidence[:3]
            ]
            print(f"  {certainty_of(found.confidence).value} {found.rule_id}: {found.message.ja} {places}")


if __name__ == "__main__":
    main()
