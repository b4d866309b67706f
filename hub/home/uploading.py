"""Uploading: one request for each file, what became of it, and the batch that the files make together."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import is_fetched, principal_of
from hub.core.errors import InvalidInput
from hub.core.ids import new_id
from hub.home.pages import home_action, home_page, render_home
from hub.home.upload_form import FileOutcome, UploadForm, take_in
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.documents.archives import ARCHIVE_SUFFIXES
from knowledge.documents.batches import batch_counts, batch_documents, retry_batch, undo_batch
from knowledge.documents.documents import get_document
from knowledge.documents.editing import update_document
from knowledge.models import Collection, Document, DocumentStatus, DocumentType, TypeGuess
from knowledge.models.documents import IN_WORK
from knowledge.models.uploads import LONGEST_BATCH_NAME
from knowledge.parsers.detect import ACCEPTED_SUFFIXES
from knowledge.questions import find_open_question
from knowledge.types.anonymising import Anonymising

PER_PAGE = 100
MOST_POLLED = 100
MENDABLE = frozenset({DocumentStatus.FAILED, DocumentStatus.NEEDS_OCR})
COUNTED: dict[str, str | Promise] = {
    "in_work": gettext_lazy("under way"),
    "ready": gettext_lazy("ready"),
    "needs_ocr": gettext_lazy("needs OCR"),
    "failed": gettext_lazy("failed"),
    "retired": gettext_lazy("retired"),
}


def may_upload(principal: Principal) -> bool:
    """Whether there is a collection that the person may upload to. One query."""
    return Collection.objects.visible_to(principal, Scope.UPLOAD).exists()


def uploader(principal: Principal, *, batch: str = "", collection: str = "") -> dict[str, Any]:
    """What the part of a page needs that takes files: where they may go, what is sent at all, and their batch."""
    return {
        "form": UploadForm(initial={"collection": collection}, principal=principal),
        "batch": batch or new_id("bat"),
        "most_bytes": settings.CONFIG.hub_max_upload_bytes,
        "suffixes": sorted({*ACCEPTED_SUFFIXES, *ARCHIVE_SUFFIXES}),
    }


@home_page
def upload(request: HttpRequest) -> HttpResponseBase:
    """Show what takes files, and with ``batch`` what became of those of that batch; ``state`` narrows it down.

    ``question`` is the key of one that nothing answered: files go to the first collection that it was asked of.
    """
    principal = principal_of(request)
    batch = request.GET.get("batch", "")[:LONGEST_BATCH_NAME]
    context: dict[str, Any] = {"may_upload": may_upload(principal), "has_batch": bool(batch)}
    collection = request.GET.get("collection", "")
    if key := request.GET.get("question", ""):
        context["question"], curated = find_open_question(principal, key)
        collection = curated[0].slug
    if batch:
        context |= _batch_page(principal, batch, request.GET)
    if context["may_upload"]:
        context |= uploader(principal, batch=batch, collection=collection)
    return render_home(request, "home/upload.html", title=_("Upload documents"), **context)


def _batch_page(principal: Principal, batch: str, given: QueryDict) -> dict[str, Any]:
    documents = batch_documents(principal, batch)
    state = given.get("state", "")
    if state == "in_work":
        documents = documents.filter(latest_version__status__in=IN_WORK)
    elif state:
        documents = documents.filter(latest_version__status=state)
    page = paginate_keyset(
        documents,
        limit=PER_PAGE,
        cursor=given.get("cursor") or None,
        scope=cursor_scope("home-batch", batch=batch, state=state),
        order="id",
    )
    following = given.copy()
    following["cursor"] = page.next_cursor or ""
    return {
        **_counts(principal, batch),
        **_rows([FileOutcome(filename=one.path, document=one) for one in page.items]),
        "state": state,
        "next": f"?{following.urlencode()}" if page.next_cursor else "",
    }


def _counts(principal: Principal, batch: str) -> dict[str, Any]:
    counts = batch_counts(principal, batch)
    named = [(code, COUNTED[code], number) for code, number in counts.items() if number]
    return {"counts": named, "total": sum(counts.values()), "failed": counts["failed"], "batch": batch}


def _rows(outcomes: list[FileOutcome]) -> dict[str, Any]:
    """What rows of files show, with the types that a guess may be corrected to."""
    return {
        "rows": [_row(one) for one in outcomes],
        "document_types": list(DocumentType.objects.all()),
        "guess_made": TypeGuess.MADE,
    }


def _row(outcome: FileOutcome) -> dict[str, Any]:
    document = outcome.document
    version = document.latest_version if document else None
    return {
        "outcome": outcome,
        "document": document,
        "version": version,
        "in_work": version is not None and version.status in IN_WORK,
        "mendable": version is not None and version.status in MENDABLE,
    }


def _mending(document: Document) -> dict[str, Any]:
    """A mended file goes where its document is, and loses what its uploader asked to have replaced in the one before.

    What the collection's curators chose is replaced in every file.
    """
    version = document.latest_version
    asked = Anonymising.from_json(version.asked_anonymising if version else None)
    return {"folder": "", "replace": True, "chunk_options": None, "anonymise": asked}


@home_action
def receive(request: HttpRequest) -> HttpResponseBase:
    """Take in files, and show a script what became of its one; a browser without is led to the batch's page.

    ``mends`` names a document that the file is the next version of. What is refused is said, and nothing of it kept.
    """
    principal = principal_of(request)
    batch = request.POST.get("batch", "")[:LONGEST_BATCH_NAME] or new_id("bat")
    mends = request.POST.get("mends", "")
    mended = get_document(principal, mends) if mends else None
    form = UploadForm(request.POST, principal=principal)
    if mended is None and not form.is_valid():
        raise InvalidInput(" ".join(f"{one}" for errors in form.errors.values() for one in errors))
    files = request.FILES.getlist("files")
    if not files:
        raise InvalidInput(_("Choose at least one file."))
    wanted = form.wanted() if mended is None else _mending(mended)
    below = request.POST.get("below", "")
    outcomes = [
        outcome
        for one in files
        for outcome in take_in(principal, one, wanted, batch=batch, below=below, instead_of=mended)
    ]
    if is_fetched(request):
        refused = all(one.document is None for one in outcomes)
        shown = [_with_everything(principal, one) for one in outcomes]
        return render_home(
            request, "home/upload_rows.html", title="", status=422 if refused else 200, batch=batch, **_rows(shown)
        )
    for one in outcomes:
        if one.error:
            messages.error(request, f"{one.filename}: {one.error}")
        elif one.left_out:
            messages.info(request, f"{one.filename}: {one.left_out}")
    return _to_batch(batch) if any(one.document for one in outcomes) else HttpResponseRedirect(reverse("upload"))


def _with_everything(principal: Principal, outcome: FileOutcome) -> FileOutcome:
    """An outcome with its document as rows show it."""
    if outcome.document is None:
        return outcome
    document = get_document(principal, outcome.document.public_id)
    return FileOutcome(
        filename=outcome.filename,
        document=document,
        text=outcome.text,
        same_content_as=outcome.same_content_as,
        type_before=outcome.type_before,
        replaced=outcome.replaced,
    )


def _to_batch(batch: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('upload')}?{urlencode({'batch': batch})}")


@home_page
def rows(request: HttpRequest) -> HttpResponseBase:
    """Show the rows of the documents in ``of`` of a batch (at most 100) as they are now, and the batch's counts."""
    principal, batch = principal_of(request), request.GET.get("batch", "")[:LONGEST_BATCH_NAME]
    asked = request.GET.get("of", "").split(",")[:MOST_POLLED]
    found = batch_documents(principal, batch).filter(public_id__in=asked)
    shown = [FileOutcome(filename=one.path, document=one) for one in found]
    return render_home(
        request, "home/upload_rows.html", title=_("Upload documents"), **_counts(principal, batch), **_rows(shown)
    )


