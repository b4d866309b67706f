"""From the scores of cases to figures: of one set, and of one set against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hub.evaluation.metrics import bootstrap_mean
from hub.evaluation.models import EvaluationCase, EvaluationRun
from hub.evaluation.working import Summary
from knowledge.evaluation.scoring import MEASURES

FLIPS_KEPT = 200

Scores = Mapping[str, Mapping[str, float]]


def retrieval_summary(run: EvaluationRun, cases: Sequence[EvaluationCase]) -> Summary:
    """Give metrics, details and flips of a retrieval run, as they are stored."""
    metrics: dict[str, Any] = dict(means(cases, run.scores))
    flipped: list[dict[str, Any]] = []
    details: dict[str, Any] = {**run.details, "counts": {"samples_evaluated": len(cases)}}
    before = run.baseline.scores if run.baseline else {}
    shared = [case for case in cases if str(case.pk) in before]
    if shared:
        metrics |= difference(shared, before, run.scores)
        old = means(shared, before)
        metrics["baseline"] = {name: old[name]["value"] for name in MEASURES}  # type: ignore[index]
        metrics["regression"] = metrics["improved"] is False
        details["compared_cases"] = len(shared)
        flipped = flips(shared, before, run.scores)
    return {"metrics": metrics, "details": details, "flips": flipped}


def means(cases: Sequence[EvaluationCase], scores: Scores) -> dict[str, object]:
    """Give the weighted mean of each measure with its 95 % interval, and the number of cases."""
    weights = [case.weight for case in cases]
    means = {
        name: bootstrap_mean([scores[str(case.pk)][name] for case in cases], weights).as_dict() for name in MEASURES
    }
    return {"cases": len(cases), **means}


def difference(cases: Sequence[EvaluationCase], before: Scores, after: Scores) -> dict[str, object]:
    """``delta`` of each measure, case by case; ``improved`` when nDCG is higher beyond chance, null when unsure."""
    weights = [case.weight for case in cases]
    delta = {}
    for name in MEASURES:
        differences = [after[str(case.pk)][name] - before[str(case.pk)][name] for case in cases]
        delta[name] = bootstrap_mean(differences, weights)
    ndcg = delta["ndcg@10"]
    improved = True if ndcg.low > 0 else (False if ndcg.high < 0 else None)
    return {"delta": {name: interval.as_dict() for name, interval in delta.items()}, "improved": improved}


def flips(cases: Sequence[EvaluationCase], before: Scores, after: Scores) -> list[dict[str, object]]:
    """The cases whose recall changed, those that lost first."""
    changed = []
    for case in cases:
        old, new = before[str(case.pk)]["recall@10"], after[str(case.pk)]["recall@10"]
        if old != new:
            changed.append({"case": case.pk, "query": case.input["query"], "before": old, "after": new})
    return sorted(changed, key=lambda flip: flip["after"] - flip["before"])[:FLIPS_KEPT]
