"""Working on a retrieval run: some questions at a time, each batch stored as it is answered."""

from __future__ import annotations

from collections.abc import Sequence

from hub.core.errors import Unavailable
from hub.core.lease import Lease
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.models import EvaluationCase, EvaluationRun
from hub.evaluation.working import RunFailed, caller_of, store_scores, work_on
from knowledge.evaluation.scoring import score_case
from knowledge.evaluation.summary import retrieval_summary
from knowledge.models import EmbeddingSet
from knowledge.types.search import SearchMode

QUESTIONS_AT_ONCE = 20


def execute(run_id: int) -> bool:
    """Work on a retrieval run until it is finished. False when it is finished or another has it."""
    return work_on(run_id, {RETRIEVAL: (ask_cases, retrieval_summary)})


def ask_cases(run: EvaluationRun, lease: Lease, cases: Sequence[EvaluationCase]) -> None:
    """Ask the questions that have no score yet of the run's embedding set. Raises RunFailed, LeaseLost."""
    principal = caller_of(run)
    embedding_set = EmbeddingSet.objects.select_related("policy").filter(pk=run.parameters["embedding_set"]).first()
    if embedding_set is None:
        raise RunFailed("the embedding set is gone")
    mode = SearchMode(run.parameters["mode"])
    left = [case for case in cases if str(case.pk) not in run.scores]
    for start in range(0, len(left), QUESTIONS_AT_ONCE):
        lease.renew()
        some = left[start : start + QUESTIONS_AT_ONCE]
        try:
            scores = {str(case.pk): score_case(principal, case, embedding_set, mode) for case in some}
        except Unavailable as error:
            raise RunFailed(str(error)) from error
        store_scores(run, lease, scores, (len(run.scores) + len(some)) / len(cases))
