"""Ontologies: a page for each version, import with a preview, differences, publication, export."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import Principal
from hub.admin_site.badges import badge
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError
from hub.core.languages import in_language
from hub.rest.responses import attachment
from knowledge.admin.ontology_import import difference_context, import_page
from knowledge.admin.ontology_tree import class_tree
from knowledge.models import Ontology
from knowledge.ontology import ontologies, store
from knowledge.ontology.difference import statements

FILES = {
    "rdfxml": ("rdf", "application/rdf+xml"),
    "turtle": ("ttl", "text/turtle"),
    "jsonld": ("jsonld", "application/json"),
}
STATEMENTS_SHOWN = 300


@admin.register(Ontology)
class OntologyAdmin(ReadOnlyMixin, HubModelAdmin):
    """Versions are made by import or as a copy, never by a form."""

    list_display = ("domain", "number", "name", "state", "classes_count", "properties_count", "created", "published")
    list_filter = ("status", "domain")
    search_fields = ("domain", "name_ja", "name_en")
    change_list_template = "admin/knowledge/ontology/change_list.html"

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def get_urls(self) -> list[URLPattern]:
        """Add the import, and each version's differences, export and steps of life."""
        view = self.admin_site.admin_view
        own = [path("import/", view(import_page), name="knowledge_ontology_import")]
        own += [
            path(f"<int:pk>/{name}/", view(action), name=f"knowledge_ontology_{name}")
            for name, action in {"publish": publish, "retire": retire, "draft": draft, "diff": diff}.items()
        ]
        own.append(path("<int:pk>/export/<str:rdf_format>/", view(export), name="knowledge_ontology_export"))
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ontology]:
        """Add how many classes and properties each has."""
        return ontologies.list_ontologies(principal_of(request))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Offer the import to curators of the hub."""
        response: HttpResponseBase = super().changelist_view(
            request, {**(extra_context or {}), "may_curate": principal_of(request).curates_hub()}
        )
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show a version: its state and what can be done, the tree of its classes, all else that it says."""
        found = self.get_object(request, object_id)
        if found is None or not self.has_view_permission(request, found):
            return HttpResponse(status=404)
        return _version_page(request, found)

    @admin.display(description=_("name"))
    def name(self, ontology: Ontology) -> str:
        """Show the name in the reader's language."""
        return in_language(ontology.name_ja, ontology.name_en)

    @admin.display(description=_("state"), ordering="status")
    def state(self, ontology: Ontology) -> SafeString:
        """Show the state as a badge."""
        return badge(ontology.status, ontology.get_status_display())

    @admin.display(description=_("classes"))
    def classes_count(self, ontology: Ontology) -> int:
        """Show how many classes it has."""
        return int(ontology.__dict__["classes_number"])

    @admin.display(description=_("properties"))
    def properties_count(self, ontology: Ontology) -> int:
        """Show how many properties it has."""
        return int(ontology.__dict__["properties_number"])

    @admin.display(description=_("created"), ordering="created_at")
    def created(self, ontology: Ontology) -> str:
        """Show when and by whom it was made."""
        return f"{ontology.created_at:%Y-%m-%d} {ontology.created_by}"

    @admin.display(description=_("published"), ordering="published_at")
    def published(self, ontology: Ontology) -> str:
        """Show when and by whom it was published."""
        return f"{ontology.published_at:%Y-%m-%d} {ontology.published_by}" if ontology.published_at else "-"


def _version_page(request: HttpRequest, ontology: Ontology) -> HttpResponseBase:
    principal = principal_of(request)
    others = Ontology.objects.visible_to(principal).filter(domain=ontology.domain).exclude(pk=ontology.pk)
    others = others.order_by("-number")
    kept = [{**each, "note": in_language(each["note"]["ja"], each["note"]["en"])} for each in ontology.kept_only or ()]
    rest = statements(store.load_facts(ontology))
    return render_page(
        request,
        "admin/knowledge/ontology/detail.html",
        title=f"{in_language(ontology.name_ja, ontology.name_en)} ({ontology})",
        ontology=ontology,
        tree=class_tree(ontology),
        properties=ontology.properties.prefetch_related("domains", "ranges", "parents").select_related("inverse_of"),
        kept=kept,
        statements=rest[:STATEMENTS_SHOWN],
        statements_count=len(rest),
        others=others.defer("remainder", "suppressed"),
        formats=FILES,
        may_curate=principal.curates_hub(),
    )


def _found(request: HttpRequest, pk: int) -> Ontology | None:
    return ontologies.list_ontologies(principal_of(request)).filter(pk=pk).first()


def _to_version(pk: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:knowledge_ontology_change", args=[pk]))


def _refused(request: HttpRequest, error: HubError, pk: int) -> HttpResponseRedirect:
    messages.error(request, str(error))
    return _to_version(pk)


@require_GET
def export(request: HttpRequest, pk: int, rdf_format: str) -> HttpResponseBase:
    """Give a version as a file to save."""
    found = _found(request, pk)
    if found is None or rdf_format not in FILES:
        return HttpResponse(status=404)
    ending, content_type = FILES[rdf_format]
    try:
        content = ontologies.export_ontology(
            principal_of(request), found.domain, rdf_format=rdf_format, version=str(found.number)
        )
    except HubError as error:
        return _refused(request, error, pk)
    filename = f"{found.domain}-v{found.number}.{ending}"
    return attachment(request, content, filename=filename, content_type=content_type)


@require_GET
def diff(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what a version says and another of its domain (``base``) does not."""
    found = _found(request, pk)
    if found is None:
        return HttpResponse(status=404)
    base = request.GET.get("base", "")
    try:
        changes = ontologies.compare_versions(principal_of(request), found.domain, base, str(found.number))
    except HubError as error:
        return _refused(request, error, pk)
    title = _("{domain}: from version {base} to {number}").format(domain=found.domain, base=base, number=found.number)
    return render_page(
        request, "admin/knowledge/ontology/diff.html", title=title, ontology=found, **difference_context(changes)
    )


@require_POST
def publish(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Publish a draft."""
    if (found := _found(request, pk)) is None:
        return HttpResponse(status=404)
    with errors_as_messages(request):
        row = ontologies.publish_ontology(principal=principal_of(request), domain=found.domain, number=found.number)
        messages.success(
            request, _("{version} is published: checks and search use it from now on.").format(version=row)
        )
    return _to_version(pk)


@require_POST
def retire(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Take a version out of use."""
    if (found := _found(request, pk)) is None:
        return HttpResponse(status=404)
    with errors_as_messages(request):
        row = ontologies.retire_ontology(principal=principal_of(request), domain=found.domain, number=found.number)
        messages.success(request, _("{version} is retired.").format(version=row))
    return _to_version(pk)


@require_POST
def draft(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Make a draft of a version, and go there."""
    if (found := _found(request, pk)) is None:
        return HttpResponse(status=404)
    try:
        row = ontologies.draft_from(principal=principal_of(request), domain=found.domain, version=str(found.number))
    except HubError as error:
        return _refused(request, error, pk)
    messages.success(request, _("{version} is a new draft: edit it, then publish it.").format(version=row))
    return _to_version(row.pk)
