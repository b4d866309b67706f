"""Identity providers in the admin: what their groups bring here, and whom they mean."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from hub.access.principals import HubRight, Principal
from hub.access.provider_models import ProviderAccount, ProviderGroup
from hub.access.services import record_event
from hub.admin_site.base import HubModelAdmin, nobody
from hub.admin_site.pages import principal_of


class _ProviderForm(forms.ModelForm[Any]):
    """Offers the configured providers by their names."""

    provider = forms.ChoiceField(label=_("identity provider"), widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        field = self.fields.get("provider")
        if isinstance(field, forms.ChoiceField):
            known = {one.id: one.name for one in settings.CONFIG.hub_oidc_providers}
            before = self.instance.provider
            field.choices = list((({before: before} if before else {}) | known).items())


@admin.register(ProviderGroup)
class ProviderGroupAdmin(HubModelAdmin):
    """What members of a provider's group get here. Superusers write it, who administers people sees it."""

    form = _ProviderForm
    list_display = ("value", "provider", "group", "ceiling", "is_administrator")
    list_filter = ("is_administrator",)
    list_select_related = ("group",)
    search_fields = ("value", "group__name")
    autocomplete_fields = ("group",)
    fields = ("provider", "value", "group", "ceiling", "is_administrator")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return principal.may(HubRight.PEOPLE)

    def save_model(
        self, request: HttpRequest, obj: ProviderGroup, form: forms.ModelForm[ProviderGroup], change: bool
    ) -> None:
        before = ProviderGroup.objects.select_related("group").get(pk=obj.pk) if change else None
        replaced = [_meaning(before)] if before is not None else []
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            record_event(
                principal_of(request), "CONFIG_CHANGE", "provider_groups", meaning=_meaning(obj), replaced=replaced
            )
            from hub.access.providers.meanings import apply_meaning  # nobody else needs what it loads

            apply_meaning(before, obj)

    def delete_model(self, request: HttpRequest, obj: ProviderGroup) -> None:
        with transaction.atomic():
            record_event(principal_of(request), "CONFIG_CHANGE", "provider_groups", withdrawn=_meaning(obj))
            super().delete_model(request, obj)
            from hub.access.providers.meanings import apply_meaning  # nobody else needs what it loads

            apply_meaning(obj, None)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ProviderGroup]) -> None:
        for row in queryset.select_related("group"):
            self.delete_model(request, row)


def _meaning(row: ProviderGroup) -> dict[str, object]:
    return {
        "group": str(row),
        "joins": row.group.name if row.group else "",
        "ceiling": row.get_ceiling_display() if row.ceiling else "",
        "is_administrator": row.is_administrator,
    }


@admin.register(ProviderAccount)
class ProviderAccountAdmin(HubModelAdmin):
    """Whom a provider means by its subjects. Accounts come by themselves; superusers add one for a person they know."""

    form = _ProviderForm
    list_display = ("user", "provider", "subject", "confirmed_at", "ended_at")
    list_select_related = ("user",)
    search_fields = ("user__username", "subject")
    autocomplete_fields = ("user",)

    may_change = nobody

    def get_fields(self, request: HttpRequest, obj: ProviderAccount | None = None) -> list[str]:
        """Ask for who is meant; of an account show what the provider said last, too."""
        own = ["user", "provider", "subject"]
        return own if obj is None else [*own, "groups", "created_at", "confirmed_at", "ended_at"]

    def save_model(
        self, request: HttpRequest, obj: ProviderAccount, form: forms.ModelForm[ProviderAccount], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        obj.user.set_unusable_password()  # who comes from a provider has no second way in
        obj.user.save(update_fields=["password"])
        details = {"provider": obj.provider, "subject": obj.subject}
        record_event(principal_of(request), "ACCOUNT_LINK", f"user:{obj.user_id}", **details)

    def delete_model(self, request: HttpRequest, obj: ProviderAccount) -> None:
        record_event(principal_of(request), "ACCOUNT_UNLINK", f"user:{obj.user_id}", provider=obj.provider)
        super().delete_model(request, obj)
