"""Measure the rules, without a model, on documents that none was made on, round by round.

``python -m benchmarks.first_shot`` prints how far the two readings agree. ``--documents FOLDER --round 1`` runs the
rules of the shipped check lists over the round's documents and prints agreement, false alarms and misses by kind of
row, type and format; ``--wrong`` also prints every row that is answered otherwise, ``--findings`` every finding.
A round that has been run is not a first shot again: see the README before running one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.first_shot.readings import ROUNDS, agreement, readings, sources

if TYPE_CHECKING:
    from benchmarks.first_shot.running import Run
    from hub.evaluation.metrics import Judged

LONGEST_QUOTE = 60


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_shot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=Path, help="the folder with the documents named in sources.jsonl")
    parser.add_argument("--round", type=int, action="append", choices=ROUNDS, dest="rounds", help="default: 1")
    parser.add_argument("--wrong", action="store_true", help="print the rows that are answered otherwise")
    parser.add_argument("--findings", action="store_true", help="print every finding")
    asked = parser.parse_args()
    if asked.documents is None:
        _print_agreement()
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    import django

    django.setup()
    from benchmarks.first_shot.running import OtherFile, run

    try:
        runs = [run(source, asked.documents) for source in sources() if source.round in (asked.rounds or [1])]
    except OtherFile as error:
        sys.exit(str(error))
    _print_figures(runs)
    if asked.wrong:
        _print_wrong(runs)
    if asked.findings:
        _print_findings(runs)


def _print_agreement() -> None:
    found = agreement(readings())
    for kind, counts in [*sorted(found.items()), ("all", sum(found.values(), Counter()))]:
        twice = counts["alike"] + counts["otherwise"]
        print(f"{kind:<18} {counts['alike']:>4} of {twice:>3} read alike, {counts['one']} in one reading only")


def _print_figures(runs: Sequence[Run]) -> None:
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
    shares = [measures[each]["value"] for each in ("agreement", "false_positive_rate", "false_negative_rate")]
    said = ["     –" if share is None else f"{share:6.3f}" for share in shares]
    print(f"{name:<30}  {len(judged):>4}  {said[0]:>9}  {said[1]:>12}  {said[2]:>6}  {counts['undecided']:>9}")


def _print_wrong(runs: Sequence[Run]) -> None:
    for one in (one for done in runs for one in done.answers if one.is_wrong):
        case = one.case
        print(f"{case['id']} {case['check_type']} {case['item']}: {case['expected_verdict']}, said {one.said}")


def _print_findings(runs: Sequence[Run]) -> None:
    for done in runs:
        print(done.source.document)
        for found in done.findings:
            places = [
                done.text[span.start : span.end].replace("\n", " ")[:LONGEST_QUOTE] for span in found.evidence[:3]
            ]
            print(f"  {found.rule_id}: {found.message.ja} {places}")


if __name__ == "__main__":
    main()
