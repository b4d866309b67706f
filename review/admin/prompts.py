"""Prompts: curated texts in versions, and the bench where one is tried."""

from __future__ import annotations

import json

from django import forms
from django.contrib import admin
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from hub.access.principals import HubRight, Principal
from hub.access.versions import refusals
from hub.admin_site.pages import principal_of, render_page
from hub.core.errors import HubError
from hub.core.languages import in_language, shown
from knowledge.admin.curated import CuratedVersionAdmin
from knowledge.admin.document_picker import document_picker, titles_of
from review.curation.prompts import new_judge_prompt_version, publish_prompt, save_prompt_draft, try_prompt
from review.evaluation.candidates import prompt_candidate
from review.models import SEVERITIES, VERDICTS, JudgePrompt
from review.report.facts import label


class BenchForm(forms.Form):
    """One check item and one document."""

    check_item = forms.CharField(
        label=_("Check item"),
        max_length=20,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Its code, such as BD-C02."),
    )
    document = forms.CharField(label=_("Document"), max_length=40, widget=document_picker("read", most=1))


def bench(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Try a prompt: the request, the answer, the verdict and what it cost."""
    principal = principal_of(request)
    prompt = JudgePrompt.objects.filter(pk=pk).first() if principal.may(HubRight.MASTERS) else None
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
        is_draft=prompt.is_draft,
        candidate=prompt_candidate(prompt).name,
        publisher_refused=refusals(principal, prompt)["publisher_refused"],
        form=form,
        names=titles_of(principal, str(form["document"].value() or "").split()),
        trial=trial,
        verdict=label(VERDICTS, trial.opinion.verdict) if trial else "",
        findings=[(label(SEVERITIES, one.severity), shown(one.message)) for one in trial.opinion.findings]
        if trial
        else [],
        notices=[in_language(one.ja, one.en) for one in trial.opinion.notices] if trial else [],
        answer=json.dumps(trial.answer, ensure_ascii=False, indent=2) if trial and trial.answer else "",
    )


@admin.register(JudgePrompt)
class JudgePromptAdmin(CuratedVersionAdmin):
    """Drafts are edited and tried; what is published stays as it is, since results point at it."""

    right = HubRight.MASTERS
    list_display = ("kind", "number", "state", "note", "written_by", "published_at", "bench")
    list_select_related = ("author",)
    list_filter = ("kind", "status")
    fields = ("kind", "text", "note")
    pages = {"review_judgeprompt_bench": ("<int:pk>/bench/", bench)}
    buttons = ("publish", "copy")

    def save_draft(self, principal: Principal, version: JudgePrompt) -> None:
        save_prompt_draft(principal=principal, prompt=version)

    def make_draft(self, principal: Principal, pk: int) -> JudgePrompt:
        """Make a draft of a version, or return the draft that there is."""
        return new_judge_prompt_version(principal=principal, prompt_id=pk)

    def publish_draft(self, principal: Principal, pk: int) -> JudgePrompt:
        """Put a draft in force, if the gate lets it through."""
        return publish_prompt(principal=principal, prompt_id=pk)

    @admin.display(description=_("test bench"))
    def bench(self, obj: JudgePrompt) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("admin:review_judgeprompt_bench", args=[obj.pk]), _("try"))
