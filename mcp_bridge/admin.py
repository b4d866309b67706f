"""Prompts for assistants: curated texts in versions, what differs between them, and the bench where one is tried."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from hub.access.principals import HubRight, Principal
from hub.access.versions import refusals
from hub.admin_site.base import nobody
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import HubError
from knowledge.admin.curated import CuratedVersionAdmin
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts import services
from mcp_bridge.prompts.templates import PLACES, Template

BENCH = "admin:mcp_bridge_promptversion_bench"


def _places_of(version: PromptVersion) -> str:
    return " ".join(f"{{{name}}}" for name in sorted(PLACES[Template(version.template)].known))


def _bench_form(template: Template, data: QueryDict | None) -> forms.Form:
    """One field for each argument of the prompt, filled with samples."""
    # It loads the MCP servers, and every process loads the admin: a second that commands and workers need not pay.
    from mcp_bridge.prompts.bench import arguments_of

    fields: dict[str, forms.Field] = {
        argument.name: forms.CharField(
            label=argument.name,
            required=argument.is_required,
            initial=argument.sample,
            max_length=services.MAX_CHARACTERS,
            help_text=gettext(argument.description),
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        )
        for argument in arguments_of(template)
    }
    form = forms.Form(data)
    form.fields.update(fields)
    return form


def bench(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Try a version: what a client would get, what differs from another, and what keeps it from being published."""
    from mcp_bridge.prompts.bench import try_version  # not above: see _bench_form

    principal = principal_of(request)
    version = PromptVersion.objects.filter(pk=pk).first() if principal.may(HubRight.PROMPTS) else None
    if version is None:
        raise Http404
    form = _bench_form(Template(version.template), request.POST or None)
    written = ""
    if request.method == "POST" and form.is_valid():
        try:
            written = try_version(principal=principal, version=version, arguments=form.cleaned_data)
        except HubError as error:
            form.add_error(None, str(error))
    other = services.compared_with(version)
    return render_page(
        request,
        "admin/mcp_bridge/promptversion/bench.html",
        title=_("Try prompt {prompt}").format(prompt=version),
        version=version,
        is_draft=version.is_draft,
        problems=services.problems_of(version),
        places=_places_of(version),
        form=form,
        written=written,
        other=other,
        changes=_changes(other, version) if other else (),
        **refusals(principal, version),
    )


def _changes(before: PromptVersion, after: PromptVersion) -> list[tuple[str, str]]:
    """The languages whose text differs, each with what differs."""
    lines = {name: services.difference(before.texts[name], text) for name, text in after.texts.items()}
    return [(name, "\n".join(found)) for name, found in lines.items() if found]


@admin.register(PromptVersion)
class PromptVersionAdmin(CuratedVersionAdmin):
    """Drafts are edited and tried; what is published stays as it is. Nothing is deleted."""

    right = HubRight.PROMPTS
    list_display = ("__str__", "state", "is_shipped", "note", "written_by", "published_at", "bench")
    list_filter = ("template", "status")
    list_select_related = ("author",)
    fields = ("template", "text_ja", "text_en", "note")
    pages = {"mcp_bridge_promptversion_bench": ("<int:pk>/bench/", bench)}
    buttons = ("publish", "copy", "restore")

    may_add = nobody  # versions are made of others

    def save_draft(self, principal: Principal, version: PromptVersion) -> None:
        services.save_prompt_draft(principal=principal, version=version)

    def make_draft(self, principal: Principal, pk: int) -> PromptVersion:
        return services.new_prompt_version(principal=principal, version_id=pk)

    def publish_draft(self, principal: Principal, pk: int) -> PromptVersion:
        return services.publish_mcp_prompt(principal=principal, version_id=pk)

    def page_after_refusal(self, pk: int) -> str:
        """The bench says what keeps a draft from being published."""
        return self.page("bench", pk)

    def get_form(
        self,
        request: HttpRequest,
        obj: PromptVersion | None = None,
        change: bool = False,
        **kwargs: Any,  # noqa: ANN401 - as Django has it
    ) -> type[forms.ModelForm[PromptVersion]]:
        if obj is not None:
            hint = f"{_('Places that are filled in')}: {_places_of(obj)}"
            kwargs["help_texts"] = {"text_ja": hint, "text_en": hint}
        form: type[forms.ModelForm[PromptVersion]] = super().get_form(request, obj, change, **kwargs)
        return form

    def response_change(self, request: HttpRequest, obj: PromptVersion) -> HttpResponseBase:
        """Lead from a saved draft to its bench, where it is published."""
        usual: HttpResponseBase = super().response_change(request, obj)
        return usual if "_continue" in request.POST else HttpResponseRedirect(reverse(BENCH, args=[obj.pk]))

    def restore(self, request: HttpRequest, pk: int) -> HttpResponseRedirect:
        """Put the text that ships in force again, for the prompt of this version."""
        with errors_as_messages(request):
            version = services.restore_shipped(principal=principal_of(request), version_id=pk)
            messages.success(request, _("{version} is in force.").format(version=version))
        return HttpResponseRedirect(self.page("changelist"))

    @admin.display(description=_("test bench"))
    def bench(self, obj: PromptVersion) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse(BENCH, args=[obj.pk]), _("try"))
