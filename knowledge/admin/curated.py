"""What the admins of things that curators keep for everybody have in common."""

from __future__ import annotations

from django.db.models import Model

from hub.access.principals import Principal
from hub.admin_site.base import HubModelAdmin


class CuratedAdmin(HubModelAdmin):
    """Everybody may look; curators of the hub add and change. What may be deleted is for subclasses to say."""

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def may_add(self, principal: Principal) -> bool:
        return principal.curates_hub()

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return principal.curates_hub()
