"""What may be done with check masters: every door calls these, with the caller's principal."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import NotFound
from review.models import (
    CheckItemVersion,
    CheckList,
    CheckListEntry,
    CheckListVersion,
    MasterStatus,
)


def list_checklists(principal: Principal) -> QuerySet[CheckList]:
    """All check lists, by code."""
    principal.require(Scope.READ)
    return CheckList.objects.order_by("code")


def list_checklist_versions(principal: Principal, code: str) -> QuerySet[CheckListVersion]:
    """A check list's versions, newest first."""
    principal.require(Scope.READ)
    return CheckListVersion.objects.filter(checklist=get_checklist(code)).order_by("-number")


def list_check_items(
    principal: Principal, *, checklist: str = "", document_type: str = "", check_type: str = "", code: str = ""
) -> list[tuple[CheckList, CheckItemVersion]]:
    """The item versions in force, with their check list, in the lists' order."""
    principal.require(Scope.READ)
    versions = CheckListVersion.objects.filter(status=MasterStatus.APPROVED).select_related("checklist")
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
