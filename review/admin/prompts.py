"""Prompts: curated texts in versions, and the bench where one is tried."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminTextInputWidget

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.admin_site.badges import badge
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError
from hub.core.publication import PublicationStatus
from knowledge.services.collections import may_curate
from review.admin.masters import MasterAdmin
from review.models import JudgePrompt
from review.services import draft_prompt, publish_prompt, try_prompt
from review.services.candidates import prompt_candidate


@admin.register(JudgePrompt)
class JudgePromptAdmin(MasterAdmin):
    """Drafts are edited and tried; what is published stays as it is, since results point at it."""

    list_display = ("kind", "number", "state", "note", "author", "published_at", "bench")
    list_filter = ("kind", "status")
    fields = ("kind", "text", "note")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return may_curate(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return getattr(obj, "status", PublicationStatus.DRAFT) == PublicationStatus.DRAFT and may_curate(principal)

    def get_urls(self) -> list[URLPattern]:
        """Add the bench and the button that publishes."""
        view = self.admin_site.admin_view
        own = [
            path("<int:pk>/bench/", view(bench), name="review_judgeprompt_bench"),
            path("<int:pk>/publish/", view(publish), name="review_judgeprompt_publish"),
        ]
        return [*own, *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: JudgePrompt, form: Any, change: bool) -> None:  # noqa: ANN401
        """Have a new draft numbered and stored."""
        if not change:
            made = draft_prompt(principal=principal_of(request), kind=obj.kind, text=obj.text, note=obj.note)
            obj.pk, obj.number = made.pk, made.number
            return
        obj.save()
        record_event(principal=principal_of(request), action="CONFIG_CHANGE", resource=f"prompt:{obj}")

    @admin.display(description=_("state"))
    def state(self, obj: JudgePrompt) -> SafeString:
        """Show the state as a badge."""
        return badge(obj.status, obj.get_status_display())

    @admin.display(description=_("test bench"))
    def bench(self, obj: JudgePrompt) -> SafeString:
        """Link to the page where the prompt is tried."""
        return format_html('<a href="{}">{}</a>', reverse("admin:review_judgeprompt_bench", args=[obj.pk]), _("try"))


class BenchForm(forms.Form):
    """One check item and one document."""

    check_item = forms.CharField(
        label=_("Check item"),
        max_length=20,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Its code, such as BD-C02."),
    )
    document = forms.CharField(
        label=_("Document"), max_length=40, widget=UnfoldAdminTextInputWidget, help_text=_("Its id (doc_…).")
    )


def bench(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Try a prompt: the request, the answer, the verdict and what it cost."""
    principal = principal_of(request)
    prompt = JudgePrompt.objects.filter(pk=pk).first() if may_curate(principal) else None
    if prompt is None:
        raise Http404
    form = BenchForm(request.POST or None)
    trial = None
    if request.method == "POST" and form.is_valid():
        asked = {name: form.cleaned_data[name].strip() for name in ("check_item", "document")}
        try:
            trial = try_prompt(
                principal=principal, prompt_id=pk, check_item=asked["check_item"], document_id=asked["document"]
            )
        except HubError as error:
            form.add_error(None, str(error))
    return render_page(
        request,
        "admin/review/judgeprompt/bench.html",
        title=_("Try prompt {prompt}").format(prompt=prompt),
        prompt=prompt,
        is_draft=prompt.status == PublicationStatus.DRAFT,
        candidate=prompt_candidate(prompt).name,
        form=form,
        trial=trial,
        answer=json.dumps(trial.answer, ensure_ascii=False, indent=2) if trial and trial.answer else "",
    )


@require_POST
def publish(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Put a draft in force, if the gate lets it through."""
    if not may_curate(principal_of(request)):
        raise Http404
    with errors_as_messages(request):
        prompt = publish_prompt(principal=principal_of(request), prompt_id=pk)
        messages.success(request, _("Prompt {prompt} is in force.").format(prompt=prompt))
    return HttpResponseRedirect(reverse("admin:review_judgeprompt_changelist"))
