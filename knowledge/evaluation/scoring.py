"""One case of a dataset: asking its question of an embedding set, and telling what was found from what should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput, Unavailable
from hub.core.languages import shown
from hub.evaluation.metrics import ndcg_at, recall_at, reciprocal_rank_at
from hub.evaluation.models import EvaluationCase
from knowledge.models import EmbeddingSet
from knowledge.search import FilterIn, check_query, search, search_filter
from knowledge.text.folding import normalise
from knowledge.types.search import Hit, SearchMode, SearchQuery

TOP = 10
# More than TOP, for several passages of one document are one document.
HITS_READ = 50
LEGS_DOWN = ("vector_unavailable", "lexical_unavailable")
MEASURES = {"ndcg@10": ndcg_at, "recall@10": recall_at, "mrr@10": reciprocal_rank_at}


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
    """Tell whether a passage is what one entry of a case's ``relevant`` names."""
    same_document = item["document"] in (hit.document_id, hit.document_path)
    return same_document and _without_blanks(item.get("text", "")) in _without_blanks(hit.content)


def _without_blanks(text: str) -> str:
    return "".join(normalise(text).split())
