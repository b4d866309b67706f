"""Working on an evaluation run: judging the documents of its cases, and summing up what was said of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from hub.core.lease import Lease
from hub.evaluation.cases import RETRIEVAL, REVIEW
from hub.evaluation.execution import RunFailed, Summary, caller_of, store_scores, work_on
from hub.evaluation.metrics import UNDECIDED, Judged, counts, figures, measure
from hub.evaluation.models import EvaluationCase, EvaluationRun
from knowledge.evaluation.measuring import ask_cases, retrieval_summary
from knowledge.models import DocumentVersion
from review.evaluation.judging import (
    DocumentJudge,
    Masters,
    ModelAnswers,
    budget_with,
    digest_of_contents,
    usage_of,
)
from review.evaluation.matching import compare, judged_of
from review.evaluation.model_steps import ANSWERED

FLIPS_KEPT = 200
Scores = Mapping[str, Mapping[str, Any]]


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
        metrics |= found.metrics
        details["compared_cases"] = found.cases
        by_key = {str(case.pk): case for case in cases}
        flips = [_described(by_key[flip["case"]], flip) for flip in found.flips[:FLIPS_KEPT]]
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


def _described(case: EvaluationCase, flip: Mapping[str, Any]) -> dict[str, Any]:
    asked = case.input
    about = {"document": asked["document"], "item": asked.get("item", ""), "decided_by": item_of(asked)}
    return {"case": case.pk, **about, **{name: flip[name] for name in ("expected", "before", "after", "is_worse")}}


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
    measured = run.parameters
    if measured["contents"] != digest_of_contents(list(measured["checklists"].values()), measured["prompts"]):
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
