"""Taking the hub's notes out of a copy that people have written into, as it becomes a version. Run in parser children.

A note is known by its line of reference, which only the hub can write; the caller has checked it. What others wrote
stays, but for replies to the hub's notes in a PDF, which lead to these. What the hub proposed as tracked changes, and
nobody accepted, is taken back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from knowledge.parsers.annotated.docx_comments import PARAGRAPH_ID, date_of
from knowledge.parsers.annotated.notes import is_of_hub
from knowledge.parsers.annotated.package import PackageEditor
from knowledge.parsers.annotated.returned import LONGEST_CHAIN, annotation_value, comment_text, copy_format
from knowledge.parsers.annotated.xlsx_notes import sheet_parts
from knowledge.parsers.docx.text import qn
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.pdf.picture import open_pdf
from knowledge.parsers.xlsx.reader import split_reference

_STORIES = ("", "footnotes", "endnotes")
_MARKS = tuple(qn(f"w:{name}") for name in ("commentRangeStart", "commentRangeEnd", "commentReference"))
_W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"
_HEAD = re.compile(r"^【[^】\n]{1,60}】", re.MULTILINE)
_SHAPE, _SHAPE_END = re.compile(rb"<v:shape\b"), b"</v:shape>"
_RESULT = "without_notes"
_TO_THE_MINUTE = 16  # of a date: how the rest is written is up to the program that saved the file


def remove_notes(
    path: Path, *, limits: ParseLimits, folder: Path, filename: str, references: Sequence[str], written: str
) -> str:
    """Write a docx, xlsx or PDF without the notes that have one of the lines; gives the name of the file as JSON.

    ``written`` is the moment (ISO 8601) that the hub's proposals carry: a person may be called as the hub is.

    :raises ParseError: as reading the notes.
    """
    known = frozenset(references)
    removers = {
        "docx": lambda: _word(path, known, datetime.fromisoformat(written)),
        "xlsx": lambda: _workbook(path, known),
        "pdf": lambda: _pdf(path, known),
    }
    data = removers[copy_format(path, filename, limits)]()
    (folder / _RESULT).write_bytes(data)
    return json.dumps({"file": _RESULT})


def _is_ours(text: str, references: frozenset[str]) -> bool:
    return any(line in text for line in references)


def _word(path: Path, references: frozenset[str], written: datetime) -> bytes:
    editor = PackageEditor(path)
    document = editor.related("", "officeDocument") or "word/document.xml"
    numbers, paragraphs = _remove_comments(editor, document, references)
    for kind in _STORIES:
        story = editor.related(document, kind) if kind else document
        if story and editor.has(story):
            root = editor.change(story)
            _remove_marks(root, numbers)
            _take_proposals_back(root, date_of(written))
    for kind in ("commentsExtended", "commentsIds"):
        part = editor.related(document, kind)
        for one in list(editor.change(part)) if part else ():
            known = {name.rpartition("}")[2]: value for name, value in one.attrib.items()}
            if known.get("paraId") in paragraphs:
                one.getparent().remove(one)
            elif known.get("paraIdParent") in paragraphs:
                del one.attrib[f"{_W15}paraIdParent"]  # a reply is then a comment of its own
    return editor.packed()


def _remove_comments(editor: PackageEditor, document: str, references: frozenset[str]) -> tuple[set[str], set[str]]:
    """Remove the comments; gives their ids, and the ids of their paragraphs."""
    numbers: set[str] = set()
    paragraphs: set[str] = set()
    part = editor.related(document, "comments")
    for comment in list(editor.change(part).iterchildren(qn("w:comment"))) if part else ():
        if _is_ours(comment_text(comment), references):
            numbers.add(comment.get(qn("w:id"), ""))
            paragraphs |= {one.get(PARAGRAPH_ID) or "" for one in comment.iter(qn("w:p"))} - {""}
            comment.getparent().remove(comment)
    return numbers, paragraphs


def _remove_marks(root: Element, numbers: set[str]) -> None:
    for mark in list(root.iter(*_MARKS)):
        if mark.get(qn("w:id"), "") not in numbers:
            continue
        run = mark.getparent()
        run.remove(mark)
        if run.tag == qn("w:r") and all(one.tag == qn("w:rPr") for one in run):
            run.getparent().remove(run)


def _take_proposals_back(root: Element, date: str) -> None:
    for change in list(root.iter(qn("w:ins"), qn("w:del"))):
        is_then = change.get(qn("w:date"), "")[:_TO_THE_MINUTE] == date[:_TO_THE_MINUTE]
        if not is_then or not is_of_hub(change.get(qn("w:author"), "")):
            continue
        if change.tag == qn("w:del"):
            for text in change.iter(qn("w:delText")):
                text.tag = qn("w:t")
            for run in list(change):
                change.addprevious(run)
        change.getparent().remove(change)


def _workbook(path: Path, references: frozenset[str]) -> bytes:
    editor = PackageEditor(path)
    for sheet in sheet_parts(editor).values():
        part = editor.related(sheet, "comments")
        if part is None:
            continue
        root = editor.change(part)
        authors = [one.text or "" for one in root.iter("{*}author")]
        cells = {cell for one in list(root.iter("{*}comment")) if (cell := _shorten(one, authors, references))}
        drawing = editor.related(sheet, "vmlDrawing")
        if cells and drawing:
            editor.replace(drawing, _without_boxes(editor.data(drawing), {_place(cell) for cell in cells}))
    return editor.packed()


def _without_boxes(drawing: bytes, cells: Set[tuple[int, int]]) -> bytes:
    kept, done = [], 0
    while (start := _SHAPE.search(drawing, done)) and (end := drawing.find(_SHAPE_END, start.end())) >= 0:
        end += len(_SHAPE_END)
        shape = drawing[start.start() : end]
        kept += [drawing[done : start.start()], b"" if _cell(shape) in cells else shape]
        done = end
    return b"".join([*kept, drawing[done:]])


def _shorten(comment: Element, authors: Sequence[str], references: frozenset[str]) -> str:
    """Take the hub's words out of a note; gives its cell when nothing is left and the note is removed, else ""."""
    text = "".join(one.text or "" for one in comment.iter("{*}t"))
    if not _is_ours(text, references):
        return ""
    number = comment.get("authorId", "0")
    author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
    left = "" if is_of_hub(author) else _without_ours(text, references).strip()
    if not left:
        comment.getparent().remove(comment)
        return str(comment.get("ref", "A1"))
    texts = list(comment.iter("{*}t"))
    for one in texts:
        one.text = ""
    texts[0].text = left
    return ""


