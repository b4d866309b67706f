"""Evaluation runs: starting, waiting, reading, choosing the baseline. Every door calls these."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.core.queue import enqueue_on_commit
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.classification import MEASURES, REPRODUCIBILITY
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationCase, EvaluationDataset, EvaluationRun, RunStatus
from hub.evaluation.review_cases import REVIEW
from knowledge.backends.active_embedder import active_embedding_set
from knowledge.models import Document, VersionContent
from knowledge.services import retrieval_evaluation
from knowledge.services.retrieval_evaluation import get_dataset
from knowledge.services.workers import POLL_S, worker_is_alive
from knowledge.types import SearchMode
from review.evaluation import execution
from review.evaluation.judging import versions_in_force
from review.evaluation.summary import document_key, related_keys, retrieval_summary, review_summary
from review.judging.prompts import numbers_in_force
from review.models import CheckListVersion
from review.schemas.evaluation import ComparisonOut, comparison_out
from review.services.evaluation import require_curator, require_reader
from review.tasks import execute_evaluation

ALIASES = {"f1": "f1_score", "fpr": "false_positive_rate", "fnr": "false_negative_rate"}
KNOWN_METRICS = (*MEASURES, REPRODUCIBILITY, *retrieval_evaluation.MEASURES)
MOST_ROUNDS = 10
UNKNOWN_SHOWN = 20


def start_run(
    *,
    principal: Principal,
    dataset: str,
    compare_baseline: bool = False,
    kind: str = "",
    rounds: int = 2,
    candidates: Mapping[str, int] | None = None,
    baseline: EvaluationRun | None = None,
) -> EvaluationRun:
    """Queue a run of a dataset's cases over what is in force now.

    ``kind`` is review, or retrieval where a dataset has only such cases. ``rounds`` tells how often each document is
    judged, for the reproducibility. ``candidates`` replaces check lists' versions in force (code to version id);
    ``baseline`` is compared with instead of the dataset's own.
    Raises NotFound, InvalidInput, Conflict when there are no cases or none of the documents is there.
    """
    require_curator(principal)
    found = get_dataset(principal, dataset)
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InvalidInput(_("rounds: expected 1 to {limit}."), limit=MOST_ROUNDS)
    kind = _kind(found, kind)
    pins = _retrieval_pins() if kind == RETRIEVAL else _review_pins(principal, found, candidates or {}, rounds)
    details = {"notices": pins.pop("notices", [])}
    if baseline is None and compare_baseline:
        baseline = baseline_of(found, kind)
    if compare_baseline and baseline is None:
        details["notices"].append({"code": "no_baseline", "text": "no earlier run to compare with"})
    last = found.cases.filter(kind=kind).aggregate(last=Max("pk"))["last"]
    with transaction.atomic():
        run = EvaluationRun.objects.create(
            dataset=found,
            kind=kind,
            subject=pins.pop("subject")[:200],
            parameters={**pins, "last_case": last, "as_system": principal.user_id is None},
            details=details,
            baseline=baseline,
            status=RunStatus.QUEUED,
            progress=0,
            principal=principal.name,
            requested_by_id=principal.user_id,
        )
        record_event(
            principal=principal, action="EVALUATION_RUN", resource=f"evaluation_run:{run.public_id}", dataset=dataset
        )
        enqueue_on_commit(execute_evaluation, run_id=run.pk)
    return run


def _kind(dataset: EvaluationDataset, kind: str) -> str:
    there = set(dataset.cases.order_by().values_list("kind", flat=True).distinct())
    if kind not in ("", REVIEW, RETRIEVAL):
        raise InvalidInput(_("kind: expected review or retrieval."))
    chosen = kind or next((name for name in (REVIEW, RETRIEVAL) if name in there), REVIEW)
    if chosen not in there:
        raise Conflict(
            _('The dataset "{dataset}" has no {kind} cases. Import some first.'),
            code="no_cases",
            dataset=dataset.code,
            kind=chosen,
        )
    return chosen


def _review_pins(
    principal: Principal, dataset: EvaluationDataset, candidates: Mapping[str, int], rounds: int
) -> dict[str, Any]:
    """Pin check list versions and document versions, so that a resumed run measures the same."""
    checklists = versions_in_force() | dict(candidates)
    named = CheckListVersion.objects.filter(pk__in=checklists.values()).select_related("checklist")
    labels = sorted(f"{version.checklist.code} v{version.number}" for version in named)
    asked = list(dataset.cases.filter(kind=REVIEW).values_list("input", flat=True))
    documents, missing = _pinned_documents(principal, asked)
    if not documents:
        raise Conflict(
            _('None of the documents of the dataset "{dataset}" is there for you, among them: {missing}.'),
            code="documents_missing",
            dataset=dataset.code,
            missing=", ".join(missing[:UNKNOWN_SHOWN]),
        )
    notices = [{"code": "document_missing", "text": name} for name in missing]
    return {
        "subject": ", ".join(labels) or "-",
        "checklists": checklists,
        "documents": documents,
        "rounds": rounds,
        "prompts": numbers_in_force(),
        "notices": notices,
    }


def _pinned_documents(principal: Principal, asked: Sequence[Mapping[str, Any]]) -> tuple[dict[str, int], list[str]]:
    """Find the current version of each document that cases name; of several with one path the oldest document's."""
    names = {name for case in asked for name in (case["document"], *case.get("related_documents", ()))}
    rows = (
        Document.objects.visible_to(principal)
        .live()
        .filter(Q(public_id__in=names) | Q(path__in=names), current_version__isnull=False)
        .order_by("-pk")
        .values_list("pk", "public_id", "path", "collection__slug", "current_version_id")
    )
    known: dict[str, int] = {}
    documents: dict[str, int] = {}
    for pk, public_id, path, collection, version_id in rows:
        names_of = (public_id, path, f"{collection}:{path}", f"{collection}:{public_id}")
        known |= dict.fromkeys(names_of, version_id)
        documents |= dict.fromkeys(names_of, pk)
    known |= _named_versions(asked, documents)
    keys = {key for case in asked for key in (document_key(case), *related_keys(case))}
    return {key: known[key] for key in sorted(keys & known.keys())}, sorted(keys - known.keys())


