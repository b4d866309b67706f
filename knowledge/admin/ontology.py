"""Ontologies: a page for each version with the tree of its classes; differences, publication, export and import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from hub.access.principals import HubRight
from hub.access.version_people import people_of_versions
from hub.access.versions import may_publish_own, refusals
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin, column, everybody
from hub.admin_site.carried_file import carry_file, chosen_file
from hub.admin_site.pages import badge, errors_as_messages, principal_of, render_page
from hub.core.errors import HubError, InvalidInput, LimitExceeded
from hub.core.languages import in_language
from hub.rest.responses import attachment
from knowledge.admin import ontology_trial
from knowledge.admin.changed_fields import changed_fields
from knowledge.admin.fields import type_names
from knowledge.models import Ontology, OntologyClass, OntologyProperty
from knowledge.ontology import ontologies, store
from knowledge.ontology.difference import Changes, OntologyDifference, statements
from knowledge.ontology.rdf_files import MAX_BYTES, format_of

SALT = "knowledge.ontology_import"


class ImportForm(forms.Form):
    """Which domain the file is a version of; the file itself is read from the request."""

    domain = forms.RegexField(
        r"^[a-z][a-z0-9_-]{0,59}$",
        label=_("Domain"),
        widget=UnfoldAdminTextInputWidget(attrs={"list": "hub-domains"}),
        help_text=_("An existing one gets a new version; another name makes a new domain."),
    )
    file = forms.FileField(
        label=_("File"),
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text=_("RDF/XML (.rdf, .owl), Turtle (.ttl) or JSON-LD (.jsonld)."),
    )


def import_page(request: HttpRequest) -> HttpResponseBase:
    """Show the form, the preview of a file, or store it."""
    form = ImportForm(request.POST or None, request.FILES or None, initial={"domain": request.GET.get("domain", "")})
    shown: dict[str, Any] = {}
    with errors_as_messages(request):
        principal_of(request).require_hub(HubRight.ONTOLOGIES)
        if request.method == "POST" and form.is_valid():
            domain, (filename, data, rdf_format) = form.cleaned_data["domain"], _chosen(request)
            if "store" in request.POST:
                return _store(request, domain, data, rdf_format)
            shown = _preview(request, domain, data, rdf_format)
            shown["carried"] = carry_file(request, filename, data, salt=SALT)
    return render_page(
        request,
        "admin/knowledge/ontology/import.html",
        title=_("Import an ontology"),
        form=form,
        domains=Ontology.objects.visible_to(principal_of(request))
        .order_by("domain")
        .values_list("domain", flat=True)
        .distinct(),
        may_publish_own=may_publish_own(principal_of(request)),
        **shown,
    )


def difference_context(difference: OntologyDifference) -> dict[str, Any]:
    """What the template ``changes.html`` shows."""
    parts: tuple[tuple[Any, type[Model], Changes], ...] = (
        (_("Classes"), OntologyClass, difference.classes),
        (_("Properties"), OntologyProperty, difference.properties),
    )
    return {
        "difference": difference,
        "difference_header": changed_fields(Ontology, difference.header),
        "difference_parts": [
            {
                "title": title,
                "changes": changes,
                "changed": [(row, changed_fields(model, row.changes)) for row in changes.changed],
            }
            for title, model, changes in parts
        ],
    }


def _preview(request: HttpRequest, domain: str, data: bytes, rdf_format: str) -> dict[str, Any]:
    found = ontologies.preview_import(principal_of(request), domain, data, rdf_format=rdf_format)
    kept = [{**asdict(each), "note": in_language(each.note_ja, each.note_en)} for each in found.kept_only]
    return {
        "preview": found,
        **difference_context(found.difference),
        "kept": kept,
        "chosen_domain": domain,
    }


def _store(request: HttpRequest, domain: str, data: bytes, rdf_format: str) -> HttpResponseBase:
    principal = principal_of(request)
    stored, _preview = ontologies.import_ontology(principal=principal, domain=domain, data=data, rdf_format=rdf_format)
    messages.success(request, _("Imported as {version}.").format(version=stored))
    if request.POST["store"] == "publish" and stored.is_draft:
        with errors_as_messages(request):
            ontologies.publish_ontology(principal=principal, domain=domain, number=stored.number)
    return HttpResponseRedirect(reverse("admin:knowledge_ontology_change", args=[stored.pk]))


def _chosen(request: HttpRequest) -> tuple[str, bytes, str]:
    """The file's name, bytes and format. Raises InvalidInput, LimitExceeded."""
    filename, data = chosen_file(request, salt=SALT)
    rdf_format = format_of(filename=filename)
    if rdf_format is None:
        raise InvalidInput(
            _("{name} can't be imported: its ending is none of .rdf, .owl, .xml, .ttl, .jsonld, .json."), name=filename
        )
    if len(data) > MAX_BYTES:
        raise LimitExceeded(_("An ontology file may have {limit} bytes; this one has more."), limit=MAX_BYTES)
    return filename, data, rdf_format


