"""Instructions to a model in the file that a document was read from, where its text does not show them."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from django.db import IntegrityError

from hub.core.errors import HubError
from hub.core.temporary import temp_dir
from knowledge.ingest.stages import parse_limits
from knowledge.models import DocumentVersion
from knowledge.parsers import concealed as readers
from knowledge.parsers.concealed import may_conceal
from knowledge.parsers.errors import ParseError
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.storage import get_blob_store
from review.models import ConcealedTexts
from review.rules import prompt_injection
from review.rules.base import DATA
from review.runs import concealed_texts
from review.runs.concealed_texts import FIND_TASK, concealed_from_json, load_concealed
from review.types import Concealed

logger = logging.getLogger(__name__)

# What stands in the file and could not be read has a place of its own in the finding.
UNREAD = "unread"


def concealed_in(version: DocumentVersion, text: str) -> tuple[Concealed, ...]:
    """Find what speaks to a model in a version's original file and not in its text; each text once.

    The file is opened once for a text, in a child process with the limits of parsing: what was found is kept. One that
    can't be looked through gives one entry that says so, and is opened again the next time.
    """
    made_with = {
        "text_sha256": hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(),
        "readers_sha256": _readers_sha256(),
    }
    kept = ConcealedTexts.objects.filter(version=version, **made_with).first()
    if kept is not None:
        return concealed_from_json(kept.found)
    try:
        found = _look_through(version, text)
    except (ParseError, HostLost, HubError) as error:
        logger.warning("the original of version %s was not looked through: %s", version.pk, error)
        return (Concealed(how=UNREAD, place="", text=""),)
    row = ConcealedTexts(version=version, found=[dataclasses.asdict(one) for one in found], **made_with)
    with suppress(IntegrityError):  # the document was deleted meanwhile: its review ends by itself
        ConcealedTexts.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["version"], update_fields=["found", *made_with]
        )
    return found


def _look_through(version: DocumentVersion, text: str) -> tuple[Concealed, ...]:
    with (
        get_blob_store().local_path(version.blob_id) as path,
        tempfile.NamedTemporaryFile("w", prefix="hub-text-", encoding="utf-8", dir=temp_dir()) as shown,
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
            more_files=[Path(shown.name)],
        )


@cache
def _readers_sha256() -> str:
    """Names what decides the answer, so that another release of the hub looks again: its code and its word list."""
    files = [Path(str(module.__file__)) for module in (readers, prompt_injection, concealed_texts)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in [*files, DATA / "injection.json"])).hexdigest()
