"""Retrieval for a check item, by the strategy that its curator chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import NotFound
from knowledge.search import Retrieval, RetrievalStrategy, record_question, retrieve
from knowledge.types.search import SearchFilter
from review.judging.retrieval import STRATEGY_OF
from review.masters.listing import list_check_items


class CheckRetrieval(NamedTuple):
    """What was retrieved for a check item, and why that way."""

    retrieval: Retrieval
    reason: str


def retrieve_for_check(
    principal: Principal,
    *,
    check_item_id: str,
    document_id: str,
    query: str,
    force_strategy: RetrievalStrategy | None = None,
    context_chunks: Sequence[str] = (),
) -> CheckRetrieval:
    """Retrieve by the check item's strategy, unless the caller forces one.

    Without a query, the item's name is asked. Raises NotFound for an item that is not in force, and what
    :func:`knowledge.search.retrieval.retrieve` raises.
    """
    found = list_check_items(principal, code=check_item_id)
    if not found:
        raise NotFound(
            _('There is no check item "{given}" in force.'), code="check_item_not_found", given=check_item_id
        )
    item = found[0][1]
    strategy = force_strategy or STRATEGY_OF[item.strategy]
    why = "asked for by the caller" if force_strategy else f"the strategy of {check_item_id} ({item.check_type})"
    retrieval = retrieve(
        principal,
        document_id=document_id,
        query=query.strip() or item.name_ja,
        strategy=strategy,
        context_chunks=context_chunks,
    )
    record_question(
        principal,
        "SEARCH",
        query.strip() or item.name_ja,
        mode=f"retrieve {strategy}",
        asked=SearchFilter(document_ids=(document_id,)),
        documents=[document_id],
        results=len(retrieval.sources),
    )
    return CheckRetrieval(retrieval, f"{strategy}: {why}")
