"""Instructions to a model in the file that a document was read from, where its text does not show them."""

from __future__ import annotations

import logging
import tempfile

from hub.core.errors import HubError
from knowledge.ingest.stages import parse_limits
from knowledge.models import DocumentVersion
from knowledge.parsers.concealed import may_conceal
from knowledge.parsers.errors import ParseError
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.storage import get_blob_store
from review.runs.concealed_texts import FIND_TASK, load_concealed
from review.types import Concealed

logger = logging.getLogger(__name__)

# What stands in the file and could not be read has a place of its own in the finding.
UNREAD = "unread"


def concealed_in(version: DocumentVersion, text: str) -> tuple[Concealed, ...]:
    """Find what speaks to a model in a version's original file and not in its text; each text once.

    The file is opened in a child process with the limits of parsing. One that can't be looked through gives one entry
    that says so.
    """
    try:
        with (
            get_blob_store().local_path(version.blob_id) as path,
            tempfile.NamedTemporaryFile("w", prefix="hub-text-", encoding="utf-8") as shown,
        ):
            if not may_conceal(path):
                return ()
            shown.write(text)
            shown.flush()
            return run_isolated(
                FIND_TASK,
                path,
                load_concealed,
                filename=version.filename,
                limits=parse_limits(),
                arguments={"text_path": shown.name},
            )
    except (ParseError, HostLost, HubError) as error:
        logger.warning("the original of version %s was not looked through: %s", version.pk, error)
        return (Concealed(how=UNREAD, place="", text=""),)
