"""The audit trail: read only, for superusers, and for auditors the lines about what they audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from hub.access.models import AuditEvent, AuditKind
from hub.access.names import name_of, name_with_login
from hub.access.principals import HubRight, Principal, Scope
from hub.admin_site.base import ReadOnlyMixin
from hub.admin_site.keyset import KeysetChangeList, KeysetModelAdmin
from hub.admin_site.pages import principal_of, two_lines
from hub.audit.actions import KIND_NAMES, action_name
from hub.audit.detail_names import detail_name
from hub.audit.events import EventFilter, details_for, filtered, record_audit_read, visible_events
from hub.audit.exports import FORMATS, export_events
from hub.core import durations
from hub.rest.responses import attachment
from knowledge.models import Collection, Document
from review.models import VERDICTS, Review, Triage

CHOICES: Mapping[str, Mapping[str, str | Promise]] = {"verdict": dict(VERDICTS), "triage": dict(Triage.choices)}
"""What the values of details are called that have names."""
RECENT = 2000
LINKED = ("document", "review")
LONGEST_TERM = 200
DOORS = {
    "admin": _("web pages"),
    "rest": "REST",
    "mcp": "MCP",
    "cli": _("command line"),
    "task": _("background"),
}


class ActionFilter(admin.SimpleListFilter):
    title = _("action")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Offer what happened lately: the trail is too long to look for every action in it."""
        recent = model_admin.get_queryset(request).values_list("action", flat=True)[:RECENT]
        return [(action, action_name(action)) for action in sorted(set(recent))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        return queryset.filter(action=self.value()) if self.value() else queryset


class KindFilter(admin.SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(kind.value, str(kind.label)) for kind in AuditKind if kind.value]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        return filtered(queryset, EventFilter(kind=self.value() or ""))


class DoorFilter(admin.SimpleListFilter):
    title = _("door")
    parameter_name = "door"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(door, str(name)) for door, name in DOORS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        return queryset.filter(door=self.value()) if self.value() else queryset


class AuditChangeList(KeysetChangeList):
    """A page of the trail, whose reading is a line of it, too. Documents and reviews have their titles, as far as the
    person may read them.
    """

    def get_results(self, request: HttpRequest) -> None:
        """Load the page that the query names. Four queries, and one statement for the line."""
        super().get_results(request)
        lines = cast("list[AuditEvent]", self.result_list)
        _add_names(principal_of(request), lines)
        record_audit_read(principal_of(request), {name: value[:100] for name, value in request.GET.items()})


def _add_names(principal: Principal, lines: Iterable[AuditEvent]) -> None:
    """Put beside what lines store what their people and resources are called. Four queries at most.

    A line keeps the user name of its day: its person is named only while the account that acted still has it.
    """
    titles = _titles(principal, {event.resource for event in lines})
    people = User.objects.in_bulk({event.user_id for event in lines if event.user_id is not None})
    for event in lines:
        person = people.get(event.user_id) if event.user_id is not None else None
        is_same = person is not None and person.get_username() == event.principal
        event.__dict__["who"] = name_with_login(person) if person is not None and is_same else event.principal
        event.named = titles.get(event.resource, "")


def _titles(principal: Principal, resources: set[str]) -> dict[str, str]:
    """Map the resources of lines to titles: of documents and of the documents of reviews that the person may read, and,
    with the right to the whole trail, to the names of people. Three queries at most.
    """
    named = [resource.partition(":") for resource in resources]
    documents = Document.objects.visible_to(principal).filter(
        public_id__in=[name for kind, _colon, name in named if kind == "document"]
    )
    reviews = Review.objects.visible_to(principal).filter(
        public_id__in=[name for kind, _colon, name in named if kind == "review"]
    )
    people = [int(name) for kind, _colon, name in named if kind == "user" and name.isdecimal()]
    users = User.objects.filter(pk__in=people) if people and principal.may(HubRight.AUDIT) else ()
    return {
        **{f"user:{user.pk}": name_of(user) for user in users},
        **{f"document:{name}": title for name, title in documents.values_list("public_id", "title")},
        **{
            f"review:{name}": title
            for name, title in reviews.values_list("public_id", "version__document__title")
            if title
        },
    }


def _in_words(detail: str, value: object) -> str:
    """The value of a detail for people; what is nested as JSON."""
    if isinstance(value, bool):
        return str(_("Yes") if value else _("No"))
    if detail == "duration_ms" and isinstance(value, int | float):
        return durations.in_words(value)
    if isinstance(value, str):
        return str(CHOICES.get(detail, {}).get(value, value))
    if value is None or value in ([], {}):
        return str(_("none"))
    return json.dumps(value, ensure_ascii=False)


@require_safe
def export(request: HttpRequest, file_format: str) -> HttpResponseBase:
    """Give the lines that the list shows, all pages of it, as a file. Errors as on other pages."""
    action, kind, door, term = (
        request.GET.get(name, "")[:LONGEST_TERM] for name in ("action", "kind", "door", SEARCH_VAR)
    )
    wanted = EventFilter(action=action, kind=kind, door=door, term=term)
    if not admin.site.get_model_admin(AuditEvent).has_view_permission(request):
        raise PermissionDenied
    if file_format not in FORMATS:
        raise Http404
    parts, form = export_events(principal_of(request), wanted, file_format=file_format)
    return attachment(request, parts, filename=f"audit.{form.suffix}", content_type=form.content_type)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyMixin, KeysetModelAdmin):
    pages = {"access_auditevent_export": ("export/<str:file_format>/", export)}
    change_list_template = "admin/access/auditevent/change_list.html"
    list_display = ("at", "named_action", "who", "about", "by_door", "address", "request_code")
    list_display_links = ("at",)
    list_filter = (ActionFilter, KindFilter, DoorFilter)
    search_fields = ("resource",)  # only that there is a field: get_search_results looks
    search_help_text = _(
        "A person by name or user name, document:doc_…, doc_… (searches that showed it, too), review:rev_…, or a day"
        " such as 2026-03-31"
    )
    fields = (
        *("at", "named_action", "kind", "who", "about", "own_details", "purpose"),
        *("by_door", "address", "agent", "request_id", "code"),
    )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse looking lines up by their details, which name documents that the person may not see."""
        return not lookup.startswith("details") and super().lookup_allowed(lookup, value, request)

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return principal.may(HubRight.AUDIT) or Collection.objects.visible_to(principal, Scope.AUDIT).exists()

    @admin.display(description=_("resource"))
    def about(self, event: AuditEvent) -> str:
        """Lead to what the line is about by its title, if it has one that the person may read, else name its kind."""
        kind, _colon, name = event.resource.partition(":")
        title = event.named
        if title and kind in LINKED:
            return two_lines(
                format_html('<a class="hub-link" href="{}">{}</a>', reverse(kind, args=[name]), title), name
            )
        if kind not in KIND_NAMES:
            return event.resource or "-"
        if title:
            return two_lines(f"{KIND_NAMES[kind]} {title}", event.resource)
        return format_html('<span title="{}">{} {}</span>', event.resource, KIND_NAMES[kind], name)

    @admin.display(description=_("action"))
    def named_action(self, event: AuditEvent) -> SafeString:
        return format_html('<span title="{}">{}</span>', event.action, action_name(event.action))

    @admin.display(description=_("who"))
    def who(self, event: AuditEvent) -> str:
        return str(event.__dict__["who"])

    @admin.display(description=_("request id"))
    def request_code(self, event: AuditEvent) -> SafeString:
        return format_html('<code class="hub-nowrap">{}</code>', event.request_id)

    @admin.display(description=_("door"))
    def by_door(self, event: AuditEvent) -> str:
        return str(DOORS.get(event.door, event.door))

    @admin.display(description=_("details"))
    def own_details(self, event: AuditEvent) -> SafeString:
        """The details a line each, in words as far as there are some."""
        lines = ((name, detail_name(name), _in_words(name, value)) for name, value in event.__dict__["shown"].items())
        return format_html_join(mark_safe("<br>"), '<span title="{}">{}</span>: {}', lines)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:  # noqa: ANN401
        return AuditChangeList

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        *args: Any,  # noqa: ANN401
        obj: AuditEvent | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> HttpResponseBase:
        """Show one line, which the trail notes."""
        if obj is not None:
            principal = principal_of(request)
            record_audit_read(principal, {"line": obj.pk})
            obj.__dict__["shown"] = details_for(principal, obj)
            _add_names(principal, [obj])
            context["subtitle"] = f"{action_name(obj.action)} {obj.named or obj.resource}".strip()
            context["show_history"] = False  # the line is all that there is
        response: HttpResponseBase = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        return visible_events(principal_of(request)).order_by("-pk")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent], search_term: str
    ) -> tuple[QuerySet[AuditEvent], bool]:
        return filtered(queryset, EventFilter(term=search_term)), False
