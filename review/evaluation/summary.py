"""From the scores of a run's cases to its figures: overall, by group, and against its baseline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hub.evaluation.classification import Judged, counts, figures, measure
from hub.evaluation.models import EvaluationCase, EvaluationRun
from hub.evaluation.working import Summary
from review.evaluation.comparison import Flip, compare, judged_of
from review.evaluation.judging import ANSWERED

FLIPS_KEPT = 200


def document_key(case: Mapping[str, Any]) -> str:
    """Name a case's document among those that a run pins.

    Its id or path, with the collection before and the version behind it where the case names them.
    """
    name = f"{case['collection']}:{case['document']}" if case.get("collection") else str(case["document"])
    return f"{name}#v{case['version']}" if case.get("version") else name


def related_keys(case: Mapping[str, Any]) -> list[str]:
    """Name the documents that a case is judged beside, as :func:`document_key` does."""
    collection = f"{case['collection']}:" if case.get("collection") else ""
    return [f"{collection}{name}" for name in case.get("related_documents", ())]


def check_type_of(case: Mapping[str, Any]) -> str:
    """The kind of check that a case belongs to: as it says, else by its rule, else by what it names."""
    if case.get("check_type"):
        return str(case["check_type"])
    if case.get("rule_ids"):
        return str(case["rule_ids"][0]).partition(".")[0]
    return "coverage" if case.get("topic") else "item"


def item_of(case: Mapping[str, Any]) -> str:
    """What decides a case: the check item, the topic, or its rules."""
    named = case.get("check_item_id") or case.get("topic") or ", ".join(case.get("rule_ids", ()))
    return str(named or case.get("check_type", ""))


def review_summary(run: EvaluationRun, cases: Sequence[EvaluationCase]) -> Summary:
    """Give metrics, details and flips of a review run, as they are stored."""
    judged = {case.pk: judged_of(run.scores[str(case.pk)]) for case in cases}
    metrics: dict[str, Any] = dict(measure(list(judged.values())))
    details: dict[str, Any] = {
        **run.details,
        "counts": counts(list(judged.values())),
        "by_check_type": _groups(cases, judged, check_type_of),
        "by_document": _documents(cases, judged),
        "by_item": _groups(cases, judged, item_of, intervals=False),
        "model": model_part(run.scores),
    }
    flips: list[dict[str, Any]] = []
    if run.baseline is not None:
        found = compare(run.baseline.scores, run.scores)
        metrics |= {"delta": found.delta, "improved": found.improved, "regression": found.regression}
        metrics["baseline"] = found.baseline
        details["compared_cases"] = found.cases
        flips = [_flip_row(flip, {str(case.pk): case for case in cases}) for flip in found.flips[:FLIPS_KEPT]]
    return {"metrics": metrics, "details": details, "flips": flips}


def model_part(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Count the cases that a language model answered, and those that it should have, by the reason why it did not."""
    parts = Counter(score["model"] for score in scores.values() if score.get("model"))
    answered = parts.pop(ANSWERED, 0)
    return {"answered": answered, "left_open": dict(sorted(parts.items()))}


def _groups(
    cases: Sequence[EvaluationCase],
    judged: Mapping[int, Judged],
    name_of: Callable[[Mapping[str, Any]], str],
    *,
    intervals: bool = True,
) -> dict[str, Any]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for case in cases:
        groups[name_of(case.input)].append(judged[case.pk])
    return {name: figures(group, intervals=intervals) for name, group in sorted(groups.items())}


def _documents(cases: Sequence[EvaluationCase], judged: Mapping[int, Judged]) -> dict[str, Any]:
    """Figures of each document, and of all others with this one left out."""
    found = _groups(cases, judged, document_key)
    for name, group in found.items():
        others = [judged[case.pk] for case in cases if document_key(case.input) != name]
        group["without"] = figures(others, intervals=False) if others else None
    return found


def _flip_row(flip: Flip, cases: Mapping[str, EvaluationCase]) -> dict[str, Any]:
    asked = cases[flip.case].input
    return {
        "case": cases[flip.case].pk,
        "document": asked["document"],
        "item": asked.get("item", ""),
        "decided_by": item_of(asked),
        "expected": flip.expected,
        "before": flip.before,
        "after": flip.after,
        "is_worse": flip.is_worse,
    }
