"""How well embedding sets find what people marked as relevant: cases, runs, and one set against another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from hub.core.languages import in_language
from hub.evaluation.cases import RETRIEVAL, read_retrieval_cases
from hub.evaluation.metrics import bootstrap_mean, ndcg_at, recall_at, reciprocal_rank_at
from hub.evaluation.models import EvaluationCase, EvaluationDataset, EvaluationRun
from knowledge.models import EmbeddingSet, EmbeddingSetStatus
from knowledge.schemas.asked import FilterIn, search_filter
from knowledge.search.hybrid import search
from knowledge.search.query import check_query
from knowledge.services.embedding_sets import check_curator, find_set
from knowledge.types import Hit, SearchMode, SearchQuery

TOP = 10
# More than TOP, for several passages of one document are one document.
HITS_READ = 50
BAD_LINES_SHOWN = 5
DATASET_CODE = re.compile(r"[A-Za-z0-9_-]{1,63}")
FLIPS_KEPT = 200
LEGS_DOWN = ("vector_unavailable", "lexical_unavailable")
MEASURES = {"ndcg@10": ndcg_at, "recall@10": recall_at, "mrr@10": reciprocal_rank_at}

Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCases:
    """How many cases were new, and how many replaced an older answer to the same question."""

    created: int
    replaced: int


def get_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """Find a dataset that the caller may read by its code. Raises NotFound naming those there are for them."""
    visible = EvaluationDataset.objects.visible_to(principal)
    found = visible.filter(code=code).first()
    if found is None:
        known = ", ".join(visible.values_list("code", flat=True)) or "-"
        raise NotFound(_('There is no evaluation dataset "{dataset}". Known: {known}.'), dataset=code, known=known)
    return found


def import_retrieval_cases(
    *, principal: Principal, dataset: str, lines: Iterable[str], name: str = ""
) -> tuple[EvaluationDataset, ImportedCases]:
    """Add retrieval cases from JSON Lines to a dataset, which is made if need be. All of them, or none.

    Importing the same question again replaces its answer. Raises InvalidInput naming the lines that can't be read.
    """
    check_curator(principal)
    cases, bad = read_retrieval_cases(lines, check=search_of)
    if bad or not cases:
        shown = "; ".join(f"{line.number}: {line.reason}" for line in bad[:BAD_LINES_SHOWN])
        raise InvalidInput(
            _("{count} lines are no retrieval cases, of {total}. {shown}"),
            code="bad_cases",
            count=len(bad),
            total=len(bad) + len(cases),
            shown=shown,
        )
    with transaction.atomic():
        found = own_dataset(principal, dataset, name)
        created = 0
        for case in cases:
            _row, is_new = EvaluationCase.objects.update_or_create(
                dataset=found,
                kind=RETRIEVAL,
                digest=case.digest,
                defaults={"input": case.input, "expected": case.expected, "weight": case.weight},
            )
            created += is_new
        record_event(
            principal=principal, action="EVALUATION_IMPORT", resource=f"dataset:{found.code}", cases=len(cases)
        )
    return found, ImportedCases(created=created, replaced=len(cases) - created)


def own_dataset(principal: Principal, code: str, name: str = "") -> EvaluationDataset:
    """Find a dataset, or make it with the caller as its first reader.

    Raises NotFound for one they may not read, InvalidInput for a code that none can have.
    """
    if not DATASET_CODE.fullmatch(code):
        raise InvalidInput(_("code: expected up to 63 letters, digits, - and _, not {given!r}."), given=code[:80])
    found, is_new = EvaluationDataset.objects.get_or_create(code=code, defaults={"name": name or code})
    if not is_new:
        return get_dataset(principal, code)
    if principal.user_id is not None:
        found.readers.add(principal.user_id)
    return found


def compare_sets(
    *, principal: Principal, dataset: str, candidate: str, baseline: str = "", mode: SearchMode = SearchMode.HYBRID
) -> EvaluationRun:
    """Ask a dataset's questions of two sets and store a run for each; gives the candidate's, with its baseline's.

    ``baseline`` is the active set unless named. What the caller may not search is not found. Raises NotFound;
    Conflict when a set is not built, or the dataset has no retrieval cases.
    """
    check_curator(principal)
    principal.require(Scope.SEARCH)
    found = get_dataset(principal, dataset)
    cases = list(found.cases.filter(kind=RETRIEVAL))
    if not cases:
        raise Conflict(_('The dataset "{dataset}" has no retrieval cases.'), code="no_cases", dataset=dataset)
    sets = [_built_set(baseline), _built_set(candidate)]
    before, after = ({str(case.pk): score_case(principal, case, one, mode) for case in cases} for one in sets)
    with transaction.atomic():
        first = _store(principal, found, sets[0], mode, before, metrics=means(cases, before))
        metrics = means(cases, after) | difference(cases, before, after)
        run = _store(principal, found, sets[1], mode, after, metrics=metrics)
        run.baseline, run.flips = first, flips(cases, before, after)
        run.save(update_fields=["baseline", "flips"])
        record_event(
            principal=principal,
            action="EMBEDDING_SET_COMPARE",
            resource=f"embedding_set:{sets[1].name}"[:200],
            baseline=sets[0].name,
            dataset=found.code,
            run=run.public_id,
        )
    return run


def _built_set(name: str) -> EmbeddingSet:
    """A set that has been complete once; its latest passages may be a few seconds away."""
    found = find_set(name) if name else EmbeddingSet.objects.select_related("policy").filter(is_active=True).first()
    if found is None or not (found.is_active or found.built_at) or found.status == EmbeddingSetStatus.DROPPED:
        raise Conflict(
            _('The embedding set "{name}" is not built yet.'), code="embedding_set_incomplete", name=name or "-"
        )
    return found


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
                reason=in_language(notice.ja, notice.en),
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
    """Tell whether a passage is what one entry of a case's ``relevant`` names."""
    same_document = item["document"] in (hit.document_id, hit.document_path)
    return same_document and _folded(item.get("text", "")) in _folded(hit.content)


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


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


def _store(
    principal: Principal,
    dataset: EvaluationDataset,
    embedding_set: EmbeddingSet,
    mode: SearchMode,
    scores: Scores,
    *,
    metrics: dict[str, object],
) -> EvaluationRun:
    return EvaluationRun.objects.create(
        dataset=dataset,
        kind=RETRIEVAL,
        subject=embedding_set.name,
        parameters={"mode": mode.value, "model": embedding_set.model, "policy": str(embedding_set.policy)},
        metrics=metrics,
        scores=scores,
        principal=principal.name,
    )
