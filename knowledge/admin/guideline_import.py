"""The import page of guidelines: a file is shown with what it would change, and stored when that is right."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from django import forms
from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminDateWidget, UnfoldAdminTextInputWidget

from hub.admin_site.callers import principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import HubError, InvalidInput
from hub.rest.uploads import received_file
from knowledge.guidelines.drafts import ImportPreview
from knowledge.guidelines.imports import GuidelineImport, import_edition, preview_import

SALT = "knowledge.guideline_import"
# What a preview may carry from one page to the next; Django refuses forms above 2.5 MB.
MAX_CARRIED = 1_500_000
CHANGES_SHOWN = 200
CHANGES = {"added": _("added"), "removed": _("removed"), "changed": _("changed"), "moved": _("moved")}


class ImportForm(forms.Form):
    """Which guideline the file is an edition of; the file itself is read from the request."""

    code = forms.SlugField(
        label=_("Code"),
        max_length=60,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Of a guideline that is there, or of a new one."),
    )
    label = forms.CharField(
        label=_("Edition"),
        required=False,
        max_length=100,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("As people call it, for instance 2026-04."),
    )
    effective_date = forms.DateField(label=_("In force from"), required=False, widget=UnfoldAdminDateWidget)
    article_prefix = forms.CharField(
        label=_("Prefix of article codes"),
        required=False,
        max_length=11,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("New guidelines only, for instance GL-."),
    )
    name_ja = forms.CharField(label=_("Name (ja)"), required=False, max_length=200, widget=UnfoldAdminTextInputWidget)
    name_en = forms.CharField(label=_("Name (en)"), required=False, max_length=200, widget=UnfoldAdminTextInputWidget)
    publisher = forms.CharField(label=_("Publisher"), required=False, max_length=200, widget=UnfoldAdminTextInputWidget)
    licence = forms.CharField(label=_("Licence"), required=False, max_length=200, widget=UnfoldAdminTextInputWidget)
    source = forms.CharField(label=_("Source"), required=False, widget=UnfoldAdminTextInputWidget)


def import_page(request: HttpRequest) -> HttpResponseBase:
    """Show the form; a POST shows what the file would change, and with ``store`` stores it as a draft."""
    form = ImportForm(request.POST or None, initial={"code": request.GET.get("code", "")})
    preview: ImportPreview | None = None
    carried = ""
    if request.method == "POST" and form.is_valid():
        try:
            asked = _asked(request, form.cleaned_data)
            if "store" in request.POST:
                return _store(request, asked)
            preview = preview_import(principal=principal_of(request), asked=asked)
            carried = _carry(asked)
        except HubError as error:
            form.add_error(None, str(error))
    return render_page(
        request,
        "admin/knowledge/guideline/import.html",
        title=_("Import a guideline"),
        form=form,
        preview=preview,
        changes=[(change, CHANGES[change.kind]) for change in preview.changes[:CHANGES_SHOWN]] if preview else [],
        carried=carried,
    )


def _store(request: HttpRequest, asked: GuidelineImport) -> HttpResponseRedirect:
    edition = import_edition(principal=principal_of(request), asked=asked)
    messages.success(request, _("{edition} is stored as a draft. Publish it when it is right.").format(edition=edition))
    page = reverse("admin:knowledge_guideline_change", args=[edition.guideline_id])
    return HttpResponseRedirect(f"{page}?edition={edition.number}")


def _asked(request: HttpRequest, facts: dict[str, Any]) -> GuidelineImport:
    # A form's own attribute "prefix" is Django's.
    given = {"prefix" if name == "article_prefix" else name: value for name, value in facts.items()}
    if "store" in request.POST and request.POST.get("carried"):
        return GuidelineImport(**given, **_carried(request.POST["carried"]))
    if "file" not in request.FILES:
        raise InvalidInput(_("Choose a file."))
    file = request.FILES.getlist("file")[0]
    with received_file(file) as received:
        return GuidelineImport(**given, filename=received.filename, content=received.path.read_bytes())


def _carry(asked: GuidelineImport) -> str:
    """The file for the next request, signed; empty when it is too large, and then it is chosen again."""
    packed = base64.b64encode(zlib.compress(asked.content)).decode()
    if len(packed) > MAX_CARRIED:
        return ""
    return signing.dumps({"filename": asked.filename, "content": packed}, salt=SALT)


def _carried(token: str) -> dict[str, Any]:
    try:
        facts = signing.loads(token, salt=SALT)
    except signing.BadSignature as error:
        raise InvalidInput(_("The preview is no longer valid. Choose the file again.")) from error
    return {"filename": facts["filename"], "content": zlib.decompress(base64.b64decode(facts["content"]))}
