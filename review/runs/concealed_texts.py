"""What in an original file speaks to a model and is not in the document's text. Runs in a guarded child process."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from knowledge.parsers.archives import check_archive
from knowledge.parsers.concealed import LEAST_CHARACTERS, UnreadableOriginal, read_writings
from knowledge.parsers.errors import corrupted
from knowledge.parsers.limits import ParseLimits
from review.rules.prompt_injection import folded_text, reads_as_instruction
from review.types import Concealed

FIND_TASK = "review.runs.concealed_texts:find_task"
MOST_SHOWN = 200
MOST_FOUND = 50


def find_task(path: Path, *, limits: ParseLimits, folder: Path, filename: str, text_path: str) -> str:
    """The child's task: find it in the original at ``path``; the document's text is in the file ``text_path``."""
    with path.open("rb") as file:
        is_package = file.read(4) == b"PK\x03\x04"
    if is_package:
        check_archive(path, format_name="zip", limits=limits)
    try:
        found = find_concealed(path, folded_text(Path(text_path).read_text(encoding="utf-8")))
    except UnreadableOriginal as error:
        raise corrupted("file", str(error)) from error
    return json.dumps({"concealed": [dataclasses.asdict(one) for one in found]}, ensure_ascii=False)


def load_concealed(result: dict[str, Any], _folder: Path) -> tuple[Concealed, ...]:
    """Read what `find_task` wrote."""
    return concealed_from_json(result["concealed"])


def concealed_from_json(rows: Iterable[Mapping[str, Any]]) -> tuple[Concealed, ...]:
    """Read rows of how, place and text."""
    return tuple(Concealed(how=str(one["how"]), place=str(one["place"]), text=str(one["text"])) for one in rows)


def find_concealed(path: Path, shown: str) -> tuple[Concealed, ...]:
    """Find instructions in an original that ``shown``, the document's folded text, lacks; each text once.

    :raises UnreadableOriginal: the file can't be looked through.
    """
    found: dict[str, Concealed] = {}
    for writing in read_writings(path):
        if len(writing.text) < LEAST_CHARACTERS or not reads_as_instruction(writing.text):
            continue
        folded = folded_text(writing.text)
        # white and tiny text is in the document's text, too; all else is out of sight when it is not there
        if folded in found or (writing.how != "style" and folded in shown):
            continue
        found[folded] = Concealed(how=writing.how, place=writing.place, text=writing.text.strip()[:MOST_SHOWN])
        if len(found) == MOST_FOUND:
            break
    return tuple(found.values())
