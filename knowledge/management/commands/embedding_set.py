"""`manage.py embedding_set`: make, build, compare, switch, roll back and drop embedding sets."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from tqdm import tqdm

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from hub.evaluation.models import EvaluationRun, RunStatus
from knowledge.embedding_sets import comparisons, sets, switching
from knowledge.embedding_sets.builds import SetProgress
from knowledge.embedding_sets.schemas import comparison_out, embedding_set_out
from knowledge.embedding_sets.sets import SetDraft, SetState
from knowledge.evaluation import questions
from knowledge.models import EmbeddingSet
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit
from knowledge.types.search import SearchMode

ACTIONS = ("list", "create", "build", "compare", "switch", "rollback", "drop", "import-cases")
NEED_A_NAME = ("create", "build", "compare", "switch", "drop")


class Command(HubCommand):
    help = (
        "Embedding sets: build one beside the active one, compare, switch, roll back, drop. "
        "Example: manage.py embedding_set create e5-large --backend sentence-transformers "
        "--model intfloat/multilingual-e5-large; then: build e5-large, compare e5-large --dataset gold, switch e5-large"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument("name", nargs="?", default="", help="of the set")
        parser.add_argument("--backend", default="bundled", help="bundled, bundled-fp32, sentence-transformers, openai")
        parser.add_argument("--model", default="", help="default: the backend's own")
        parser.add_argument("--base-url", default="", help="of an OpenAI-compatible server; default EMBEDDING_BASE_URL")
        parser.add_argument("--chunk-strategy", choices=[item.value for item in ChunkStrategy])
        parser.add_argument("--chunk-size", type=int, help="default: as the active set")
        parser.add_argument("--chunk-overlap", type=int)
        parser.add_argument("--chunk-unit", choices=[item.value for item in SizeUnit])
        parser.add_argument("--dataset", default="", metavar="CODE", help="with compare and import-cases")
        parser.add_argument("--file", type=Path, help="with import-cases: JSON Lines")
        parser.add_argument("--baseline", default="", metavar="NAME", help="with compare; default: the active set")
        parser.add_argument("--mode", choices=[mode.value for mode in SearchMode], default=SearchMode.HYBRID.value)
        parser.add_argument("--json", action="store_true")

    def handle(self, *, action: str, **options: Any) -> None:  # noqa: ANN401
        if action in NEED_A_NAME and not options["name"]:
            raise CommandError(f"name the set: manage.py embedding_set {action} NAME")
        with cli_call():
            run = getattr(self, f"_{action.replace('-', '_')}")
            run(local_principal(options["token"]), options)

    def _list(self, principal: Principal, options: dict[str, Any]) -> None:
        states = sets.list_sets(principal)
        if options["json"]:
            self.print_json({"embedding_sets": [_facts(state) for state in states]})
            return
        for state in states:
            self.stdout.write(_line(state))

    def _create(self, principal: Principal, options: dict[str, Any]) -> None:
        draft = SetDraft(
            name=options["name"],
            backend=options["backend"],
            model=options["model"],
            base_url=options["base_url"],
            chunk_options=_chunk_options(options),
        )
        self._print_set(principal, sets.create_set(principal=principal, draft=draft), options)

    def _build(self, principal: Principal, options: dict[str, Any]) -> None:
        found = sets.start_build(principal=principal, name=options["name"])
        with tqdm(unit="passage", disable=not sys.stderr.isatty()) as bar:
            is_ready = sets.work_on_set(found.name, on_progress=lambda progress: _show(bar, progress), wait=time.sleep)
        found.refresh_from_db()
        self._print_set(principal, found, options)
        if not is_ready:
            raise CommandError(found.status_reason or _("The set is not ready."))

    def _compare(self, principal: Principal, options: dict[str, Any]) -> None:
        run = comparisons.start_comparison(
            principal=principal,
            dataset=options["dataset"],
            candidate=options["name"],
            baseline=options["baseline"],
            mode=SearchMode(options["mode"]),
        )
        run = comparisons.wait_for_comparison(principal, run)
        if run.status == RunStatus.FAILED:
            raise CommandError(run.error)
        if options["json"]:
            self.print_json(comparison_out(run).model_dump(mode="json"))
        else:
            self.stdout.write("\n".join(_table(run)))

    def _switch(self, principal: Principal, options: dict[str, Any]) -> None:
        self._print_set(principal, switching.switch_to(principal=principal, name=options["name"]), options)

    def _rollback(self, principal: Principal, options: dict[str, Any]) -> None:
        self._print_set(principal, switching.roll_back(principal=principal), options)

    def _drop(self, principal: Principal, options: dict[str, Any]) -> None:
        dropped = sets.drop_set(principal=principal, name=options["name"])
        sets.clear_here(dropped.name)
        self._print_set(principal, dropped, options)

    def _import_cases(self, principal: Principal, options: dict[str, Any]) -> None:
        if not options["dataset"] or options["file"] is None:
            raise CommandError("give --dataset CODE and --file FILE.jsonl")
        try:
            lines = options["file"].read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']}: {error}") from error
        facts = questions.import_retrieval_cases(principal=principal, dataset=options["dataset"], lines=lines)
        if options["json"]:
            self.print_json(facts)
        else:
            self.stdout.write(", ".join(f"{name} {value}" for name, value in facts.items()))

    def _print_set(self, principal: Principal, embedding_set: EmbeddingSet, options: dict[str, Any]) -> None:
        state = sets.get_set(principal, embedding_set.name)
        if options["json"]:
            self.print_json(_facts(state))
        else:
            self.stdout.write(_line(state))


def _chunk_options(options: dict[str, Any]) -> ChunkOptions | None:
    kinds: dict[str, Callable[[Any], Any]] = {"strategy": ChunkStrategy, "size": int, "overlap": int, "unit": SizeUnit}
    asked = {name: options[f"chunk_{name}"] for name in kinds}
    given = {name: kinds[name](value) for name, value in asked.items() if value is not None}
    return ChunkOptions(**given) if given else None


def _show(bar: tqdm[NoReturn], progress: SetProgress) -> None:
    bar.total, bar.n = progress.total, progress.done
    bar.refresh()


def _facts(state: SetState) -> dict[str, object]:
    return embedding_set_out(state.embedding_set, state.progress).model_dump(mode="json")


def _line(state: SetState) -> str:
    row, progress = state.embedding_set, state.progress
    done = f"{progress.done}/{progress.total}" if progress else "-"
    eta = f"ETA {progress.eta_s:.0f} s" if progress and progress.eta_s else ""
    mark = "*" if row.is_active else " "
    parts = [f"{mark} {row.name}", row.backend, row.model, f"{row.dimension}-d", str(row.policy), row.status, done, eta]
    return "\t".join(part for part in [*parts, row.status_reason] if part)


def _table(run: EvaluationRun) -> list[str]:
    before = run.baseline.metrics if run.baseline else {}
    lines = [f"{run.public_id}: {run.subject} / {run.baseline.subject if run.baseline else '-'} ({run.dataset.code})"]
    for name, change in run.metrics["delta"].items():
        lines.append(
            f"{name:10} {run.metrics[name]['value']:.3f} / {before[name]['value']:.3f}  "
            f"{change['value']:+.3f} [{change['low']:+.3f}, {change['high']:+.3f}]"
        )
    lines += [f"  {flip['before']:.2f} -> {flip['after']:.2f}  {flip['query']}" for flip in run.flips[:20]]
    return lines
