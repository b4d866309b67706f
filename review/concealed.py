"""Instructions to a model in the file that a document was read from, where its text does not show them."""

from __future__ import annotations

import logging
from pathlib import Path

from hub.core.errors import HubError
from knowledge.backends.concealed import LEAST_CHARACTERS, UnreadableOriginal, Writing, read_writings
from knowledge.backends.storage.registry import get_blob_store
from knowledge.models import DocumentVersion
from review.rules.prompt_injection import folded_text, reads_as_instruction
from review.types import Concealed

logger = logging.getLogger(__name__)

MOST_SHOWN = 200
MOST_FOUND = 50
# What stands in the file and could not be read has a place of its own in the finding.
UNREAD = "unread"


def concealed_in(version: DocumentVersion, text: str) -> tuple[Concealed, ...]:
    """Find what speaks to a model in a version's original file and not in its text; each text once.

    A file that can't be looked through gives one entry that says so.
    """
    try:
        with get_blob_store().local_path(version.blob_id) as path:
            return _found(path, folded_text(text))
    except (UnreadableOriginal, HubError) as error:
        logger.warning("the original of version %s was not looked through: %s", version.pk, error)
        return (Concealed(how=UNREAD, place="", text=""),)


def _found(path: Path, shown: str) -> tuple[Concealed, ...]:
    found: dict[str, Concealed] = {}
    for writing in read_writings(path):
        if len(writing.text) < LEAST_CHARACTERS or not reads_as_instruction(writing.text):
            continue
        folded = folded_text(writing.text)
        if folded in found or not _is_out_of_sight(writing, folded, shown):
            continue
        found[folded] = Concealed(how=writing.how, place=writing.place, text=writing.text.strip()[:MOST_SHOWN])
        if len(found) == MOST_FOUND:
            break
    return tuple(found.values())


def _is_out_of_sight(writing: Writing, folded: str, shown: str) -> bool:
    """White and tiny text is in the document's text, too; all else is out of sight when it is not there."""
    return writing.how == "style" or folded not in shown
