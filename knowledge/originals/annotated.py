"""The service that makes a copy of an original with notes on words of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.turns import Turns
from hub.core.errors import Conflict, InvalidInput, Unavailable
from hub.core.languages import shown as in_reader_language
from hub.core.processes import PerProcess
from knowledge.ingest.page_readings import readings_by_page
from knowledge.ingest.stages import parse_limits
from knowledge.models import DocumentVersion
from knowledge.originals.places import page_part
from knowledge.originals.read_pages import mark_reading
from knowledge.parsers.annotated.notes import Markup, Placed
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.made_files import read_made_file
from knowledge.parsers.process.isolation import HostLost, run_isolated, run_on_bytes
from knowledge.storage import get_blob_store
from knowledge.types.documents import Block
from knowledge.types.ocr import PageReading

TASKS = {
    "docx": "knowledge.parsers.annotated.docx:annotate",
    "xlsx": "knowledge.parsers.annotated.xlsx:annotate",
    "pdf": "knowledge.parsers.annotated.pdf:annotate",
}
"""The tasks that write copies, by the format of a version."""
READ_TASK = "knowledge.parsers.annotated.returned:read_notes"
REMOVE_TASK = "knowledge.parsers.annotated.removing:remove_notes"
BUSY = _("The copy can't be made or read now. Try again in a moment.")
AT_ONCE, MOST_WAIT_S, MOST_CPU_S, MOST_WALL_S = 2, 30.0, 60.0, 90.0
MOST_NOTES_BYTES = 16 * 1024 * 1024
"""What is read of the notes of a copy that came back, as JSON: they are gone through in the process that asked."""
_GROWTH = 4
# Of each person one at a time, and one more that waits: who reads a copy back makes a new one meanwhile.
_turns = PerProcess(lambda: Turns(most=AT_ONCE, most_waiting=1, wait_s=MOST_WAIT_S))
Loaded = TypeVar("Loaded")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedCopy:
    """A copy of an original, and where each note came to stand, in the order of the notes."""

    content: bytes
    placed: tuple[Placed, ...]


def can_annotate(version: DocumentVersion) -> bool:
    """Whether the original itself can have notes on its words."""
    return version.format in TASKS


def annotate_original(
    principal: Principal, version: DocumentVersion, markup: Markup, blocks: Sequence[Block]
) -> AnnotatedCopy:
    """Copy a version's original with notes, in a turn of the caller's. No permissions are applied.

    The file is opened in a parser child only. Raises as `turn`, and Conflict: it can't be opened, or takes too long.
    """

    def load(result: dict[str, Any], folder: Path) -> AnnotatedCopy:
        content = read_made_file(folder / Path(result["file"]).name)
        return AnnotatedCopy(content=content, placed=tuple(map(Placed, result["placed"])))

    try:
        with turn(principal), get_blob_store().local_path(version.blob_id) as path:
            return run_isolated(
                TASKS[version.format],
                path,
                load,
                filename=version.filename,
                limits=copy_limits(path.stat().st_size),
                arguments=_arguments(markup) | _words(version, markup, blocks),
            )
    except ParseError as error:
        reason = in_reader_language(error.text)
        raise Conflict(
            _("The original can't be annotated: {reason}"), code="original_not_annotated", reason=reason
        ) from error
    except HostLost as error:
        raise Unavailable(BUSY) from error


def read_notes(principal: Principal, content: bytes) -> tuple[str, list[dict[str, Any]]]:
    """Read the format and the notes of a copy that came back, as ``knowledge.parsers.annotated.returned`` gives them.

    :raises InvalidInput: no docx, xlsx or PDF, one that can't be read, or one with over MOST_NOTES_BYTES of notes and
        words that they are on.
    """

    def load(result: dict[str, Any], _folder: Path) -> tuple[str, list[dict[str, Any]]]:
        return str(result["format"]), list(result["notes"])

    limits = dataclasses.replace(copy_limits(len(content)), max_output_bytes=MOST_NOTES_BYTES)
    return _of_copy(principal, READ_TASK, content, load, limits=limits)


def _of_copy(
    principal: Principal,
    task: str,
    content: bytes,
    load: Callable[[dict[str, Any], Path], Loaded],
    *,
    limits: ParseLimits,
    arguments: Mapping[str, Any] | None = None,
) -> Loaded:
    try:
        with turn(principal):
            return run_on_bytes(task, content, load, filename="", limits=limits, arguments=arguments)
    except ParseError as error:
        reason = in_reader_language(error.text)
        raise InvalidInput(_("The file can't be read: {reason}"), code="file_not_read", reason=reason) from error
    except HostLost as error:
        raise Unavailable(BUSY) from error


def remove_notes(principal: Principal, content: bytes, references: Sequence[str], *, written: datetime) -> bytes:
    """Give a copy that came back without the hub's notes, which are known by their lines of reference.

    What the hub proposed is known by its author and ``written``, the moment of its `Markup`.

    :raises InvalidInput: no docx, xlsx or PDF, or one that can't be read.
    """

    def load(result: dict[str, Any], folder: Path) -> bytes:
        return read_made_file(folder / Path(result["file"]).name)

    return _of_copy(
        principal,
        REMOVE_TASK,
        content,
        load,
        limits=copy_limits(len(content)),
        arguments={"references": list(references), "written": written.isoformat()},
    )


def turn(principal: Principal) -> AbstractContextManager[None]:
    """Have one of `AT_ONCE` turns inside the block, each of another person. Raises as `Turns.taken_by`."""
    return _turns.get().taken_by(principal)


def _arguments(markup: Markup) -> dict[str, object]:
    return {
        "markdown": markup.markdown,
        "notes": [dataclasses.asdict(note) for note in markup.notes],
        "written": markup.written.isoformat(),
        "list_title": markup.list_title,
    }


def _words(version: DocumentVersion, markup: Markup, blocks: Sequence[Block]) -> dict[str, object]:
    """Return what a PDF's words are found by: of each note, its pieces on every page that it is on."""
    if version.format != "pdf":
        return {}
    read = readings_by_page(version)
    parts = ((markup.markdown, blocks, note.start, note.end) for note in markup.notes)
    return {"words": [list(page_parts(*of_note, read)) for of_note in parts]}


def page_parts(
    markdown: str,
    blocks: Sequence[Block],
    start: int,
    end: int,
    readings: Mapping[int, PageReading] = MappingProxyType({}),
) -> Iterator[dict[str, object]]:
    """Yield of each page what is cited there; of one that OCR read, also where that stands on it."""
    inside = (block.page for block in blocks if block.start < end and start < block.end and block.page is not None)
    for page in dict.fromkeys(inside):
        part = page_part(markdown, [block for block in blocks if block.page == page], start, end)
        if part is not None:
            marked = mark_reading(part, readings[part.page]) if part.page in readings else []
            read = [{"size": [one.width, one.height], "boxes": list(one.boxes)} for one in marked]
            yield {"page": part.page, "pieces": list(part.pieces), "at": part.at, "read": read}


def copy_limits(size_bytes: int) -> ParseLimits:
    """Return the limits of a child while somebody waits; the copy may be somewhat larger than the original."""
    limits = parse_limits()
    return dataclasses.replace(
        limits,
        cpu_s=min(limits.cpu_s, MOST_CPU_S),
        wall_s=min(limits.wall_s, MOST_WALL_S),
        max_output_bytes=max(limits.max_output_bytes, _GROWTH * size_bytes),
    )
