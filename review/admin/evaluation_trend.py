"""The trend of a dataset: its measures over the runs, with the baseline, what changed in between, and the flips."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from hub.admin_site.charts import chart_options, series
from hub.admin_site.pages import principal_of, render_page
from hub.core.errors import HubError
from hub.evaluation.cases import RETRIEVAL, REVIEW
from hub.evaluation.models import EvaluationRun, RunStatus
from review.evaluation import datasets, runs
from review.evaluation.gate_report import is_worse
from review.evaluation.schemas import deltas_of

RUNS_SHOWN = 60
LABELS: dict[str, str | Promise] = {
    "f1_score": "F1",
    "agreement": _("agreement"),
    "precision": _("precision"),
    "recall": _("recall"),
    "false_positive_rate": _("false alarm rate"),
    "false_negative_rate": _("miss rate"),
    "reproducibility": _("reproducibility"),
    "ndcg@10": "nDCG@10",
    "recall@10": "recall@10",
    "mrr@10": "MRR@10",
}
SHOWN = {
    REVIEW: ("f1_score", "agreement", "precision", "recall", "reproducibility"),
    RETRIEVAL: ("ndcg@10", "recall@10", "mrr@10"),
}
# readable on white and on dark, and told apart by their dashes as well
COLOURS = ("#2563eb", "#0d9488", "#d97706", "#9333ea", "#64748b")
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 4), (2, 3), (10, 3, 2, 3), (1, 5))
WORSE, BETTER = "#dc2626", "#16a34a"


@require_GET
def trend_page(request: HttpRequest, code: str) -> HttpResponseBase:
    """Show a dataset's measures over its completed runs, the newest 60 of one kind."""
    principal = principal_of(request)
    try:
        dataset = datasets.read_dataset(principal, code)
    except HubError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:evaluation_evaluationdataset_changelist"))
    kinds = [kind for kind, number in ((REVIEW, dataset.review_cases), (RETRIEVAL, dataset.retrieval_cases)) if number]  # type: ignore[attr-defined]  # annotated
    kind = request.GET.get("kind", "") if request.GET.get("kind") in SHOWN else (kinds or [REVIEW])[0]
    completed = runs.list_runs(principal, dataset=code).filter(kind=kind, status=RunStatus.COMPLETED)
    shown = list(reversed(completed[:RUNS_SHOWN]))
    rows = list(rows_of(shown, SHOWN[kind]))
    return render_page(
        request,
        "admin/evaluation/trend.html",
        title=_("Trend of {dataset}").format(dataset=dataset.name),
        dataset=dataset,
        kind=kind,
        kinds=kinds,
        labels=[LABELS[name] for name in SHOWN[kind]],
        rows=list(reversed(rows)),
        measures_chart=json.dumps(_measures_chart(shown, SHOWN[kind])),
        flips_chart=json.dumps(_flips_chart(rows)),
        measures_options=json.dumps(chart_options(highest=1)),
        flips_options=json.dumps(chart_options(stacked=True)),
    )


def rows_of(runs: Sequence[EvaluationRun], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Give each run (oldest first) as a row: its values, the change of the leading one, what was changed before it."""
    before: EvaluationRun | None = None
    for run in runs:
        worse = sum(is_worse(flip) for flip in run.flips)
        yield {
            "run": run,
            "values": [value_of(run, name) for name in names],
            "delta": deltas_of(run).get(names[0]),
            "worse": worse,
            "better": len(run.flips) - worse,
            "changes": list(changes_between(before, run)) if before else [],
        }
        before = run


def value_of(run: EvaluationRun, name: str) -> float | None:
    """Read a measure; None where the run has none."""
    entry: Mapping[str, float | None] = run.metrics.get(name) or {}
    return entry.get("value")


def changes_between(before: EvaluationRun, run: EvaluationRun) -> Iterator[str]:
    """Say what a run measured otherwise than the one before it: masters, documents, cases, set, model, chunking."""
    old, new = before.parameters, run.parameters
    if before.subject != run.subject:
        yield f"{before.subject} → {run.subject}"
    documents = [
        name for name, version in new.get("documents", {}).items() if old.get("documents", {}).get(name) != version
    ]
    if documents:
        yield ngettext("{number} document", "{number} documents", len(documents)).format(number=len(documents))
    for name in ("model", "policy", "mode"):
        if old.get(name) != new.get(name):
            yield f"{old.get(name, '-')} → {new.get(name, '-')}"
    asked, asks = ((one.get("model_asked") or {}).get("model", "-") for one in (old, new))
    if asked != asks:
        yield f"{asked} → {asks}"
    if old.get("prompts") != new.get("prompts"):
        yield gettext("prompts")
    if old.get("last_case") != new.get("last_case"):
        yield gettext("cases")


def _label_of(run: EvaluationRun) -> str:
    day = timezone.localtime(run.created_at).strftime("%m-%d %H:%M")
    return f"{day} ★" if run.is_baseline else day


def _measures_chart(runs: Sequence[EvaluationRun], names: Sequence[str]) -> dict[str, Any]:
    """Lines of the measures in Chart.js's form; the baseline's points are larger."""
    radii = [7 if run.is_baseline else 3 for run in runs]
    lines = [
        series(str(LABELS[name]), [value_of(run, name) for run in runs], COLOURS[at])
        | {"borderDash": DASHES[at], "borderWidth": 2, "pointRadius": radii, "spanGaps": True}
        for at, name in enumerate(names)
    ]
    return {"labels": [_label_of(run) for run in runs], "datasets": lines}


def _flips_chart(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Cases that flipped against each run's baseline: better above the line, worse below it."""
    return {
        "labels": [_label_of(row["run"]) for row in rows],
        "datasets": [
            series(gettext("better"), [row["better"] for row in rows], BETTER),
            series(gettext("worse"), [-row["worse"] for row in rows], WORSE),
        ],
    }