def _without_ours(text: str, references: frozenset[str]) -> str:
    """What is left of a note when each part of the hub, from its head to its line of reference, is taken out."""
    left, done = [], 0
    ends = sorted((at.start(), at.end()) for line in references for at in re.finditer(re.escape(line), text))
    for start, end in ends:
        head = _HEAD.search(text, done, start)
        left.append(text[done : head.start() if head else start])
        done = end
    return "".join([*left, text[done:]])


def _place(reference: str) -> tuple[int, int]:
    """The row and column of a cell as a drawing counts them, from 0."""
    row, column = split_reference(reference.partition(":")[0])
    return row - 1, column - 1


def _cell(shape: bytes) -> tuple[int, int] | None:
    row, column = re.search(rb"<x:Row>(\d+)</x:Row>", shape), re.search(rb"<x:Column>(\d+)</x:Column>", shape)
    return (int(row[1]), int(column[1])) if row and column else None


def _pdf(path: Path, references: frozenset[str]) -> bytes:
    document = open_pdf(path, 1)
    for page in document:
        for index in reversed(range(pdfium_c.FPDFPage_GetAnnotCount(page))):
            if _leads_to_ours(page, index, references):
                pdfium_c.FPDFPage_RemoveAnnot(page, index)
    target = BytesIO()
    document.save(target)
    document.close()
    return target.getvalue()


def _leads_to_ours(page: pypdfium2.PdfPage, index: int, references: frozenset[str]) -> bool:
    """Whether an annotation is the hub's, answers one of it, by way of other answers, too, or is the window of such."""
    annotation: Any = pdfium_c.FPDFPage_GetAnnot(page, index)
    found = False
    for _step in range(LONGEST_CHAIN):
        found = _is_ours(annotation_value(annotation, b"Contents"), references)
        linked = None if found else _linked(annotation)
        pdfium_c.FPDFPage_CloseAnnot(annotation)
        if not linked:
            break
        annotation = linked
    return found


def _linked(annotation: Any) -> Any:  # noqa: ANN401 (C handles)
    """What an annotation answers, or is the window of; nothing for another."""
    return pdfium_c.FPDFAnnot_GetLinkedAnnot(annotation, b"IRT") or pdfium_c.FPDFAnnot_GetLinkedAnnot(
        annotation, b"Parent"
    )
