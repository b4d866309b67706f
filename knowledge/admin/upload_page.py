"""The upload page: several files at once, each taken in or refused by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldBooleanSwitchWidget

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import principal_of, render_page
from hub.core.errors import HubError
from hub.rest.uploads import received_file
from knowledge.admin.fields import ChunkingForm, collection_choices, line_field
from knowledge.documents.uploads import Upload, create_document
from knowledge.models import Document, DocumentType

OUTCOMES = {
    "created": _("taken in"),
    "new_version": _("taken in as a new version"),
    "unchanged": _("unchanged, nothing to do"),
}


class UploadForm(ChunkingForm):
    """Where the files go and what they are; the files themselves are read from the request."""

    field_order = ("collection", "document_type", "folder", "replace")

    collection = forms.ChoiceField(label=_("Collection"), widget=UnfoldAdminSelectWidget)
    document_type = forms.ChoiceField(label=_("Document type"), required=False, widget=UnfoldAdminSelectWidget)
    folder = line_field(
        _("Folder"),
        max_length=500,
        help_text=_("Put before the file names, for instance projects/2025; may stay empty."),
    )
    replace = forms.BooleanField(
        label=_("Replace documents of other uploaders"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("Only curators of the collection may."),
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["collection"].choices = collection_choices(principal, Scope.UPLOAD)  # type: ignore[attr-defined]
        kinds = [(kind.code, str(kind)) for kind in DocumentType.objects.all()]
        # A new version would otherwise lose the type that its document has.
        unsaid = ("", _("as it is (new documents: other)"))
        self.fields["document_type"].choices = [unsaid, *kinds]  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """What became of one file: a document, or the reason why not."""

    filename: str
    document: Document | None = None
    text: str = ""
    error: str = ""
    same_content_as: str | None = None


def upload(request: HttpRequest) -> HttpResponseBase:
    """Show the form; a POST takes the files in one by one and lists what became of each."""
    principal = principal_of(request)
    form = UploadForm(request.POST or None, principal=principal)
    outcomes: list[FileOutcome] = []
    if request.method == "POST" and form.is_valid():
        files = request.FILES.getlist("files")
        if not files:
            form.add_error(None, str(_("Choose at least one file.")))
        wanted = form.cleaned_data | {"chunk_options": form.chunk_options()}
        outcomes = [_take_in(principal, file, wanted) for file in files]
    return render_page(
        request, "admin/knowledge/document/upload.html", title=_("Upload documents"), form=form, outcomes=outcomes
    )


def _take_in(principal: Principal, file: UploadedFile[bytes], wanted: dict[str, Any]) -> FileOutcome:
    filename = file.name or ""
    folder = wanted["folder"].strip().strip("/")
    try:
        with received_file(file) as received:
            outcome = create_document(
                principal=principal,
                upload=Upload(
                    file=received.path,
                    filename=received.filename,
                    sha256=received.sha256,
                    size_bytes=received.size_bytes,
                    path=f"{folder}/{received.filename}" if folder else "",
                    collection=wanted["collection"],
                    document_type=wanted["document_type"],
                    chunk_options=wanted["chunk_options"],
                    replace=wanted["replace"],
                ),
            )
    except HubError as error:
        return FileOutcome(filename=filename, error=str(error))
    return FileOutcome(
        filename=filename,
        document=outcome.document,
        text=str(OUTCOMES[outcome.outcome]),
        same_content_as=outcome.same_content_as,
    )
