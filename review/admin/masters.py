"""What check lists and check items have in common: curators edit drafts, what is approved never changes."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.admin_site.badges import badge
from hub.admin_site.base import HubTabularInline
from hub.admin_site.callers import is_staff, principal_of
from knowledge.admin.curated import CuratedAdmin
from review.curation.master_versions import save_draft
from review.models import CheckItemVersion, CheckListVersion, MasterStatus


class MasterAdmin(CuratedAdmin):
    """Everyone reads masters, curators change them; nothing is deleted, since reviews point at it."""

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return False


class VersionInline(HubTabularInline):
    """The versions of a master on its page, the newest first, each with a link to its own page."""

    extra = 0
    hide_title = True
    ordering = ("-number",)
    verbose_name_plural = _("versions")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Show them to everyone who sees the master."""
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Versions are made on their own page."""
        return False

    has_change_permission = has_delete_permission = has_add_permission

    @admin.display(description=_("version"))
    def number_link(self, version: CheckItemVersion | CheckListVersion) -> SafeString:
        """Link to the version."""
        link = reverse(f"admin:review_{version._meta.model_name}_change", args=[version.pk])
        return format_html('<a class="hub-link" href="{}">v{}</a>', link, version.number)

    @admin.display(description=_("state"))
    def state(self, version: CheckItemVersion | CheckListVersion) -> SafeString:
        """Show the state as a badge."""
        return badge(version.status, version.get_status_display())


class VersionAdmin(MasterAdmin):
    """Versions of a master: numbered by the hub, editable while they are drafts."""

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        is_draft = getattr(obj, "status", MasterStatus.DRAFT) == MasterStatus.DRAFT
        return is_draft and principal.curates_hub()

    def save_version(self, request: HttpRequest, obj: CheckItemVersion | CheckListVersion) -> None:
        """Store the draft in the name of the person."""
        save_draft(principal=principal_of(request), version=obj)

    @admin.display(description=_("state"))
    def state(self, obj: CheckItemVersion | CheckListVersion) -> SafeString:
        """Show the state as a badge."""
        return badge(obj.status, obj.get_status_display())
