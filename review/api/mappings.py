"""REST calls about the mapping of check items to guideline articles, and what a new edition put in doubt."""

from __future__ import annotations

from typing import Annotated

from ninja import Field, Query, Router, Schema, Status

from hub.rest.auth import HubRequest
from hub.rest.schemas import LongText, ShortText
from review import mappings

router = Router(tags=["knowledge"])

RESULTS_SHOWN = 100


class MappingQuery(Schema):
    guideline_article: ShortText = Field("", description="code of an article, such as PG-1.3")
    check_item_id: ShortText = Field("", description="code of a check item, such as BD-B01")
    include_rationale: bool = True


class MappingIn(Schema):
    article: ShortText
    check_item: ShortText
    relation: ShortText = Field(description="direct, indirect or derived")
    rationale_ja: LongText = ""
    rationale_en: LongText = ""


class SuspectQuery(Schema):
    with_cleared: bool = False


class ClearIn(Schema):
    reason: LongText = Field(description="what was found when the check item was looked at")


@router.get("/guidelines/mappings", response=list[mappings.MappingOut])
def list_mappings(request: HubRequest, filters: Annotated[MappingQuery, Query()]) -> list[mappings.MappingOut]:
    """The check items that rest on articles, and which of them are suspect."""
    return mappings.list_mappings(
        request.principal,
        article=filters.guideline_article,
        check_item=filters.check_item_id,
        with_rationale=filters.include_rationale,
    )


@router.put("/guidelines/mappings", response=mappings.MappingOut)
def save_mapping(request: HubRequest, fields: MappingIn) -> mappings.MappingOut:
    """Map a check item to an article in force, or change how."""
    mappings.save_mapping(principal=request.principal, **fields.model_dump())
    return mappings.list_mappings(request.principal, article=fields.article, check_item=fields.check_item)[0]


@router.delete("/guidelines/mappings/{article}/{check_item}", response={204: None})
def delete_mapping(request: HubRequest, article: str, check_item: str) -> Status[None]:
    """Take a mapping away."""
    mappings.delete_mapping(principal=request.principal, article=article, check_item=check_item)
    return Status(204, None)


@router.get("/guidelines/suspects", response=mappings.SuspectsOut)
def list_suspects(request: HubRequest, filters: Annotated[SuspectQuery, Query()]) -> mappings.SuspectsOut:
    """What new editions put in doubt: check items, and the results that were judged before."""
    marks = mappings.list_suspects(request.principal, with_cleared=filters.with_cleared)
    results = mappings.suspect_results(request.principal)
    shown = list(results[:RESULTS_SHOWN])
    reasons = mappings.suspect_reasons(shown)
    return mappings.SuspectsOut(
        suspects=[mappings.suspect_out(mark) for mark in marks],
        results=[mappings.suspect_result_out(result, reasons[result.pk]) for result in shown],
        total_results=results.count(),
    )


@router.post("/guidelines/suspects/{suspect_id}/clear", response=mappings.SuspectOut)
def clear_suspect(request: HubRequest, suspect_id: int, fields: ClearIn) -> mappings.SuspectOut:
    """Say that an item in doubt was looked at, and what was found."""
    mark = mappings.clear_suspect(principal=request.principal, mark_id=suspect_id, reason=fields.reason)
    return mappings.suspect_out(mark)
