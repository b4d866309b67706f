"""What is confirmed of the providers of language models, in the admin."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight
from hub.admin_site.base import HubModelAdmin, nobody
from hub.admin_site.pages import badge, errors_as_messages, principal_of
from hub.llm.confirmations import confirm_no_training, withdraw_confirmation
from hub.llm.models import ProviderConfirmation


@admin.register(ProviderConfirmation)
class ProviderConfirmationAdmin(HubModelAdmin):
    """For administrators. A confirmation is of the configured provider; it is withdrawn, never edited or deleted."""

    right = HubRight.OPERATION
    list_display = ("provider", "endpoint", "state", "confirmed_by_name", "confirmed_at", "retention")
    search_fields = ("provider", "endpoint", "evidence")
    actions = ("withdraw",)

    may_change = may_delete = nobody

    def get_fields(self, request: HttpRequest, obj: ProviderConfirmation | None = None) -> list[str]:
        """Ask for what a confirmation rests on; provider and endpoint are those of the settings."""
        own = ["evidence", "retention"]
        said = ["provider", "endpoint", "state", *own, "confirmed_by_name", "confirmed_at"]
        return own if obj is None else [*said, "withdrawn_by_name", "withdrawn_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: ProviderConfirmation | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(
        self,
        request: HttpRequest,
        obj: ProviderConfirmation,
        form: forms.ModelForm[ProviderConfirmation],
        change: bool,
    ) -> None:
        made = confirm_no_training(principal=principal_of(request), evidence=obj.evidence, retention=obj.retention)
        obj.__dict__.update(made.__dict__)

    @admin.action(description=_("Withdraw the selected confirmations"))
    def withdraw(self, request: HttpRequest, queryset: QuerySet[ProviderConfirmation]) -> None:
        """Withdraw one by one; twice is no error."""
        with errors_as_messages(request):
            for row in queryset:
                withdraw_confirmation(principal=principal_of(request), confirmation_id=row.pk)
            messages.success(request, _("The selected confirmations are withdrawn."))

    @admin.display(description=_("state"))
    def state(self, row: ProviderConfirmation) -> SafeString:
        return badge("revoked", _("withdrawn")) if row.withdrawn_at else badge("active", _("in force"))