def _named_versions(asked: Sequence[Mapping[str, Any]], documents: Mapping[str, int]) -> dict[str, int]:
    """Find the versions that cases name by number, as far as their text is still there."""
    wanted = {}
    for case in asked:
        document = documents.get(document_key({**case, "version": None}))
        if case.get("version") and document is not None:
            wanted[document_key(case)] = (document, case["version"])
    rows = VersionContent.objects.filter(version__document__in={document for document, _number in wanted.values()})
    there = {(row[0], row[1]): row[2] for row in rows.values_list("version__document", "version__number", "version")}
    return {key: there[named] for key, named in wanted.items() if named in there}


def _retrieval_pins() -> dict[str, Any]:
    active = active_embedding_set()
    return {
        "subject": active.name,
        "embedding_set": active.pk,
        "mode": SearchMode.HYBRID.value,
        "model": active.model,
        "policy": str(active.policy),
    }


def baseline_of(dataset: EvaluationDataset, kind: str) -> EvaluationRun | None:
    """The run that later ones are held against: the chosen one, else the newest completed one."""
    completed = dataset.runs.filter(kind=kind, status=RunStatus.COMPLETED).order_by("-is_baseline", "-pk")
    return completed.first()


def get_run(principal: Principal, run_id: str) -> EvaluationRun:
    """A run by its public id. Raises NotFound, also for runs of datasets that the caller may not read."""
    require_reader(principal)
    visible = EvaluationDataset.objects.visible_to(principal).values("pk")
    runs = EvaluationRun.objects.select_related("dataset", "baseline").filter(dataset__in=visible)
    found = runs.filter(public_id=run_id).first()
    if found is None:
        raise NotFound(_('There is no evaluation run "{run_id}".'), code="evaluation_not_found", run_id=run_id)
    return found


