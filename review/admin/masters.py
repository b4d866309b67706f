"""What check lists and check items have in common: curators edit drafts, what is approved never changes."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.admin_site.badges import badge
from hub.admin_site.base import HubModelAdmin
from hub.admin_site.callers import principal_of
from knowledge.services.collections import may_curate
from review.models import CheckItemVersion, CheckListVersion, MasterStatus
from review.services.master_versions import save_draft


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

    def save_version(self, request: HttpRequest, obj: CheckItemVersion | CheckListVersion) -> None:
        """Store the draft in the name of the person."""
        save_draft(principal=principal_of(request), version=obj)

    @admin.display(description=_("state"))
    def state(self, obj: CheckItemVersion | CheckListVersion) -> SafeString:
        """Show the state as a badge."""
        return badge(obj.status, obj.get_status_display())
