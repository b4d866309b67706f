"""What the admins of things that curators keep for everybody have in common."""

from __future__ import annotations

from django.db.models import Model

from hub.access.principals import Principal
from hub.admin_site.base import HubModelAdmin
from knowledge.services.collections import may_curate


class CuratedAdmin(HubModelAdmin):
    """Everybody may look; curators add and change. What may be deleted is for subclasses to say."""

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def may_add(self, principal: Principal) -> bool:
        return may_curate(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate(principal)
