"""`manage.py publish`: compare a candidate with what is in force, and publish it if the gate lets it through."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from review.curation.prompts import publish_candidate
from review.evaluation import gate
from review.evaluation.gate_report import GateOut, GuardOut, gate_out

FLIPS_SHOWN = 20


class Command(HubCommand):
    help = (
        "Publish a check list's version, a prompt, or an embedding set: it is compared with what is in force first, on "
        "the datasets that guard it. Exit code 1 when the gate refuses it. Examples: "
        "manage.py publish prompt:judge@3 --compare-only; manage.py publish checklist:basic-design@2; "
        "manage.py publish embedding_set:e5-large"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "candidate", metavar="CANDIDATE", help="checklist:CODE@NUMBER, prompt:KIND@NUMBER or embedding_set:NAME"
        )
        parser.add_argument("--compare-only", action="store_true", help="show the difference and publish nothing")
        parser.add_argument(
            "--replaces",
            type=int,
            metavar="NUMBER",
            help="of a check list: the version that came into force since the draft was begun, which it takes back",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *, token: str, candidate: str, **options: Any) -> None:  # noqa: ANN401
        with cli_call():
            principal = local_principal(token)
            report = gate.compare(principal=principal, name=candidate, wait_s=None)
            facts = gate_out(report)
            is_published = facts.may_be_published and not options["compare_only"]
            if is_published:
                publish_candidate(principal=principal, name=candidate, replaces=options["replaces"])
        if options["json"]:
            self.print_json({**facts.model_dump(mode="json"), "published": is_published})
        else:
            self.stdout.write("\n".join(_lines(facts, is_published=is_published)))
        sys.exit(0 if facts.may_be_published else 1)


def _lines(facts: GateOut, *, is_published: bool) -> Iterator[str]:
    for guard in facts.guards:
        yield f"{guard.dataset}: {guard.standing}" + (f" ({guard.evaluation_id})" if guard.evaluation_id else "")
        if guard.reason:
            yield f"  {guard.reason}"
        yield from _difference(guard)
    if not facts.guards:
        yield "no dataset guards this"
    what = "published" if is_published else "not published"
    yield f"{facts.candidate}: {what} (gate: {facts.mode})"


def _difference(guard: GuardOut) -> Iterator[str]:
    if guard.comparison is None:
        return
    for name, measure in guard.measures.items():
        before, delta = guard.comparison.baseline_metrics.get(name), guard.comparison.delta.get(name)
        span = "" if measure.low is None else f"  [{measure.low:.3f}, {measure.high:.3f}]"
        yield f"  {name:20} {_number(before)} -> {_number(measure.value)}  {_number(delta, sign=True)}{span}"
    for flip in guard.comparison.flips[:FLIPS_SHOWN]:
        yield "  " + " ".join(f"{name}={value}" for name, value in flip.items())


def _number(value: float | None, *, sign: bool = False) -> str:
    return "-" if value is None else f"{value:+.3f}" if sign else f"{value:.3f}"
