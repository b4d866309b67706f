"""Holding one embedding set against another: two evaluation runs over the same questions, in the background."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.core.errors import Conflict, NotFound
from hub.core.queue import enqueue_on_commit
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.datasets import get_dataset
from hub.evaluation.execution import queue_run
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from knowledge.documents.workers import wait_for_run
from knowledge.embedding_sets.sets import find_set, record_step
from knowledge.evaluation import measuring
from knowledge.models import EmbeddingSet, EmbeddingSetStatus
from knowledge.types.search import SearchMode


def start_comparison(
    *, principal: Principal, dataset: str, candidate: str, baseline: str = "", mode: SearchMode = SearchMode.HYBRID
) -> EvaluationRun:
    """Queue a dataset's questions to two sets; gives the candidate's run, whose baseline is the other set's.

    ``baseline`` is the active set unless named. What the caller may not search is not found. Raises NotFound;
    Conflict when a set is not built, or the dataset has no retrieval cases.
    """
    principal.require_hub(HubRight.EVALUATION)
    principal.require(Scope.SEARCH)
    found = get_dataset(principal, dataset)
    last_case = found.cases.filter(kind=RETRIEVAL).aggregate(last=Max("pk"))["last"]
    if last_case is None:
        raise Conflict(_('The dataset "{dataset}" has no retrieval cases.'), code="no_cases", dataset=dataset)
    sets = [_built_set(baseline), _built_set(candidate)]
    asked = {"mode": mode.value, "last_case": last_case}
    with transaction.atomic():
        first = _queued(principal, found, sets[0], asked, None)
        run = _queued(principal, found, sets[1], asked, first)
        details = {"baseline": sets[0].name, "dataset": found.code, "run": run.public_id}
        record_step(principal, "COMPARE", sets[1], **details)
        enqueue_on_commit("knowledge.measure_set", run_id=run.pk)
    return run


def _built_set(name: str) -> EmbeddingSet:
    """A set that has been complete once; its latest chunks may be a few seconds away."""
    found = find_set(name) if name else EmbeddingSet.objects.select_related("policy").filter(is_active=True).first()
    if found is None or not (found.is_active or found.built_at) or found.status == EmbeddingSetStatus.DROPPED:
        raise Conflict(
            _('The embedding set "{name}" is not built yet.'), code="embedding_set_incomplete", name=name or "-"
        )
    return found


def _queued(
    principal: Principal,
    dataset: EvaluationDataset,
    embedding_set: EmbeddingSet,
    asked: dict[str, object],
    baseline: EvaluationRun | None,
) -> EvaluationRun:
    chosen = {"embedding_set": embedding_set.pk, "model": embedding_set.model, "policy": str(embedding_set.policy)}
    return queue_run(
        principal, dataset, kind=RETRIEVAL, subject=embedding_set.name, parameters=asked | chosen, baseline=baseline
    )


def list_comparisons(principal: Principal) -> QuerySet[EvaluationRun]:
    """The comparisons on datasets that the caller may read, with baseline and dataset, newest first."""
    visible = EvaluationDataset.objects.visible_to(principal)
    runs_of_two = EvaluationRun.objects.filter(kind=RETRIEVAL, baseline__isnull=False, dataset__in=visible)
    return runs_of_two.select_related("baseline", "dataset").order_by("-pk")


def get_comparison(principal: Principal, run_id: str) -> EvaluationRun:
    """A comparison by the id of its run. Raises NotFound, also for what the caller may not read."""
    principal.require_hub(HubRight.EVALUATION)
    found = list_comparisons(principal).filter(public_id=run_id).first()
    if found is None:
        raise NotFound(_('There is no evaluation run "{run_id}".'), code="evaluation_not_found", run_id=run_id)
    return found


def wait_for_comparison(principal: Principal, run: EvaluationRun, *, timeout_s: float | None = None) -> EvaluationRun:
    """Wait until a comparison is finished or the time is up, working on it here while no worker is alive."""
    wait_for_run(run.pk, execute=measuring.execute, timeout_s=timeout_s)
    return get_comparison(principal, run.public_id)
