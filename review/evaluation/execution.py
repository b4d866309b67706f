"""Working on an evaluation run: document by document (or question by question), each stored as it is done.

Whoever holds the run's lease works on it; the next one after a crash keeps what is stored and goes on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from hub.access.principals import Principal, system_principal
from hub.access.services import principal_for_user, record_event
from hub.core.errors import Unavailable
from hub.core.lease import Lease, LeaseLost, claim, free
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.classification import UNDECIDED
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationCase, EvaluationRun, RunStatus
from knowledge.models import DocumentVersion, EmbeddingSet
from knowledge.services import retrieval_evaluation
from knowledge.types import SearchMode
from review.evaluation.contents import digest_of_contents
from review.evaluation.judging import DocumentJudge, Masters
from review.evaluation.model_answers import ModelAnswers, budget_with, usage_of
from review.evaluation.summary import document_key, related_keys, retrieval_summary, review_summary

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
STUCK_LIMIT = 20
QUESTIONS_AT_ONCE = 20

Scores = Mapping[str, Mapping[str, Any]]


class RunFailed(Exception):
    """The run can't go on; the text says why."""


def execute(run_id: int) -> bool:
    """Work on a run until it is finished. False when it is finished or another has it."""
    waiting = EvaluationRun.objects.filter(status__in=UNFINISHED_RUNS)
    before = waiting.filter(pk=run_id).values_list("baseline", flat=True).first()
    if before is not None and waiting.filter(pk=before).exists() and not execute(before):
        return False  # another process measures the baseline; the sweep comes back to this run
    lease = claim(waiting, run_id, status=RunStatus.RUNNING, attempts=F("attempts") + 1)
    if lease is None:
        return False
    run = EvaluationRun.objects.select_related("dataset", "baseline", "requested_by").get(pk=run_id)
    try:
        if run.attempts > MAX_ATTEMPTS:
            raise RunFailed(f"interrupted {MAX_ATTEMPTS} times in a row")
        if run.baseline is not None and run.baseline.status == RunStatus.FAILED:
            raise RunFailed(f"the run to compare with failed: {run.baseline.error}")
        cases = list(run.dataset.cases.filter(kind=run.kind, pk__lte=run.parameters["last_case"]))
        work = _ask if run.kind == RETRIEVAL else _judge
        work(run, lease, cases)
        _check_contents(run)
        _finish(run, lease, cases)
    except RunFailed as error:
        with transaction.atomic():
            lease.lock()
            _close(run, status=RunStatus.FAILED, error=str(error))
    except LeaseLost:
        logger.info("evaluation run %s was deleted or taken over", run.public_id)
    return True


def take_stuck() -> list[int]:
    """Find runs that nobody works on: never started, or crashed."""
    ready = EvaluationRun.objects.filter(free(), status__in=UNFINISHED_RUNS)
    return list(ready.order_by("created_at").values_list("pk", flat=True)[:STUCK_LIMIT])


def _judge(run: EvaluationRun, lease: Lease, cases: Sequence[EvaluationCase]) -> None:
    masters = Masters.load(list(run.parameters["checklists"].values()))
    model = _model(run, lease)
    groups: dict[str, list[EvaluationCase]] = defaultdict(list)
    for case in cases:
        groups[document_key(case.input)].append(case)
    versions = DocumentVersion.objects.select_related("document").in_bulk(list(run.parameters["documents"].values()))
    pinned = {name: versions[pk] for name, pk in run.parameters["documents"].items() if pk in versions}
    for done, (key, group) in enumerate(groups.items(), 1):
        if all(str(case.pk) in run.scores for case in group):
            continue
        lease.renew()
        bench = Bench(masters=masters, pinned=pinned, model=model)
        scores = _judged(group, pinned.get(key), bench, run.parameters["rounds"])
        if model is not None:
            run.details["usage"] = usage_of(model.budget)
        _store(run, lease, scores, done / len(groups))


def _check_contents(run: EvaluationRun) -> None:
    """Raise RunFailed when a pinned draft was edited since the run was asked for: it measured something else."""
    pinned = run.parameters
    if "contents" not in pinned:
        return
    if pinned["contents"] != digest_of_contents(list(pinned["checklists"].values()), pinned["prompts"]):
        raise RunFailed("a draft that the run measures was edited in the meantime; start another run")


