"""Working on an evaluation run: document by document (or question by question), each stored as it is done.

Whoever holds the run's lease works on it; the next one after a crash keeps what is stored and goes on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from hub.access.principals import Principal, system_principal
from hub.access.services import principal_for_user, record_event
from hub.core.lease import Lease, LeaseLost, claim, free
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.classification import UNDECIDED
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationCase, EvaluationRun, RunStatus
from knowledge.models import DocumentVersion, EmbeddingSet
from knowledge.services import retrieval_evaluation
from knowledge.types import SearchMode
from review.evaluation.judging import DocumentJudge, Masters
from review.evaluation.summary import document_key, related_keys, retrieval_summary, review_summary

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
STUCK_LIMIT = 20
QUESTIONS_AT_ONCE = 20

Scores = dict[str, dict[str, Any]]


class RunFailed(Exception):
    """The run can't go on; the text says why."""


def execute(run_id: int) -> bool:
    """Work on a run until it is finished. False when it is finished or another has it."""
    waiting = EvaluationRun.objects.filter(status__in=UNFINISHED_RUNS)
    lease = claim(waiting, run_id, status=RunStatus.RUNNING, attempts=F("attempts") + 1)
    if lease is None:
        return False
    run = EvaluationRun.objects.select_related("dataset", "baseline", "requested_by").get(pk=run_id)
    try:
        if run.attempts > MAX_ATTEMPTS:
            raise RunFailed(f"interrupted {MAX_ATTEMPTS} times in a row")
        cases = list(run.dataset.cases.filter(kind=run.kind, pk__lte=run.parameters["last_case"]))
        work = _ask if run.kind == RETRIEVAL else _judge
        work(run, lease, cases)
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
    groups: dict[str, list[EvaluationCase]] = defaultdict(list)
    for case in cases:
        groups[document_key(case.input)].append(case)
    versions = DocumentVersion.objects.select_related("document").in_bulk(list(run.parameters["documents"].values()))
    pinned = {name: versions[pk] for name, pk in run.parameters["documents"].items() if pk in versions}
    for done, (key, group) in enumerate(groups.items(), 1):
        if all(str(case.pk) in run.scores for case in group):
            continue
        lease.renew()
        scores = _judged(group, pinned.get(key), pinned, masters, run.parameters["rounds"])
        _store(run, lease, scores, done / len(groups))


def _judged(
    cases: Sequence[EvaluationCase],
    version: DocumentVersion | None,
    pinned: Mapping[str, DocumentVersion],
    masters: Masters,
    rounds: int,
) -> Scores:
    """Judge a document's cases ``rounds`` times from the start; without one of its documents nothing is decided.

    Cases that name related documents are judged beside those, others alone.
    """
    said: dict[int, list[str]] = {case.pk: [] for case in cases}
    for _round in range(rounds):
        judges: dict[tuple[str, ...], DocumentJudge | None] = {}
        for case in cases:
            names = tuple(related_keys(case.input))
            if names not in judges:
                judges[names] = _judge_of(version, [pinned.get(name) for name in names], masters)
            judge = judges[names]
            said[case.pk].append(judge.answer(case.input) if judge else UNDECIDED)
    return {
        str(case.pk): {
            "expected": case.expected["verdict"],
            "said": said[case.pk][0],
            "weight": case.weight,
            "stable": len(set(said[case.pk])) == 1 if rounds > 1 else None,
        }
        for case in cases
    }


def _judge_of(
    version: DocumentVersion | None, related: Sequence[DocumentVersion | None], masters: Masters
) -> DocumentJudge | None:
    others = [one for one in related if one is not None]
    return DocumentJudge(version, masters, others) if version and len(others) == len(related) else None


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
        scores = {
            str(case.pk): dict(retrieval_evaluation.score_case(principal, case, embedding_set, mode)) for case in some
        }
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
        EvaluationRun.objects.filter(pk=run.pk).update(scores=run.scores, progress=min(99, int(100 * share)))


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
