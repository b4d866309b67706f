"""Taking an annotated copy that came back as the document's next version, and reviewing that."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal
from hub.core.errors import Conflict
from hub.core.temporary import temp_dir
from knowledge.documents.uploads import Upload, create_document, hash_file
from knowledge.originals import read_notes, remove_notes
from knowledge.types.anonymising import Anonymising
from review.models import Review
from review.report.annotated.references import REFERENCE, is_written_here, written_at
from review.runs.reviews import start_review


def take_next_version(principal: Principal, review: Review, content: bytes) -> Review:
    """Store a file as the next version of a review's document, and start a review of it by the same check list.

    The hub's notes are to be out of it: see `without_our_notes`. Needs the scopes of an upload and of a review, and to
    own or curate the document. Raises what these do; Conflict when a newer version than the reviewed one is there: it
    would be hidden by this one.
    """
    version = review.version
    if version is None or version.document.latest_version_id != version.pk:
        raise Conflict(_("The document has a newer version than the one that was reviewed."), code="newer_version")
    document = version.document
    with tempfile.NamedTemporaryFile(prefix="hub-next-", dir=temp_dir()) as file:
        file.write(content)
        file.flush()
        sha256, size_bytes = hash_file(Path(file.name))
        upload = Upload(
            file=Path(file.name),
            filename=version.filename,
            sha256=sha256,
            size_bytes=size_bytes,
            path=document.path,
            collection=document.collection.slug,
            classification=Classification(document.classification),
            replace=True,
            anonymise=Anonymising.from_json(version.asked_anonymising),
        )
        create_document(principal=principal, upload=upload)
    checklist = review.checklist_version.checklist.code
    return start_review(principal=principal, document_id=document.public_id, checklist=checklist)


def without_our_notes(principal: Principal, review: Review, content: bytes) -> bytes:
    """Take the hub's notes out of a copy that came back, since not all who may read the document may read the review.

    Others' notes stay. Children open the file: call it outside of transactions. Raises what reading a copy raises.
    """
    _format, notes = read_notes(principal, content)
    found = [line for note in notes for line in REFERENCE.finditer(note["text"])]
    ours = {
        line[0]
        for line in found
        if is_written_here(review.public_id, line["finding"], int(line["revision"]), line["sign"])
    }
    return remove_notes(principal, content, sorted(ours), written=written_at(review.finished_at)) if ours else content
