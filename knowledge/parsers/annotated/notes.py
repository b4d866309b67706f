"""Notes on a document: what they say, and of which part of its text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

AUTHOR = "Hub"
"""What the names of those begin with who write notes for the hub."""
_AUTHORS = re.compile(rf"{AUTHOR}(?:\s*[(（].*)?", re.DOTALL)


def is_of_hub(author: str) -> bool:
    """Whether a name is one that the hub writes notes under: its own, or that with a language model behind."""
    return _AUTHORS.fullmatch(author) is not None


class Placed(StrEnum):
    """Where a note came to stand: on the words, at the paragraph, cell or page they are in, or in the list at the end.

    ``NEAR`` is also what a note on a place, not on words, gets at best.
    """

    EXACT = "exact"
    NEAR = "near"
    LISTED = "listed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note on ``[start, end)`` of the stored Markdown. ``is_quote``: on these words; else on the place they are at.

    ``replacement`` is what the words shall become, for formats that have tracked changes; None without.
    """

    text: str
    author: str
    start: int
    end: int
    is_quote: bool
    is_done: bool = False
    replacement: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """All that a copy is to have. ``written`` is when the notes were made, ``list_title`` the head of those listed."""

    notes: tuple[Note, ...]
    markdown: str
    written: datetime
    list_title: str

    def listed(self, notes: Sequence[Note]) -> Note:
        """Make one note of several, one at least, that have no place of their own."""
        text = "\n\n".join([self.list_title, *(note.text for note in notes)])
        return Note(text=text, author=notes[0].author, start=0, end=0, is_quote=False)


def load_markup(markdown: str, notes: Sequence[Mapping[str, Any]], written: str, list_title: str) -> Markup:
    """Make what a child was given of JSON."""
    return Markup(
        notes=tuple(Note(**note) for note in notes),
        markdown=markdown,
        written=datetime.fromisoformat(written),
        list_title=list_title,
    )


def outcome(name: str, placed: Sequence[Placed], data: bytes, folder: Path) -> str:
    """Write the copy into a child's folder, and return what the child answers: the file, and where each note stands."""
    (folder / name).write_bytes(data)
    return json.dumps({"file": name, "placed": [each.value for each in placed]})