def _model(run: EvaluationRun, lease: Lease) -> ModelAnswers | None:
    """The language model of a run that asks one."""
    pinned = run.parameters.get("model_asked")
    if pinned is None:
        return None
    return ModelAnswers(
        principal=_caller(run),
        pinned=pinned,
        prompts=run.parameters["prompts"],
        heartbeat=lambda: lease.hold_for(2 * settings.CONFIG.llm_timeout_s),
        budget=budget_with(run.details.get("usage", {})),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the documents of a run are judged with."""

    masters: Masters
    pinned: Mapping[str, DocumentVersion]
    model: ModelAnswers | None

    def judge_of(self, version: DocumentVersion | None, names: Sequence[str]) -> DocumentJudge | None:
        """A judge of a version beside the named documents; None without one of them."""
        others = [self.pinned[name] for name in names if name in self.pinned]
        if version is None or len(others) < len(names):
            return None
        return DocumentJudge(version, self.masters, others, self.model)


def _judged(cases: Sequence[EvaluationCase], version: DocumentVersion | None, bench: Bench, rounds: int) -> Scores:
    """Judge a document's cases ``rounds`` times from the start; without one of its documents nothing is decided.

    Cases that name related documents are judged beside those, others alone.
    """
    said: dict[int, list[str]] = {case.pk: [] for case in cases}
    parts: dict[int, str] = {}
    for _round in range(rounds):
        judges: dict[tuple[str, ...], DocumentJudge | None] = {}
        for case in cases:
            names = tuple(related_keys(case.input))
            if names not in judges:
                judges[names] = bench.judge_of(version, names)
            judge = judges[names]
            said[case.pk].append(judge.answer(case.input) if judge else UNDECIDED)
            parts[case.pk] = judge.model_part(case.input) if judge else ""
    return {str(case.pk): _score(case, said[case.pk], parts[case.pk]) for case in cases}


def _score(case: EvaluationCase, said: Sequence[str], model_part: str) -> dict[str, Any]:
    """A case's stored score. A model's answer comes from its recording the next time, which is no sign of stability."""
    score: dict[str, Any] = {
        "expected": case.expected["verdict"],
        "said": said[0],
        "weight": case.weight,
        "stable": len(set(said)) == 1 if len(said) > 1 and not model_part else None,
    }
    return score | {"model": model_part} if model_part else score


def _ask(run: EvaluationRun, lease: Lease, cases: Sequence[EvaluationCase]) -> None:
    principal = _caller(run)
    embedding_set = EmbeddingSet.objects.select_related("policy").filter(pk=run.parameters["embedding_set"]).first()
    if embedding_set is None:
        raise RunFailed("the embedding set is gone")
    mode = SearchMode(run.parameters["mode"])
    left = [case for case in cases if str(case.pk) not in run.scores]
    for start in range(0, len(left), QUESTIONS_AT_ONCE):
        lease.renew()
        some = left[start : start + QUESTIONS_AT_ONCE]
        try:
            scores = {
                str(case.pk): retrieval_evaluation.score_case(principal, case, embedding_set, mode) for case in some
            }
        except Unavailable as error:
            raise RunFailed(str(error)) from error
        _store(run, lease, scores, (len(run.scores) + len(some)) / len(cases))


def _caller(run: EvaluationRun) -> Principal:
    """Questions are asked with the eyes of the person who asked for the run."""
    if run.parameters["as_system"]:
        return system_principal("evaluation")
    if not isinstance(run.requested_by, User) or not run.requested_by.is_active:
        raise RunFailed("the person who started the run is gone")
    return principal_for_user(run.requested_by)


def _store(run: EvaluationRun, lease: Lease, scores: Mapping[str, Any], share: float) -> None:
    run.scores = {**run.scores, **scores}
    with transaction.atomic():
        lease.lock()
        EvaluationRun.objects.filter(pk=run.pk).update(
            scores=run.scores, details=run.details, progress=min(99, int(100 * share))
        )


def _finish(run: EvaluationRun, lease: Lease, cases: Sequence[EvaluationCase]) -> None:
    judged = [case for case in cases if str(case.pk) in run.scores]
    if not judged:
        raise RunFailed("the dataset has no cases any more")
    summary = (retrieval_summary if run.kind == RETRIEVAL else review_summary)(run, judged)
    with transaction.atomic():
        lease.lock()
        _close(run, status=RunStatus.COMPLETED, progress=100, **summary)
        record_event(
            principal=system_principal("evaluation"),
            action="EVALUATION_COMPLETE",
            resource=f"evaluation_run:{run.public_id}",
            dataset=run.dataset.code,
            regression=bool(summary["metrics"].get("regression")),
        )


def _close(run: EvaluationRun, **fields: object) -> None:
    EvaluationRun.objects.filter(pk=run.pk).update(**fields, finished_at=Now(), lease_token="", lease_expires_at=None)
