"""Working on an evaluation run: what judges the documents of a review run, each stored as it is done."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from hub.core.lease import Lease
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.classification import UNDECIDED
from hub.evaluation.models import EvaluationCase, EvaluationRun
from hub.evaluation.review_cases import REVIEW
from hub.evaluation.working import RunFailed, caller_of, store_scores, work_on
from knowledge.evaluation.runs import ask_cases
from knowledge.evaluation.summary import retrieval_summary
from knowledge.models import DocumentVersion
from review.evaluation.contents import digest_of_contents
from review.evaluation.judging import DocumentJudge, Masters
from review.evaluation.model_answers import ModelAnswers, budget_with, usage_of
from review.evaluation.summary import document_key, related_keys, review_summary

logger = logging.getLogger(__name__)

Scores = Mapping[str, Mapping[str, Any]]


def execute(run_id: int) -> bool:
    """Work on a run of any kind until it is finished. False when it is finished or another has it."""
    return work_on(run_id, {RETRIEVAL: (ask_cases, retrieval_summary), REVIEW: (_judge, review_summary)})


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
        store_scores(run, lease, scores, done / len(groups))
    _check_contents(run)


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
        principal=caller_of(run),
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
