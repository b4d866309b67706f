"""What the admins of things that curators keep for everybody have in common."""

from __future__ import annotations

from django.db.models import Model
from django.http import HttpRequest

from hub.access.principals import Principal
from hub.admin_site.base import HubModelAdmin
from hub.admin_site.callers import is_staff, principal_of
from hub.core.publication import PublicationStatus


class CuratedAdmin(HubModelAdmin):
    """Everybody may look; curators of the hub add and change. What may be deleted is for subclasses to say."""

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def may_add(self, principal: Principal) -> bool:
        return principal.curates_hub()

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return principal.curates_hub()


class CuratedRowsMixin:
    """Rows on the page of such a thing: everybody sees them, curators change them, those of a version in drafts."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_staff(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        is_draft = getattr(obj, "status", PublicationStatus.DRAFT) == PublicationStatus.DRAFT
        return is_staff(request) and is_draft and principal_of(request).curates_hub()

    has_add_permission = has_delete_permission = has_change_permission
