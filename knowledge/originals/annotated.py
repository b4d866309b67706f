"""The service that makes a copy of an original with notes on words of it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.core.errors import Conflict, Unavailable
from hub.core.languages import shown as in_reader_language
from knowledge.ingest.stages import parse_limits
from knowledge.models import DocumentVersion
from knowledge.parsers.annotated.notes import Markup, Placed
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.storage import get_blob_store

TASKS = {
    "docx": "knowledge.parsers.annotated.docx:annotate",
    "xlsx": "knowledge.parsers.annotated.xlsx:annotate",
}
"""The tasks that write copies, by the format of a version."""
AT_ONCE, MOST_WAIT_S, MOST_CPU_S, MOST_WALL_S = 2, 30.0, 60.0, 90.0
_GROWTH = 4
_places = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedCopy:
    """A copy of an original, and where each note came to stand, in the order of the notes."""

    content: bytes
    placed: tuple[Placed, ...]


def can_annotate(version: DocumentVersion) -> bool:
    """Whether the original itself can have notes on its words."""
    return version.format in TASKS


def annotate_original(version: DocumentVersion, markup: Markup, **more: object) -> AnnotatedCopy:
    """Copy a version's original with notes; no permissions are applied. The file is opened in a parser child only.

    :raises Conflict: it can't be opened, or takes too long. :raises Unavailable: too many are being made now.
    """

    def load(result: dict[str, Any], folder: Path) -> AnnotatedCopy:
        content = (folder / Path(result["file"]).name).read_bytes()
        return AnnotatedCopy(content=content, placed=tuple(map(Placed, result["placed"])))

    if not _places.acquire(timeout=MOST_WAIT_S):
        raise Unavailable(_("The annotated copy can't be made now. Try again in a moment."))
    try:
        with get_blob_store().local_path(version.blob_id) as path:
            return run_isolated(
                TASKS[version.format],
                path,
                load,
                filename=version.filename,
                limits=_limits(path.stat().st_size),
                arguments={**_arguments(markup.markdown, markup.notes), **_head(markup), **more},
            )
    except ParseError as error:
        reason = in_reader_language(error.text)
        raise Conflict(
            _("The original can't be annotated: {reason}"), code="original_not_annotated", reason=reason
        ) from error
    except HostLost as error:
        raise Unavailable(_("The annotated copy can't be made now. Try again in a moment.")) from error
    finally:
        _places.release()


def _arguments(markdown: str, notes: Sequence[Any]) -> dict[str, object]:
    return {"markdown": markdown, "notes": [dataclasses.asdict(note) for note in notes]}


def _head(markup: Markup) -> dict[str, object]:
    return {"written": markup.written.isoformat(), "list_title": markup.list_title}


def _limits(size_bytes: int) -> ParseLimits:
    """Return the limits of a child while somebody waits; the copy may be somewhat larger than the original."""
    limits = parse_limits()
    return dataclasses.replace(
        limits,
        cpu_s=min(limits.cpu_s, MOST_CPU_S),
        wall_s=min(limits.wall_s, MOST_WALL_S),
        max_output_bytes=max(limits.max_output_bytes, _GROWTH * size_bytes),
    )
