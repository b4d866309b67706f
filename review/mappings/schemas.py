"""Shapes of the mapping of check items to guideline articles, and of what is in doubt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field

from knowledge.models import GuidelineArticle
from review.models import CheckResult, GuidelineMapping, SuspectMark


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingView:
    """A mapping with what a reader needs beside the codes. ``article`` is None when no edition in force has it."""

    mapping: GuidelineMapping
    article: GuidelineArticle | None
    item_name: str
    suspects: tuple[SuspectMark, ...]


class MappingOut(BaseModel):
    article: str
    article_title: str | None = Field(description="null when no edition in force has the article")
    guideline: str | None
    check_item: str
    check_item_name: str
    relation: str = Field(description="direct, indirect or derived")
    rationale: str | None = None
    suspect: bool = Field(description="the article changed since, and no curator has looked at the check item yet")
    suspect_reasons: list[str] = []


class SuspectOut(BaseModel):
    suspect_id: int
    check_item: str
    article: str
    guideline: str
    edition: int
    reason: str
    created_at: datetime
    cleared_at: datetime | None
    cleared_by: str | None
    cleared_reason: str | None


class SuspectResultOut(BaseModel):
    review_id: str
    check_item: str
    check_item_version: int
    verdict: str
    reasons: list[str]


class SuspectsOut(BaseModel):
    suspects: list[SuspectOut]
    results: list[SuspectResultOut] = Field(description="the newest results, of reviews the caller may read, in doubt")
    total_results: int


def mapping_out(view: MappingView, *, with_rationale: bool = True) -> MappingOut:
    """A mapping as every door gives it."""
    mapping, article = view.mapping, view.article
    return MappingOut(
        article=mapping.article_code,
        article_title=article.title if article else None,
        guideline=article.edition.guideline.code if article else None,
        check_item=mapping.check_item.code,
        check_item_name=view.item_name,
        relation=mapping.relation,
        rationale=mapping.rationale or None if with_rationale else None,
        suspect=bool(view.suspects),
        suspect_reasons=[mark.reason for mark in view.suspects],
    )


def suspect_out(mark: SuspectMark) -> SuspectOut:
    """Expects check_item and edition__guideline to be selected."""
    return SuspectOut(
        suspect_id=mark.pk,
        check_item=mark.check_item.code,
        article=mark.article_code,
        guideline=mark.edition.guideline.code,
        edition=mark.edition.number,
        reason=mark.reason,
        created_at=mark.created_at,
        cleared_at=mark.cleared_at,
        cleared_by=mark.cleared_by or None,
        cleared_reason=mark.cleared_reason or None,
    )


def suspect_result_out(result: CheckResult, reasons: list[str]) -> SuspectResultOut:
    """Expects review and item_version__item to be selected."""
    return SuspectResultOut(
        review_id=result.review.public_id,
        check_item=result.item_version.item.code,
        check_item_version=result.item_version.number,
        verdict=result.verdict,
        reasons=reasons,
    )
