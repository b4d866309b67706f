"""Watched sources: what is scanned, how often, and what the last scan did."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.admin_site.asking import ask_first
from hub.admin_site.base import HubModelAdmin, holders
from hub.admin_site.pages import badge, errors_as_messages, principal_of, render_page, two_lines
from hub.core.errors import Conflict
from knowledge.admin.source_page import about_source, is_scanned, undo_in_words
from knowledge.documents.batches import check_last_scan, scan_batch, undo_scan
from knowledge.documents.source_schemas import TAKEN_BACK, ScanReportOut, scan_report_out
from knowledge.documents.source_state import with_unread_count
from knowledge.documents.sources import (
    SourceChanges,
    create_source,
    delete_source,
    request_scan,
    update_source,
    visible_sources,
)
from knowledge.models import Collection, Source
from knowledge.sources import watched_roots

STATES = {"running": _("running"), "completed": _("completed"), "failed": _("failed"), TAKEN_BACK: _("taken back")}
FACTS = ("name", "kind", "location", "collection", "policy", "enabled", "scan_every_minutes")
REPORTED = ("scanned_at", "next_scan", "state", "result", "failures")
MOST_NAMED = 20
OWN_PAGE = "own_page"
"""The field by which a form says that it is on the page of the one source that it is about."""


@admin.register(Source)
class SourceAdmin(HubModelAdmin):
    """Curators of a collection see its sources and scan them; operators among them say what is watched."""

    right = HubRight.OPERATION
    list_display = ("name_and_place", "collection", "enabled", "scan_every_minutes", "state", "result", "scanned_at")
    list_select_related = ("collection",)
    list_filter = ("enabled", "kind")
    search_fields = ("name", "location")
    autocomplete_fields = ("collection",)
    actions = ("scan_now", "undo_last_scan")
    fixed_fields = ("name", "kind", "collection", *REPORTED)
    change_form_template = "admin/knowledge/source/change_form.html"

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return Collection.objects.visible_to(principal, Scope.CURATE).exists()  # the queryset holds only theirs

    may_delete = holders

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        principal = principal_of(request)
        return with_unread_count(principal, visible_sources(principal))

    def get_fields(self, request: HttpRequest, obj: Source | None = None) -> tuple[str, ...]:
        """A new source is switched off; what its scans did is shown once there was one."""
        if obj is None:
            return tuple(name for name in FACTS if name != "enabled")
        return (*FACTS, *REPORTED) if is_scanned(obj) else FACTS

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Say at the place of a source, before it is typed, what may be watched."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name == "location":
            said = _("Below one of: {roots}. An operator adds others in HUB_SOURCE_ROOTS.")
            field.help_text = said.format(roots=", ".join(watched_roots()))
        return field

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
                enabled=False,
                scan_every_minutes=obj.scan_every_minutes,
            )
            obj.__dict__.update(made.__dict__)
            messages.info(request, _("The source is switched off. Look at what it would take in, then switch it on."))
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
    def scan_now(self, request: HttpRequest, queryset: QuerySet[Source]) -> HttpResponse | None:
        for name in queryset.values_list("name", flat=True):
            with errors_as_messages(request):
                request_scan(principal=principal_of(request), name=name)
                messages.success(request, _("The scan of {name} was asked for.").format(name=name))
        return _back_to_own_page(request)

    @admin.action(description=_("Take back what the last scan took in, and switch off"))
    def undo_last_scan(self, request: HttpRequest, queryset: QuerySet[Source]) -> HttpResponse | None:
        sources = list(queryset)
        seen = {source: request.POST.get(_seen_field(source), scan_batch(source)) for source in sources}
        try:
            for source, batch in seen.items():
                check_last_scan(source, batch)
        except Conflict as conflict:
            messages.error(request, str(conflict))
            return _back_to_own_page(request)
        asked = ask_first(
            request,
            title=_("Take back what the last scan took in, and switch off"),
            consequence=_(
                "What the scan named here took in is deleted, or is again as it was before; the source is switched off."
            ),
            rows=[f"{source.name} ({source.location}): {undo_in_words(source) or '-'}" for source in sources],
            button=_("Take back"),
            leave=_own_page(request),
            said={_seen_field(source): batch for source, batch in seen.items()},
        )
        if asked is not None:
            return asked
        for source, batch in seen.items():
            name = source.name
            with errors_as_messages(request):
                done = undo_scan(principal_of(request), name, scan=batch)
                counts = {"deleted": len(done.deleted), "restored": len(done.restored), "left": done.left}
                said = _("{name}: {deleted} deleted, {restored} as before, {left} left. It is switched off.")
                messages.success(request, said.format(name=name, **counts))
                for path, error in done.refused[:MOST_NAMED]:
                    messages.warning(request, f"{path}: {error}")
        return _back_to_own_page(request)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show the form to who curates a collection that a source may be read into, and others whom to ask for that."""
        if (
            request.method == "GET"
            and self.has_add_permission(request)
            and not self.may_view(principal_of(request), None)
        ):
            return render_page(request, "admin/knowledge/source/role_needed.html", title=_("Add a source"))
        response: HttpResponseBase = super().add_view(request, form_url, extra_context)
        return response

    def response_add(self, request: HttpRequest, obj: Source, post_url_continue: str | None = None) -> HttpResponse:
        """Go on to the source's own page, where it is seen what it would take in."""
        return HttpResponseRedirect(reverse("admin:knowledge_source_change", args=[obj.pk]))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show, above the form, whether the source is off, what of it could not be read, and what a scan would do."""
        source = self.get_object(request, unquote(object_id))
        context = extra_context or {}
        if source is not None:
            may_change = self.has_change_permission(request, source)
            context |= {"seen_field": _seen_field(source), **about_source(request, source, may_change=may_change)}
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response

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

    @admin.display(description=_("next scan"))
    def next_scan(self, source: Source) -> str:
        if not source.enabled:
            return str(_("none: the source is switched off"))
        if source.scanned_at is None:
            return str(_("as soon as a worker is free"))
        return date_format(
            localtime(source.scanned_at + timedelta(minutes=source.scan_every_minutes)), "DATETIME_FORMAT"
        )

    @admin.display(description=_("files"))
    def result(self, source: Source) -> SafeString | str:
        report = scan_report_out(source.report)
        if report is None:
            return "-"
        unread = source.__dict__["unread_count"]
        if not unread:
            return _counts(report)
        said = _("{count} more could not be read after they were taken in")
        return two_lines(_counts(report), said.format(count=unread))

    @admin.display(description=_("not taken in"))
    def failures(self, source: Source) -> SafeString | str:
        report = scan_report_out(source.report)
        if report is None or not report.failures:
            return "-"
        lines = format_html_join("", "<li>{}: {}</li>", ((item.path, item.reason) for item in report.failures))
        return format_html("<ul>{}</ul>", lines)


def _seen_field(source: Source) -> str:
    """The field of a form that says which scan of a source its page showed, by the scan's batch."""
    return f"seen-{source.pk}"


def _own_page(request: HttpRequest) -> str:
    """The address of the source's page that an action was asked for on; empty for actions of the list."""
    pk = request.POST.get(OWN_PAGE, "")
    return reverse("admin:knowledge_source_change", args=[int(pk)]) if pk.isdecimal() else ""


def _back_to_own_page(request: HttpRequest) -> HttpResponse | None:
    """Lead back to that page; None leads to the list."""
    address = _own_page(request)
    return HttpResponseRedirect(address) if address else None


def _counts(report: ScanReportOut) -> str:
    return str(
        _("new {new}, changed {changed}, unchanged {unchanged}, removed {removed}, failed {failed}").format(
            **report.model_dump(include={"new", "changed", "unchanged", "removed", "failed"})
        )
    )