@dataclass(slots=True, kw_only=True)
class TreeNode:
    """A class at one place. ``is_repeated``: what is below it is at its first place."""

    row: OntologyClass
    children: list[TreeNode] = field(default_factory=list)
    is_repeated: bool = False


def class_tree(ontology: Ontology) -> list[TreeNode]:
    """Build the tree, roots first by their labels. Two queries. Classes in a circle hang below one of them."""
    rows = list(ontology.classes.prefetch_related("parents").order_by("position", "label_ja", "code"))
    children: dict[int, list[OntologyClass]] = {}
    for row in rows:
        for parent in row.parents.all():
            children.setdefault(parent.pk, []).append(row)
    placed: set[int] = set()
    roots = [_node(row, children, placed) for row in rows if not row.parents.all()]
    roots += [_node(row, children, placed) for row in rows if row.pk not in placed]
    return [node for node in roots if not node.is_repeated]


def _node(row: OntologyClass, children: dict[int, list[OntologyClass]], placed: set[int]) -> TreeNode:
    """Place a class and all below it, without recursion: files of others may be deeper than Python's stack."""
    top = TreeNode(row=row)
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if node.row.pk in placed:
            node.is_repeated = bool(children.get(node.row.pk)) or node is top
            continue
        placed.add(node.row.pk)
        node.children = [TreeNode(row=child) for child in children.get(node.row.pk, ())]
        waiting.extend(reversed(node.children))
    return top


FILES = {
    "rdfxml": ("rdf", "application/rdf+xml"),
    "turtle": ("ttl", "text/turtle"),
    "jsonld": ("jsonld", "application/json"),
}
STATEMENTS_SHOWN = 300


def _version_page(request: HttpRequest, ontology: Ontology) -> HttpResponseBase:
    principal = principal_of(request)
    others = Ontology.objects.visible_to(principal).filter(domain=ontology.domain).exclude(pk=ontology.pk)
    others = others.order_by("-number")
    kept = [{**each, "note": in_language(each["note"]["ja"], each["note"]["en"])} for each in ontology.kept_only or ()]
    rest = statements(store.load_facts(ontology))
    names = type_names()
    return render_page(
        request,
        "admin/knowledge/ontology/detail.html",
        title=f"{in_language(ontology.name_ja, ontology.name_en)} ({ontology})",
        ontology=ontology,
        document_types=[names.get(code, code) for code in ontology.document_types],
        tree=class_tree(ontology),
        properties=ontology.properties.prefetch_related("domains", "ranges", "parents").select_related("inverse_of"),
        kept=kept,
        statements=rest[:STATEMENTS_SHOWN],
        statements_count=len(rest),
        others=others.defer("remainder", "suppressed"),
        formats=FILES,
        may_curate=principal.may(HubRight.ONTOLOGIES),
        people=people_of_versions([ontology])[ontology.audited],
        **refusals(principal, ontology),
    )


def _found(request: HttpRequest, pk: int) -> Ontology:
    return get_object_or_404(ontologies.list_ontologies(principal_of(request)), pk=pk)