def list_runs(principal: Principal, *, dataset: str = "") -> QuerySet[EvaluationRun]:
    """The runs of datasets that the caller may read, newest first, without the scores of single cases."""
    visible = EvaluationDataset.objects.visible_to(principal)
    runs = EvaluationRun.objects.select_related("dataset", "baseline").filter(dataset__in=visible.values("pk"))
    runs = runs.defer("scores", "baseline__scores", "baseline__details").order_by("-pk")
    return runs.filter(dataset=get_dataset(principal, dataset)) if dataset else runs


def comparable_runs(principal: Principal, run: EvaluationRun) -> QuerySet[EvaluationRun]:
    """The other completed runs of a run's dataset and kind, newest first."""
    return (
        list_runs(principal)
        .filter(dataset=run.dataset_id, kind=run.kind, status=RunStatus.COMPLETED)
        .exclude(pk=run.pk)
    )


def compare_runs(principal: Principal, run_id: str, *, base_id: str) -> ComparisonOut:
    """Hold a completed run against any other of its dataset and kind: masters, prompts, sets, chunking side by side.

    Raises NotFound, InvalidInput (another dataset or kind), Conflict (not completed).
    """
    run, base = get_run(principal, run_id), get_run(principal, base_id)
    if (run.dataset_id, run.kind) != (base.dataset_id, base.kind) or run.pk == base.pk:
        raise InvalidInput(
            _("base: {base_id} is no other run of this dataset and kind."), base_id=base_id, field="base"
        )
    if run.status != RunStatus.COMPLETED or base.status != RunStatus.COMPLETED:
        raise Conflict(_("Only completed runs can be compared."), code="run_not_completed")
    run.baseline = base  # for this answer only: nothing is saved
    summary = (retrieval_summary if run.kind == RETRIEVAL else review_summary)(run, _judged_cases(run))
    run.metrics, run.details, run.flips = summary["metrics"], summary["details"], summary["flips"]
    return comparison_out(run)


def _judged_cases(run: EvaluationRun) -> list[EvaluationCase]:
    return list(run.dataset.cases.filter(pk__in=[int(name) for name in run.scores]))


def mark_baseline(*, principal: Principal, run_id: str) -> EvaluationRun:
    """Hold later runs of the dataset against this one. Raises NotFound, Conflict when it is not completed."""
    require_curator(principal)
    run = get_run(principal, run_id)
    if run.status != RunStatus.COMPLETED:
        raise Conflict(_("Only a completed run can be the baseline."), code="run_not_completed")
    with transaction.atomic():
        EvaluationRun.objects.filter(dataset=run.dataset, kind=run.kind, is_baseline=True).update(is_baseline=False)
        EvaluationRun.objects.filter(pk=run.pk).update(is_baseline=True)
        record_event(principal=principal, action="EVALUATION_BASELINE", resource=f"evaluation_run:{run_id}")
    return get_run(principal, run_id)


def wait_for_run(
    run: EvaluationRun,
    *,
    timeout_s: float | None,
    on_progress: Callable[[int, str], None] | None = None,
    work_here: bool = False,
) -> bool:
    """Wait until a run is finished. False when time ran out.

    The work is done here while no worker is alive, or with ``work_here`` anyway (inside a transaction no worker can
    see the run).
    """
    started = time.monotonic()
    while True:
        progress, status = EvaluationRun.objects.values_list("progress", "status").get(pk=run.pk)
        if on_progress:
            on_progress(progress, status)
        if status not in UNFINISHED_RUNS:
            return True
        if timeout_s is not None and time.monotonic() - started >= timeout_s:
            return False
        if (worker_is_alive() and not work_here) or not execution.execute(run.pk):
            time.sleep(POLL_S)


def chosen_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Translate asked names (``f1`` is ``f1_score``); all of them unless some are asked. Raises InvalidInput."""
    wanted = tuple(dict.fromkeys(ALIASES.get(name, name) for name in names))
    if unknown := sorted(set(wanted) - set(KNOWN_METRICS)):
        raise InvalidInput(
            _("metrics: unknown {unknown}. Known: {known}."),
            code="unknown_metric",
            unknown=", ".join(unknown),
            known=", ".join(KNOWN_METRICS),
        )
    return wanted or KNOWN_METRICS