@home_action
def retry(request: HttpRequest) -> HttpResponseBase:
    """Work on what failed of a batch again."""
    batch = request.POST.get("batch", "")[:LONGEST_BATCH_NAME]
    done = retry_batch(principal_of(request), batch)
    messages.success(request, _("Started again: {count}.").format(count=len(done.done)))
    for _document_id, error in done.refused:
        messages.error(request, str(error))
    return _to_batch(batch)


@home_action
def undo(request: HttpRequest) -> HttpResponseBase:
    """Take a batch back."""
    batch = request.POST.get("batch", "")[:LONGEST_BATCH_NAME]
    done = undo_batch(principal_of(request), batch)
    text = _("Taken back: {deleted} deleted, {restored} as they were before.")
    messages.success(request, text.format(deleted=len(done.deleted), restored=len(done.restored)))
    for path, error in done.refused:
        messages.error(request, f"{path}: {error}")
    if done.left:
        messages.warning(request, _("{count} are left. Take the rest back, too.").format(count=done.left))
    return _to_batch(batch)


@home_action
def set_type(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Give a document the type that a person says, in place of the guess."""
    principal = principal_of(request)
    document_type = request.POST.get("document_type", "")[:40]
    document = update_document(principal=principal, document_id=public_id, document_type=document_type)
    kind = DocumentType.objects.get(pk=document.document_type_id)
    text = _("{title} is of the type {type} now. Reviews from now on judge it so; earlier ones stay as they are.")
    said = text.format(title=document.title, type=kind)
    if is_fetched(request):
        return HttpResponse(said, content_type="text/plain; charset=utf-8")
    messages.success(request, said)
    return HttpResponseRedirect(reverse("document", args=[public_id]))