def _to_version(pk: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:knowledge_ontology_change", args=[pk]))


def _refused(request: HttpRequest, error: HubError, pk: int) -> HttpResponseRedirect:
    messages.error(request, str(error))
    return _to_version(pk)


@require_GET
def export(request: HttpRequest, pk: int, rdf_format: str) -> HttpResponseBase:
    """Give a version as a file to save."""
    found = _found(request, pk)
    if rdf_format not in FILES:
        raise Http404
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
    base = request.GET.get("base", "")
    try:
        changes = ontologies.compare_versions(principal_of(request), found.domain, base, str(found.number))
    except HubError as error:
        return _refused(request, error, pk)
    title = _("{domain}: from version {base} to {number}").format(domain=found.domain, base=base, number=found.number)
    return render_page(
        request, "admin/knowledge/ontology/diff.html", title=title, ontology=found, **difference_context(changes)
    )


def _button(act: Callable[..., Ontology], done: str | Promise) -> Callable[..., HttpResponseRedirect]:
    """A view that has the service ``act`` on a version, and says ``done`` of it."""

    @require_POST
    def press(request: HttpRequest, pk: int) -> HttpResponseRedirect:
        found = _found(request, pk)
        with errors_as_messages(request):
            row = act(principal=principal_of(request), domain=found.domain, number=found.number)
            messages.success(request, str(done).format(version=row))
        return _to_version(pk)

    return press


publish = _button(ontologies.publish_ontology, _("{version} is published: checks and search use it from now on."))
retire = _button(ontologies.retire_ontology, _("{version} is retired."))


@require_POST
def draft(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Make a draft of a version, and go there."""
    found = _found(request, pk)
    try:
        row = ontologies.draft_from(principal=principal_of(request), domain=found.domain, version=str(found.number))
    except HubError as error:
        return _refused(request, error, pk)
    messages.success(request, _("{version} is a new draft: edit it, then publish it.").format(version=row))
    return _to_version(row.pk)


class OntologyChangeList(ChangeList):  # type: ignore[misc]  # Unfold has no types
    """A page of versions, with what those are called who made and published them."""

    def get_results(self, request: HttpRequest) -> None:
        """Load the page that the query names. Two queries more than Unfold's."""
        super().get_results(request)
        people = people_of_versions(self.result_list)
        for ontology in self.result_list:
            ontology.__dict__["people"] = people[ontology.audited]


@admin.register(Ontology)
class OntologyAdmin(ReadOnlyMixin, HubModelAdmin):
    """Versions are made by import or as a copy, never by a form."""

    list_display = ("domain", "number", "name", "state", "classes_count", "properties_count", "created", "published")
    list_filter = ("status", "domain")
    search_fields = ("domain", "name_ja", "name_en")
    change_list_template = "admin/knowledge/ontology/change_list.html"
    pages = {
        "knowledge_ontology_import": ("import/", import_page),
        "knowledge_ontology_publish": ("<int:pk>/publish/", publish),
        "knowledge_ontology_retire": ("<int:pk>/retire/", retire),
        "knowledge_ontology_draft": ("<int:pk>/draft/", draft),
        "knowledge_ontology_trial": ("<int:pk>/trial/", ontology_trial.page),
        "knowledge_ontology_diff": ("<int:pk>/diff/", diff),
        "knowledge_ontology_export": ("<int:pk>/export/<str:rdf_format>/", export),
    }

    may_view = everybody

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[OntologyChangeList]:  # noqa: ANN401
        return OntologyChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ontology]:
        return ontologies.list_ontologies(principal_of(request))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        response: HttpResponseBase = super().changelist_view(
            request, {**(extra_context or {}), "may_curate": principal_of(request).may(HubRight.ONTOLOGIES)}
        )
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show a version: its state and what can be done, the tree of its classes, all else that it says."""
        found = self.get_object(request, object_id)
        if found is None or not self.has_view_permission(request, found):
            raise Http404
        return _version_page(request, found)

    @admin.display(description=_("name"))
    def name(self, ontology: Ontology) -> str:
        return in_language(ontology.name_ja, ontology.name_en)

    @admin.display(description=_("state"), ordering="status")
    def state(self, ontology: Ontology) -> SafeString:
        return badge(ontology.status, ontology.get_status_display())

    classes_count = column(_("classes"), "classes_number")
    properties_count = column(_("properties"), "properties_number")

    @admin.display(description=_("created"), ordering="created_at")
    def created(self, ontology: Ontology) -> str:
        return f"{localtime(ontology.created_at):%Y-%m-%d} {_called(ontology, ontology.created_by)}"

    @admin.display(description=_("published"), ordering="published_at")
    def published(self, ontology: Ontology) -> str:
        at = ontology.published_at
        return f"{localtime(at):%Y-%m-%d} {_called(ontology, ontology.published_by)}" if at else "-"


def _called(ontology: Ontology, user_name: str) -> str:
    people: dict[str, str] = ontology.__dict__["people"]
    return people.get(user_name, user_name)
