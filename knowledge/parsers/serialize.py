"""Carry a parsed document, or the reason why there is none, from the child process to its parent.

The document travels as JSON; the bytes of its pictures as files beside it, named by number. The parent trusts
neither: it makes the names itself and reads plain files of limited size only.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.made_files import read_made_file
from knowledge.types.documents import Block, BlockKind, PageQuality, ParsedDocument, ParsedFigure
from knowledge.types.notices import Notice


def dump_document(document: ParsedDocument, folder: Path) -> str:
    """Write a parsed document as JSON, and each different picture as a file in ``folder``."""
    fields = dataclasses.asdict(dataclasses.replace(document, figures=()))
    numbers: dict[bytes, int] = {}
    for figure in document.figures:
        if figure.data not in numbers:
            numbers[figure.data] = len(numbers)
            _picture_path(folder, numbers[figure.data]).write_bytes(figure.data)
    names = [field.name for field in dataclasses.fields(ParsedFigure) if field.name != "data"]
    fields["figures"] = [
        {"picture": numbers[figure.data], **{name: getattr(figure, name) for name in names}}
        for figure in document.figures
    ]
    return json.dumps({"document": fields}, ensure_ascii=False)


def _picture_path(folder: Path, number: int) -> Path:
    return folder / f"picture-{number}.bin"


def dump_error(error: ParseError) -> str:
    return json.dumps({"error": {"code": error.code, "ja": error.text.ja, "en": error.text.en}}, ensure_ascii=False)


def load_result(text: str) -> dict[str, Any]:
    """Read the JSON object that a child wrote.

    :raises ParseError: the one that the child met.
    :raises ValueError: when the text is no JSON object.
    """
    outcome = json.loads(text)
    if not isinstance(outcome, dict):
        raise ValueError("no object")
    if "error" in outcome:
        error = outcome["error"]
        raise ParseError(error["code"], ja=error["ja"], en=error["en"])
    return outcome


def load_document(outcome: dict[str, Any], folder: Path, limits: ParseLimits) -> ParsedDocument:
    """Make the document of a child's result; its pictures are read from ``folder``.

    :raises ValueError: it is no document, or its pictures pass the limits.
    """
    fields: dict[str, Any] = outcome["document"]
    known = {
        "blocks": tuple(Block(**{**block, "kind": BlockKind(block["kind"])}) for block in fields["blocks"]),
        "figures": _figures(fields["figures"], folder, limits),
        "pages": tuple(PageQuality(**page) for page in fields["pages"]),
        "notices": tuple(Notice(**notice) for notice in fields["notices"]),
    }
    return ParsedDocument(**fields | known)


def _figures(rows: list[dict[str, Any]], folder: Path, limits: ParseLimits) -> tuple[ParsedFigure, ...]:
    if len(rows) > limits.max_figures:
        raise ValueError("too many pictures")
    pictures: dict[int, bytes] = {}
    room = limits.max_figures_bytes
    for number in sorted({int(row["picture"]) for row in rows}):
        pictures[number] = read_made_file(_picture_path(folder, number), max_bytes=min(limits.max_figure_bytes, room))
        room -= len(pictures[number])
    return tuple(
        ParsedFigure(data=pictures[row["picture"]], **{name: value for name, value in row.items() if name != "picture"})
        for row in rows
    )
