"""Watched sources: what is scanned, how often, and what the last scan did."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.admin_site.base import HubModelAdmin, holders
from hub.admin_site.pages import badge, errors_as_messages, principal_of, two_lines
from knowledge.documents.source_schemas import ScanReportOut, scan_report_out
from knowledge.documents.sources import (
    SourceChanges,
    create_source,
    delete_source,
    request_scan,
    update_source,
    visible_sources,
)
from knowledge.models import Collection, Source

STATES = {"running": _("running"), "completed": _("completed"), "failed": _("failed")}
FACTS = ("name", "kind", "location", "collection", "policy", "enabled", "scan_every_minutes")
REPORTED = ("scanned_at", "state", "result", "failures")


@admin.register(Source)
class SourceAdmin(HubModelAdmin):
    """Curators of a collection see its sources and scan them; operators among them say what is watched."""

    right = HubRight.OPERATION
    list_display = ("name_and_place", "collection", "enabled", "scan_every_minutes", "state", "result", "scanned_at")
    list_select_related = ("collection",)
    list_filter = ("enabled", "kind")
    search_fields = ("name", "location")
    autocomplete_fields = ("collection",)
    actions = ("scan_now",)
    fixed_fields = ("name", "kind", "collection", *REPORTED)

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return Collection.objects.visible_to(principal, Scope.CURATE).exists()  # the queryset holds only theirs

    may_delete = holders

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        return visible_sources(principal_of(request))

    def get_fields(self, request: HttpRequest, obj: Source | None = None) -> tuple[str, ...]:
        return (*FACTS, *REPORTED) if obj else FACTS

    def save_model(self, request: HttpRequest, obj: Source, form: forms.ModelForm[Source], change: bool) -> None:
        principal, policy = principal_of(request), form.cleaned_data.get("policy")
        options = policy.options() if policy else None
        if not change:
            made = create_source(
                principal=principal,
                name=obj.name,
                kind=obj.kind,
                location=obj.location,
                collection=obj.collection.slug,
                chunk_options=options,
                enabled=obj.enabled,
                scan_every_minutes=obj.scan_every_minutes,
            )
            obj.__dict__.update(made.__dict__)
            return
        changes: dict[str, Any] = {
            name: form.cleaned_data[name]
            for name in ("location", "enabled", "scan_every_minutes")
            if name in form.changed_data
        }
        if "policy" in form.changed_data:
            changes["chunk_options"] = options
        update_source(principal=principal, name=obj.name, **cast(SourceChanges, changes))

    def delete_model(self, request: HttpRequest, obj: Source) -> None:
        """Watch it no longer; its documents stay."""
        delete_source(principal=principal_of(request), name=obj.name)

    @admin.action(description=_("Scan the selected sources now"))
    def scan_now(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for name in queryset.values_list("name", flat=True):
            with errors_as_messages(request):
                request_scan(principal=principal_of(request), name=name)
                messages.success(request, _("The scan of {name} was asked for.").format(name=name))

    @admin.display(description=_("source"), ordering="name")
    def name_and_place(self, source: Source) -> SafeString:
        return two_lines(source.name, source.location)

    @admin.display(description=_("state"))
    def state(self, source: Source) -> SafeString | str:
        report = scan_report_out(source.report)
        if report is None:
            return "-"
        shown = badge(report.state, STATES.get(report.state, report.state))
        return format_html('{} <span class="hub-second">{}</span>', shown, report.reason) if report.reason else shown

    @admin.display(description=_("files"))
    def result(self, source: Source) -> str:
        report = scan_report_out(source.report)
        return _counts(report) if report else "-"

    @admin.display(description=_("not taken in"))
    def failures(self, source: Source) -> SafeString | str:
        report = scan_report_out(source.report)
        if report is None or not report.failures:
            return "-"
        lines = format_html_join("", "<li>{}: {}</li>", ((item.path, item.reason) for item in report.failures))
        return format_html("<ul>{}</ul>", lines)


def _counts(report: ScanReportOut) -> str:
    return str(
        _("new {new}, changed {changed}, unchanged {unchanged}, removed {removed}, failed {failed}").format(
            **report.model_dump(include={"new", "changed", "unchanged", "removed", "failed"})
        )
    )
