"""Retrieval runs: asking the questions of a dataset of an embedding set, and summing up what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput, Unavailable
from hub.core.languages import shown
from hub.core.lease import Lease
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.execution import RunFailed, Summary, caller_of, store_scores, work_on
from hub.evaluation.metrics import bootstrap_mean, ndcg_at, recall_at, reciprocal_rank_at
from hub.evaluation.models import EvaluationCase, EvaluationRun
from knowledge.models import EmbeddingSet
from knowledge.search import FilterIn, check_query, search, search_filter
from knowledge.text.folding import normalise
from knowledge.types.search import Hit, SearchMode, SearchQuery

TOP = 10
# More than TOP, for several passages of one document are one document.
HITS_READ = 50
LEGS_DOWN = ("vector_unavailable", "lexical_unavailable")
MEASURES = {"ndcg@10": ndcg_at, "recall@10": recall_at, "mrr@10": reciprocal_rank_at}
FLIPS_KEPT = 200
Scores = Mapping[str, Mapping[str, float]]
QUESTIONS_AT_ONCE = 20


def score_case(
    principal: Principal, case: EvaluationCase, embedding_set: EmbeddingSet, mode: SearchMode
) -> dict[str, float]:
    """Ask a case's question of a set, with the caller's eyes, and give every measure of MEASURES.

    A case that was asked in a mode of its own is asked in that one. Raises Unavailable when a part of the search is
    down: what is left says nothing of the set.
    """
    found = search(principal, search_of(case.input, mode=mode), embedding_set=embedding_set)
    for notice in found.notices:
        if notice.code in LEGS_DOWN:
            raise Unavailable(
                _('The embedding set "{name}" can\'t be measured now: {reason}'),
                code=notice.code,
                name=embedding_set.name,
                reason=shown(notice),
            )
    ranked, gold = rank_gold(found.hits, case.expected["relevant"])
    return {name: measure(ranked, gold, TOP) for name, measure in MEASURES.items()}


def search_of(asked: Mapping[str, Any], *, mode: SearchMode = SearchMode.HYBRID) -> SearchQuery:
    """Read a case's input as the search that it was. Raises ValueError naming what can't be searched for."""
    given = asked.get("filter", {})
    if not isinstance(given, dict) or given.keys() - FilterIn.model_fields.keys():
        raise ValueError(f"filter: expected an object with some of {', '.join(FilterIn.model_fields)}")
    threshold, per_document = asked.get("threshold", 0.0), asked.get("per_document")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise ValueError("threshold: expected a number from 0 to 1")
    if isinstance(per_document, bool) or not isinstance(per_document, int | None):
        raise ValueError("per_document: expected a whole number")
    query = SearchQuery(
        text=asked["query"],
        mode=SearchMode(asked.get("mode", mode)),
        limit=HITS_READ,
        with_context=False,
        threshold=threshold,
        per_document=per_document,
        filter=search_filter(FilterIn.model_validate(given), asked.get("collection", "")),
    )
    try:
        return check_query(query)
    except InvalidInput as error:
        raise ValueError(str(error)) from error


def rank_gold(hits: Sequence[Hit], relevant: Sequence[Mapping[str, str]]) -> tuple[list[str], set[str]]:
    """Translate hits into a ranking of gold names: (names in rank order, all gold names).

    A document is found by any of its passages and counts once, at the best one's rank. A quote is found by a passage
    of its document that holds it, white space and widths aside; passages without any new gold keep their ranks.
    """
    gold = {f"gold {number}": item for number, item in enumerate(relevant)}
    by_passage = any("text" in item for item in relevant)
    ranked: list[str] = []
    for hit in hits:
        new = [name for name, item in gold.items() if name not in ranked and is_answer(hit, item)]
        if new:
            ranked += new
        elif by_passage:
            ranked.append(hit.chunk_id)
        elif hit.document_id not in ranked and not any(is_answer(hit, item) for item in relevant):
            ranked.append(hit.document_id)
    return ranked, set(gold)


def is_answer(hit: Hit, item: Mapping[str, str]) -> bool:
    """Return whether a passage is what one entry of a case's ``relevant`` names."""
    same_document = item["document"] in (hit.document_id, hit.document_path)
    return same_document and _without_blanks(item.get("text", "")) in _without_blanks(hit.content)


def _without_blanks(text: str) -> str:
    return "".join(normalise(text).split())


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
