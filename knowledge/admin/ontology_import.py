"""The import page: a file is shown as the difference that it makes, and applied when the curator says so."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from hub.access.principals import Principal
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import InvalidInput, LimitExceeded
from hub.core.languages import in_language
from knowledge.models import Ontology
from knowledge.ontology import ontologies
from knowledge.ontology.difference import OntologyDifference
from knowledge.ontology.rdf_files import FORMATS, MAX_BYTES, format_of


class ImportForm(forms.Form):
    """The file comes first as an upload; after the preview it comes back packed in ``packed``."""

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
    packed = forms.CharField(required=False, widget=forms.HiddenInput)
    rdf_format = forms.ChoiceField(required=False, choices=[(name, name) for name in FORMATS], widget=forms.HiddenInput)

    def content(self) -> tuple[bytes, str]:
        """Give the file's bytes and format. Raises InvalidInput, LimitExceeded."""
        asked = self.cleaned_data
        if asked["packed"]:
            return _unpacked(asked["packed"]), asked["rdf_format"] or "turtle"
        if not asked["file"]:
            raise InvalidInput(_("Choose a file."), field="file")
        rdf_format = format_of(filename=asked["file"].name)
        if rdf_format is None:
            raise InvalidInput(
                _("{name} can't be imported: its ending is none of .rdf, .owl, .xml, .ttl, .jsonld, .json."),
                field="file",
                name=asked["file"].name,
            )
        if asked["file"].size > MAX_BYTES:
            raise _too_large()
        return asked["file"].read(), rdf_format


def import_page(request: HttpRequest) -> HttpResponseBase:
    """Show the form, the preview of a file, or apply it."""
    form = ImportForm(request.POST or None, request.FILES or None, initial={"domain": request.GET.get("domain", "")})
    shown: dict[str, Any] = {}
    with errors_as_messages(request):
        principal_of(request).require_hub_curator()
        if request.method == "POST" and form.is_valid():
            data, rdf_format = form.content()
            if "apply" in request.POST or "publish" in request.POST:
                return _apply(request, form.cleaned_data["domain"], data, rdf_format)
            shown = _preview(request, form.cleaned_data["domain"], data, rdf_format)
    return render_page(
        request,
        "admin/knowledge/ontology/import.html",
        title=_("Import an ontology"),
        form=form,
        domains=_domains(principal_of(request)),
        **shown,
    )


def _domains(principal: Principal) -> QuerySet[Ontology, str]:
    """The domains of the versions that the person may see, to be chosen from."""
    return Ontology.objects.visible_to(principal).order_by("domain").values_list("domain", flat=True).distinct()


def difference_context(difference: OntologyDifference) -> dict[str, Any]:
    """What the template ``changes.html`` shows."""
    parts = [
        {"title": _("Classes"), "changes": difference.classes},
        {"title": _("Properties"), "changes": difference.properties},
    ]
    return {"difference": difference, "difference_parts": parts}


def _preview(request: HttpRequest, domain: str, data: bytes, rdf_format: str) -> dict[str, Any]:
    found = ontologies.preview_import(principal_of(request), domain, data, rdf_format=rdf_format)
    kept = [
        {
            "term": each.term,
            "count": each.count,
            "example": each.example,
            "note": in_language(each.note_ja, each.note_en),
        }
        for each in found.kept_only
    ]
    return {
        "preview": found,
        **difference_context(found.difference),
        "kept": kept,
        "packed": base64.b64encode(zlib.compress(data)).decode(),
        "rdf_format": rdf_format,
        "chosen_domain": domain,
    }


def _apply(request: HttpRequest, domain: str, data: bytes, rdf_format: str) -> HttpResponseBase:
    principal = principal_of(request)
    stored, _preview = ontologies.import_ontology(principal=principal, domain=domain, data=data, rdf_format=rdf_format)
    messages.success(request, _("Imported as {version}.").format(version=stored))
    if "publish" in request.POST and stored.is_draft:
        with errors_as_messages(request):
            ontologies.publish_ontology(principal=principal, domain=domain, number=stored.number)
    return HttpResponseRedirect(reverse("admin:knowledge_ontology_change", args=[stored.pk]))


def _unpacked(packed: str) -> bytes:
    opened = zlib.decompressobj()
    try:
        data = opened.decompress(base64.b64decode(packed, validate=True), MAX_BYTES + 1)
    except (zlib.error, binascii.Error, ValueError) as error:
        raise InvalidInput(
            _("The previewed file was changed on its way back. Choose it again."), field="file"
        ) from error
    if len(data) > MAX_BYTES:
        raise _too_large()
    return data


def _too_large() -> LimitExceeded:
    return LimitExceeded(_("An ontology file may have {limit} bytes; this one has more."), limit=MAX_BYTES)
