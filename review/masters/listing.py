"""What may be done with check masters: every door calls these, with the caller's principal."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import NotFound
from knowledge.documents.documents import check_filters
from review.masters.content import TEXT_FIELDS, ItemContent
from review.models import CheckItemVersion, CheckList, CheckListEntry, CheckListVersion


def list_checklists(principal: Principal) -> QuerySet[CheckList]:
    """All check lists, by code."""
    principal.require(Scope.READ)
    return CheckList.objects.order_by("code")


def list_checklist_versions(principal: Principal, code: str) -> QuerySet[CheckListVersion]:
    """A check list's versions, newest first."""
    principal.require(Scope.READ)
    versions = CheckListVersion.objects.filter(checklist=get_checklist(code))
    return versions.select_related("author", "approved_by").order_by("-number")


def list_check_items(
    principal: Principal, *, checklist: str = "", document_type: str = "", check_type: str = "", code: str = ""
) -> list[tuple[CheckList, CheckItemVersion]]:
    """The item versions in force, with their check list, in the lists' order.

    Raises NotFound for a check list and InvalidInput for a document type that is not there.
    """
    principal.require(Scope.READ)
    check_filters(principal, document_types=[document_type])
    versions = CheckListVersion.objects.in_force(timezone.localdate()).select_related("checklist")
    if checklist:
        versions = versions.filter(checklist=get_checklist(checklist))
    if document_type:
        versions = versions.filter(checklist__document_types__contains=[document_type])
    entries = CheckListEntry.objects.select_related("item_version__item").order_by("position")
    if check_type:
        entries = entries.filter(item_version__check_type=check_type)
    if code:
        entries = entries.filter(item_version__item__code=code)
    found = versions.order_by("checklist__code").prefetch_related(Prefetch("entries", queryset=entries))
    return [(version.checklist, entry.item_version) for version in found for entry in version.entries.all()]


def get_checklist(code: str) -> CheckList:
    """Find a check list by its code. Raises NotFound, naming the known ones."""
    checklist = CheckList.objects.filter(code=code).first()
    if checklist is None:
        known = ", ".join(CheckList.objects.values_list("code", flat=True))
        raise NotFound(
            _('There is no check list "{given}". Known: {known}.'), code="checklist_not_found", given=code, known=known
        )
    return checklist


def version_in_force(checklist: CheckList) -> CheckListVersion | None:
    """The version that reviews started today use; None when none is approved for today."""
    return checklist.versions.in_force(timezone.localdate()).first()


def get_checklist_version(principal: Principal, code: str, number: int | None = None) -> CheckListVersion:
    """A version of a check list; without a number the one in force, or else the newest. Raises NotFound."""
    principal.require(Scope.READ)
    checklist = get_checklist(code)
    if number is None:
        found = version_in_force(checklist) or checklist.versions.order_by("-number").first()
    else:
        found = checklist.versions.filter(number=number).first()
    if found is None:
        raise NotFound(
            _('The check list "{given}" has no version {number}.'),
            code="checklist_version_not_found",
            given=code,
            number=number or "",
        )
    return found


def item_versions_of(version: CheckListVersion) -> list[CheckItemVersion]:
    """The item versions of a check list's version, in its order. One query."""
    entries = version.entries.select_related("item_version__item").order_by("position", "pk")
    return [entry.item_version for entry in entries]


def content_of(version: CheckItemVersion) -> ItemContent:
    """What a stored version of an item says."""
    texts = {name: getattr(version, name) for name in TEXT_FIELDS}
    texts["category"] = version.category or version.item.category
    return ItemContent(code=version.item.code, criteria=version.criteria, **texts)
