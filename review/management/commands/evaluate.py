"""`manage.py evaluate`: measure what is in force on a dataset; exit code 1 on a regression."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from hub.core.errors import NotFound
from hub.evaluation.models import RunStatus
from review.evaluation import cases, datasets, runs
from review.evaluation.schemas import EvaluationOut, evaluation_out, import_out

FLIPS_SHOWN = 20
FAILED = 2


class Command(HubCommand):
    help = (
        "Measure the reviewer (or the search) on an evaluation dataset. Exit code 1 on a regression against the "
        "baseline, 2 when the run failed. Examples: manage.py evaluate gold --compare-baseline; "
        "manage.py evaluate gold --candidate checklist:basic-design@2; manage.py evaluate gold --import gold.jsonl"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("dataset", metavar="DATASET", help="code of the dataset")
        parser.add_argument("--compare-baseline", action="store_true", help="with the baseline run, or the newest")
        parser.add_argument("--kind", choices=["review", "retrieval"], default="", help="default: review if there is")
        parser.add_argument(
            "--candidate",
            default="",
            metavar="NAME",
            help="measured in the place of what is in force, and compared with that: checklist:CODE@NUMBER, "
            "prompt:KIND@NUMBER or embedding_set:NAME",
        )
        parser.add_argument("--ask-model", action="store_true", help="a language model judges what rules leave open")
        parser.add_argument("--rounds", type=int, default=2, help="how often each document is judged (default 2)")
        parser.add_argument("--metrics", default="", help="comma separated; default: all")
        parser.add_argument(
            "--import",
            dest="file",
            type=Path,
            help="first import cases (JSON Lines, Excel, a gold list)",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *, token: str, dataset: str, file: Path | None, **options: Any) -> None:  # noqa: ANN401
        with cli_call():
            principal = local_principal(token)
            metrics = runs.chosen_metrics([name for name in options["metrics"].split(",") if name])
            if file is not None:
                self._import(principal, dataset, file)
            run = runs.start_run(
                principal=principal,
                dataset=dataset,
                candidate=options["candidate"],
                compare_baseline=options["compare_baseline"],
                kind=options["kind"],
                rounds=options["rounds"],
                asks_model=options["ask_model"],
            )
            runs.wait_for_run(run, timeout_s=None, on_progress=self._show)
            facts = evaluation_out(runs.get_run(principal, run.public_id), metrics)
        if options["json"]:
            self.print_json(facts)
        else:
            self.stdout.write("\n".join(_table(facts)))
        if facts.status == RunStatus.FAILED:
            self.stderr.write(facts.error or "")
            sys.exit(FAILED)
        sys.exit(1 if facts.comparison and facts.comparison.regression else 0)

    def _import(self, principal: Principal, dataset: str, file: Path) -> None:
        if not file.is_file():
            raise CommandError(f"there is no file {file}")
        rows = cases.rows_in_file(file, file.name)
        try:
            datasets.read_dataset(principal, dataset)
        except NotFound:
            datasets.create_dataset(principal=principal, code=dataset)
        done = import_out(cases.import_cases(principal=principal, dataset=dataset, rows=rows))
        self.stderr.write(
            f"cases: {done.created} new, {done.replaced} replaced, {done.unchanged} unchanged; "
            f"{len(done.skipped_rows)} rows left out"
        )

    def _show(self, percent: int, status: str) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"{status} {percent} %")


def _table(facts: EvaluationOut) -> Iterator[str]:
    yield f"{facts.evaluation_id}: {facts.subject} ({facts.dataset}, {facts.details.samples_evaluated} cases)"
    for name, value in facts.metrics.items():
        interval = facts.intervals.get(name)
        span = f"  [{interval.low:.3f}, {interval.high:.3f}]" if interval and interval.low is not None else ""
        yield f"{name:20} {_number(value)}{span}"
    for title, groups in (("check type", facts.by_check_type), ("document", facts.by_document)):
        yield from _groups(title, groups)
    if facts.comparison:
        yield f"against {facts.comparison.baseline_evaluation_id}: regression {facts.comparison.regression}"
        for name, change in facts.comparison.delta.items():
            yield f"  {name:18} {'-' if change is None else f'{change:+.3f}'}"
        for flip in facts.comparison.flips[:FLIPS_SHOWN]:
            yield "  " + " ".join(f"{name}={value}" for name, value in flip.items())
    if facts.model_part:
        part = facts.model_part
        yield f"by a language model ({part.model or 'recorded verdicts'}): {part.answered} cases"
        for code, count in part.left_open.items():
            yield f"  left open: {count} ({code})"
    for notice in facts.notices:
        yield f"{notice['code']}: {notice['text']}"


def _groups(title: str, groups: dict[str, Any]) -> Iterator[str]:
    """One line a group: cases, agreement, false alarms, misses; for documents also the agreement of all others."""
    if groups:
        yield f"by {title}: cases, agreement, false positive rate, false negative rate"
    for name, group in groups.items():
        values = [group["metrics"][key]["value"] for key in ("agreement", "false_positive_rate", "false_negative_rate")]
        line = f"  {group['details']['samples_evaluated']:5} " + " ".join(map(_number, values)) + f"  {name}"
        without = group.get("without")
        yield line + (f" (left out: {_number(without['metrics']['agreement']['value'])})" if without else "")


def _number(value: float | None) -> str:
    return "    -" if value is None else f"{value:.3f}"
