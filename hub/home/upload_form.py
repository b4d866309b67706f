"""What uploads are asked for, and the way of one file into the hub."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.core.errors import Conflict, HubError
from hub.rest.uploads import ReceivedFile, received_file
from knowledge.admin.fields import ChunkingForm, LinesField, collection_choices, kind_choices, replaced_in_words
from knowledge.documents.anonymising import read_anonymising
from knowledge.documents.archives import TakenIn, is_archive_name, take_in_archive
from knowledge.documents.uploads import Upload, UploadOutcome, create_document
from knowledge.models import Document, DocumentType

OUTCOMES = {
    "created": _("taken in"),
    "new_version": _("taken in as a new version"),
    "unchanged": _("unchanged, nothing to do"),
}


class UploadForm(ChunkingForm):
    """Where the files go and what they are; the files themselves are read from the request."""

    field_order = ("collection", "document_type", "folder", "replace")

    collection = forms.ChoiceField(label=_("Collection"))
    document_type = forms.ChoiceField(label=_("Document type"), required=False)
    folder = forms.CharField(
        label=_("Folder"),
        max_length=500,
        required=False,
        help_text=_("Put before the file names, for instance projects/2025; may stay empty."),
    )
    replace = forms.BooleanField(
        label=_("Replace documents of other uploaders"),
        required=False,
        help_text=_("Only curators of the collection may."),
    )

    anonymise_kinds = forms.MultipleChoiceField(
        label=_("Replace personal data"),
        required=False,
        choices=kind_choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Before anything is stored, beside what is replaced in the collection anyway."),
    )
    anonymise_fields = LinesField(label=_("Replace the values of these fields"))

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["collection"].choices = collection_choices(principal, Scope.UPLOAD)  # type: ignore[attr-defined]
        kinds = [(kind.code, str(kind)) for kind in DocumentType.objects.all()]
        # A new version would otherwise lose the type that its document has.
        unsaid = ("", _("as it is (new documents: guessed from title and file name)"))
        self.fields["document_type"].choices = [unsaid, *kinds]  # type: ignore[attr-defined]

    def wanted(self) -> dict[str, Any]:
        """Give what a valid form asks for, for :func:`take_in`."""
        given = self.cleaned_data
        anonymise = read_anonymising(given["anonymise_kinds"], given["anonymise_fields"])
        return given | {"chunk_options": self.chunk_options(), "anonymise": anonymise}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """What became of one file: a document, the reason why not, or how many files of an archive were left out.

    ``may_be_repeated``, of a refusal: whether the same file may be taken in later, or with another form.
    """

    filename: str
    document: Document | None = None
    text: str = ""
    error: str = ""
    may_be_repeated: bool = False
    left_out: str = ""
    replaced: str = ""
    same_content_as: str | None = None
    type_before: str | None = None


def take_in(
    principal: Principal,
    file: UploadedFile[bytes],
    wanted: dict[str, Any],
    *,
    batch: str = "",
    below: str = "",
    instead_of: Document | None = None,
) -> list[FileOutcome]:
    """Take one file in as a form asks; what refuses it is in what is given. A zip or a mail gives a row for each file.

    ``below`` is the folder inside the one that was dropped. With ``instead_of`` the file is the next version of that
    document, whatever its own name is, and the form's collection, folder and type count for nothing.
    """
    filename = file.name or ""
    try:
        with received_file(file) as received:
            upload = _upload(received, wanted, batch, below, instead_of)
            if instead_of is None and is_archive_name(received.filename):
                folder = _joined(wanted["folder"], below)
                taken = take_in_archive(principal=principal, upload=replace(upload, path=folder))
                return [_of_archive(filename, one) for one in taken.files] + _left_out(filename, taken.left_out)
            outcome = create_document(principal=principal, upload=upload)
    except HubError as error:
        return [_refused(filename, error)]
    return [_taken(filename, outcome)]


def _upload(
    received: ReceivedFile, wanted: dict[str, Any], batch: str, below: str, instead_of: Document | None
) -> Upload:
    place: dict[str, Any]
    if instead_of is None:
        folder = _joined(wanted["folder"], below)
        place = {
            "path": f"{folder}/{received.filename}" if folder else "",
            "collection": wanted["collection"],
            "document_type": wanted["document_type"],
        }
    else:
        place = {
            "path": instead_of.path,
            "collection": instead_of.collection.slug,
            "classification": Classification(instead_of.classification),
        }
    return Upload(
        file=received.path,
        filename=received.filename,
        sha256=received.sha256,
        size_bytes=received.size_bytes,
        guess_type=True,
        chunk_options=wanted["chunk_options"],
        replace=wanted["replace"] or instead_of is not None,
        batch=batch,
        **place,
        anonymise=wanted["anonymise"],
    )


def _refused(filename: str, error: HubError) -> FileOutcome:
    # A conflict is about the path: another folder, or replacing what is there, is chosen in the form.
    may_be_repeated = error.retryable or isinstance(error, Conflict)
    return FileOutcome(filename=filename, error=str(error), may_be_repeated=may_be_repeated)


def _taken(filename: str, outcome: UploadOutcome) -> FileOutcome:
    return FileOutcome(
        filename=filename,
        document=outcome.document,
        text=str(OUTCOMES[outcome.outcome]),
        same_content_as=outcome.same_content_as,
        type_before=outcome.type_before,
        replaced=replaced_in_words(outcome.anonymised),
    )


def _of_archive(filename: str, taken: TakenIn) -> FileOutcome:
    name = filename if taken.name == filename else f"{filename}: {taken.name}"
    if taken.outcome is not None:
        return _taken(name, taken.outcome)
    return _refused(name, cast(HubError, taken.error))


def _left_out(filename: str, number: int) -> list[FileOutcome]:
    """Say how many files of an archive were left out; nothing for none."""
    if not number:
        return []
    text = _("Files that the system or a program hides beside documents were left out: {count}.")
    return [FileOutcome(filename=filename, left_out=str(text).format(count=number))]


def _joined(folder: str, below: str) -> str:
    return "/".join(filter(None, (part.strip("/ ") for part in (folder, below))))
