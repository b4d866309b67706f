"""How check items rest on guideline articles, which of them a new edition put in doubt, and their shapes in answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.access.versions import PublicationStatus
from hub.core.bounds import check_row
from hub.core.errors import InvalidInput, NotFound, not_one_of
from hub.core.shapes import TextOrNone, filled
from hub.core.texts import Text
from knowledge.guidelines.diff import ArticleChange, ChangeKind
from knowledge.guidelines.editions import article_not_found, editions_in_force
from knowledge.models import GuidelineArticle, GuidelineEdition
from review.models import (
    CheckItem,
    CheckItemVersion,
    CheckResult,
    GuidelineMapping,
    MappingRelation,
    MasterStatus,
    Review,
    SuspectMark,
)

# What must change in an article to put in doubt what rests on it; a typical heading more does not.
SUBSTANCE = frozenset({"title", "text", "severity", "document_types", "applies_when", "required_elements"})


class MappingOut(BaseModel):
    article: str
    article_title: str | None = Field(description="null when no edition in force has the article")
    guideline: str | None
    check_item: str
    check_item_name: str
    relation: str = Field(description="direct, indirect or derived")
    rationale: TextOrNone = None
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
    cleared_by: TextOrNone
    cleared_reason: TextOrNone


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


def suspect_out(mark: SuspectMark) -> SuspectOut:
    """Expects check_item and edition__guideline to be selected."""
    return filled(
        SuspectOut,
        mark,
        suspect_id=mark.pk,
        check_item=mark.check_item.code,
        article=mark.article_code,
        guideline=mark.edition.guideline.code,
        edition=mark.edition.number,
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


def list_mappings(
    principal: Principal, *, article: str = "", check_item: str = "", with_rationale: bool = True
) -> list[MappingOut]:
    """The mappings by article and check item, in four queries.

    :raises NotFound: an article or check item was named that neither exists nor is mapped.
    """
    principal.require(Scope.READ)
    versions = CheckItemVersion.objects.filter(status=MasterStatus.APPROVED).order_by("-number")
    open_marks = SuspectMark.objects.filter(cleared_at__isnull=True).select_related("edition__guideline")
    found = GuidelineMapping.objects.select_related("check_item").prefetch_related(
        Prefetch("check_item__versions", queryset=versions, to_attr="approved_versions"),
        Prefetch("check_item__suspect_marks", queryset=open_marks, to_attr="open_marks"),
    )
    if article:
        found = found.filter(article_code=article)
    if check_item:
        found = found.filter(check_item__code=check_item)
    rows = list(found.order_by("article_code", "check_item__code"))
    articles = _articles_in_force({row.article_code for row in rows} | ({article} - {""}))
    if not rows:
        _check_named(article, check_item, articles)
    return [_mapping_out(row, articles.get(row.article_code), with_rationale=with_rationale) for row in rows]


def _articles_in_force(codes: set[str]) -> dict[str, GuidelineArticle]:
    rows = GuidelineArticle.objects.filter(edition__in=editions_in_force(), code__in=codes)
    return {row.code: row for row in rows.select_related("edition__guideline")}


def _check_named(article: str, check_item: str, articles: Mapping[str, GuidelineArticle]) -> None:
    if article and article not in articles:
        raise article_not_found(article)
    if check_item and not CheckItem.objects.filter(code=check_item).exists():
        raise _no_item(check_item)


def _no_item(code: str) -> NotFound:
    return NotFound(_('There is no check item "{given}".'), code="check_item_not_found", given=code[:80])


def _mapping_out(row: GuidelineMapping, article: GuidelineArticle | None, *, with_rationale: bool) -> MappingOut:
    versions: list[CheckItemVersion] = row.check_item.__dict__["approved_versions"]
    marks: list[SuspectMark] = row.check_item.__dict__["open_marks"]
    reasons = [mark.reason for mark in marks if mark.article_code == row.article_code]
    return filled(
        MappingOut,
        row,
        article=row.article_code,
        article_title=article.title if article else None,
        guideline=article.edition.guideline.code if article else None,
        check_item=row.check_item.code,
        check_item_name=versions[0].name if versions else row.check_item.code,
        rationale=row.rationale if with_rationale else None,
        suspect=bool(reasons),
        suspect_reasons=reasons,
    )


def save_mapping(
    *,
    principal: Principal,
    article: str,
    check_item: str,
    relation: str,
    rationale_ja: str = "",
    rationale_en: str = "",
) -> GuidelineMapping:
    """Map a check item to an article in force, or change how. Raises NotFound and InvalidInput."""
    principal.require_hub(HubRight.MASTERS)
    if relation not in MappingRelation.values:
        raise not_one_of("relation", relation, MappingRelation.values)
    if article not in _articles_in_force({article}):
        raise article_not_found(article)
    item = CheckItem.objects.filter(code=check_item).first()
    if item is None:
        raise _no_item(check_item)
    texts = {"rationale_ja": rationale_ja, "rationale_en": rationale_en}
    check_row(GuidelineMapping(**texts), only=texts)
    mapping, _is_new = GuidelineMapping.objects.update_or_create(
        article_code=article,
        check_item=item,
        defaults={"relation": relation, "rationale_ja": rationale_ja, "rationale_en": rationale_en},
    )
    record_event(principal, "GUIDELINE_MAP", f"article:{article}", check_item=check_item, to=relation)
    return mapping


def delete_mapping(*, principal: Principal, article: str, check_item: str) -> None:
    """Take a mapping away; open marks that stand on it go with it. Raises NotFound."""
    principal.require_hub(HubRight.MASTERS)
    deleted, _rows = GuidelineMapping.objects.filter(article_code=article, check_item__code=check_item).delete()
    if not deleted:
        raise NotFound(
            _('"{article}" is not mapped to "{check_item}".'),
            code="mapping_not_found",
            article=article,
            check_item=check_item,
        )
    SuspectMark.objects.filter(article_code=article, check_item__code=check_item, cleared_at__isnull=True).delete()
    record_event(principal, "GUIDELINE_UNMAP", f"article:{article}", check_item=check_item)


def mapped_items(codes: Sequence[str]) -> dict[str, list[str]]:
    """From article codes to the codes of the check items that rest on them. One query."""
    found: dict[str, list[str]] = {}
    rows = GuidelineMapping.objects.filter(article_code__in=codes).order_by("check_item__code")
    for article, item in rows.values_list("article_code", "check_item__code"):
        found.setdefault(article, []).append(item)
    return found


def mark_suspects(principal: Principal, edition: GuidelineEdition, changes: Sequence[ArticleChange]) -> None:
    """Mark every check item that rests on an article whose substance changed, that moved, or that is gone."""
    reasons = {change.code: reason for change in changes if (reason := _reason(change, edition)) is not None}
    rows = GuidelineMapping.objects.filter(article_code__in=reasons)
    marks = [
        SuspectMark(
            check_item_id=row.check_item_id,
            article_code=row.article_code,
            edition=edition,
            **reasons[row.article_code].columns("reason"),
        )
        for row in rows
    ]
    SuspectMark.objects.bulk_create(marks, ignore_conflicts=True)
    if marks:
        record_event(principal, "GUIDELINE_SUSPECTS", f"guideline:{edition}", marked=len(marks))


def _reason(change: ArticleChange, edition: GuidelineEdition) -> Text | None:
    code, new_code = change.code, change.new_code
    fields = sorted(SUBSTANCE & {field.field for field in change.fields})
    names = ", ".join(fields)
    if edition.status == PublicationStatus.RETIRED:
        return Text(ja=f"{edition} が廃止されました。", en=f"{edition} is no longer in force.")
    if change.kind is ChangeKind.REMOVED:
        return Text(ja=f"{edition} で条項 {code} がなくなりました。", en=f"{edition} has no article {code} any more.")
    if change.kind is ChangeKind.MOVED and code != new_code:
        ja = f"{edition} で条項 {code} は {new_code} になりました。"
        return Text(ja=ja, en=f"{edition} moved article {code} to {new_code}.")
    if change.kind is not ChangeKind.ADDED and fields:
        ja = f"{edition} で条項 {code} の内容が変わりました（{names}）。"
        return Text(ja=ja, en=f"{edition} changed article {code} ({names}).")
    return None


def list_suspects(principal: Principal, *, with_cleared: bool = False) -> QuerySet[SuspectMark]:
    """The marks, newest first; open ones only unless asked."""
    principal.require(Scope.READ)
    marks = SuspectMark.objects.select_related("check_item", "edition__guideline")
    return marks if with_cleared else marks.filter(cleared_at__isnull=True)


def suspect_results(principal: Principal) -> QuerySet[CheckResult]:
    """The results that the caller may read and that rest on an open mark: judged before their item was marked."""
    marks = SuspectMark.objects.filter(
        check_item=OuterRef("item_version__item"), cleared_at__isnull=True, created_at__gt=OuterRef("finished_at")
    )
    reviews = Review.objects.visible_to(principal)
    results = CheckResult.objects.filter(Exists(marks), review__in=reviews.values("pk"))
    return results.select_related("review", "item_version__item").order_by("-review_id", "position")


def suspect_reasons(results: Sequence[CheckResult]) -> dict[int, list[str]]:
    """Why each of some results is in doubt, by its key; results in no doubt are left out. One query, none for none."""
    if not results:
        return {}
    items = {result.item_version.item_id for result in results}
    marks = list(SuspectMark.objects.filter(check_item__in=items, cleared_at__isnull=True).order_by("article_code"))
    reasons = {
        result.pk: [
            mark.reason
            for mark in marks
            if mark.check_item_id == result.item_version.item_id and mark.created_at > result.finished_at
        ]
        for result in results
    }
    return {pk: found for pk, found in reasons.items() if found}


def clear_suspect(*, principal: Principal, mark_id: int, reason: str) -> SuspectMark:
    """Say that an item in doubt was looked at, and what was found. Clearing again changes nothing."""
    principal.require_hub(HubRight.MASTERS)
    if not reason.strip():
        raise InvalidInput(_("Say what was found: a reason is needed."), code="reason_needed")
    mark = list_suspects(principal, with_cleared=True).filter(pk=mark_id).first()
    if mark is None:
        raise NotFound(_("There is no suspect mark {mark_id}."), code="mark_not_found", mark_id=mark_id)
    cleared = SuspectMark.objects.filter(pk=mark_id, cleared_at__isnull=True).update(
        cleared_at=timezone.now(), cleared_by=principal.name[:150], cleared_reason=reason.strip()
    )
    if cleared:
        record_event(principal, "GUIDELINE_CLEAR", f"check_item:{mark.check_item}", mark=mark_id)
    mark.refresh_from_db()
    return mark
