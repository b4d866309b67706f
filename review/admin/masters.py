"""What check lists and check items have in common: curators edit drafts, what is approved never changes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.admin_site.badges import badge
from hub.admin_site.base import HubModelAdmin
from hub.admin_site.callers import principal_of
from knowledge.models import Collection
from review.models import CheckItemVersion, CheckListVersion, MasterStatus


def may_curate(principal: Principal) -> bool:
    """Tell whether somebody curates at all: a check master belongs to no collection."""
    return principal.is_superuser or Collection.objects.visible_to(principal, Scope.CURATE).exists()


class MasterAdmin(HubModelAdmin):
    """Everyone reads masters, curators change them; nothing is deleted, since reviews point at it."""

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def may_add(self, principal: Principal) -> bool:
        return may_curate(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate(principal)

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return False


class VersionAdmin(MasterAdmin):
    """Versions of a master: numbered by the hub, editable while they are drafts."""

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        is_draft = getattr(obj, "status", MasterStatus.DRAFT) == MasterStatus.DRAFT
        return is_draft and may_curate(principal)

    def save_version(self, request: HttpRequest, obj: CheckItemVersion | CheckListVersion, **siblings: Any) -> None:  # noqa: ANN401
        """Number a new version after its ``siblings``, stamp an approved one, save, and write it down."""
        if obj._state.adding:
            newest = type(obj)._default_manager.filter(**siblings).order_by("-number").first()
            obj.number = newest.number + 1 if newest else 1
        approved = obj.status == MasterStatus.APPROVED and obj.approved_at is None
        if approved:
            obj.approved_at = timezone.now()
        obj.save()
        record_event(
            principal=principal_of(request),
            action="MASTER_PUBLISH" if approved else "CONFIG_CHANGE",
            resource=f"{self.opts.model_name}:{obj}",
        )

    @admin.display(description=_("state"))
    def state(self, obj: CheckItemVersion | CheckListVersion) -> SafeString:
        """Show the state as a badge."""
        return badge(obj.status, obj.get_status_display())
