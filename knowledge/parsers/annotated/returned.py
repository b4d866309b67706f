"""Reading the notes of a copy that people have written into: what they replied, and the words that are there now.

Run in parser children. Gives a JSON object: ``format``, and ``notes``, each with ``text``, ``replies`` as [author, day
or "", text], ``is_done``, ``words`` that it is on (null where the format does not say), and ``is_cut``, whether more
words than these follow.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c
from lxml import etree

from knowledge.parsers.annotated.docx_comments import PARAGRAPH_ID
from knowledge.parsers.annotated.notes import is_of_hub
from knowledge.parsers.annotated.package import PackageEditor
from knowledge.parsers.annotated.xlsx_notes import sheet_parts
from knowledge.parsers.archives import check_archive
from knowledge.parsers.detect import detect_format
from knowledge.parsers.docx.text import qn
from knowledge.parsers.errors import parse_error, readable_size
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.pdf.picture import open_pdf
from knowledge.parsers.xlsx.parser import read_workbook
from knowledge.parsers.xlsx.reader import split_reference

_W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"
_GONE = frozenset({qn("w:del"), qn("w:moveFrom")})
_ADDED = frozenset({qn("w:ins"), qn("w:moveTo")})
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HIDING = (*_GONE, *_ADDED, _FALLBACK)
LONGEST_CHAIN = 100
LONGEST_WORDS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marked:
    """What a comment is on: its words, None for a mere place, and between which texts of its story they stand.

    ``is_cut``: there are more words than were kept.
    """

    story: str
    start: int
    end: int
    words: str | None
    is_cut: bool = False


def read_notes(path: Path, *, limits: ParseLimits, folder: Path, filename: str) -> str:
    """Read the notes of a docx, xlsx or PDF.

    :raises ParseError: ``unsupported_format``, as reading the file, or ``notes_too_large``: all notes and the words
        that they are on have over ``max_output_bytes``. Nothing is cut: a note without its end would pass for another.
    """
    readers = {"docx": _word, "xlsx": _workbook, "pdf": _pdf}
    found = copy_format(path, filename, limits)
    answer = json.dumps({"format": found, "notes": readers[found](path, limits)}, ensure_ascii=False)
    if len(answer.encode("utf-8", "replace")) > limits.max_output_bytes:
        raise parse_error("notes_too_large", limit=readable_size(limits.max_output_bytes))
    return answer


def copy_format(path: Path, filename: str, limits: ParseLimits) -> str:
    """Say what a copy is: docx, xlsx or pdf.

    :raises ParseError: ``unsupported_format``, or what a package is refused for before it is opened.
    """
    found = detect_format(path, filename=filename)
    if found not in ("docx", "xlsx", "pdf"):
        raise parse_error("unsupported_format", extension=found)
    if found != "pdf":
        check_archive(path, format_name=found, limits=limits)
    return found


def _note(
    text: str, replies: list[list[str]], *, is_done: bool, words: str | None, is_cut: bool = False
) -> dict[str, Any]:
    return {"text": text, "replies": replies, "is_done": is_done, "words": words, "is_cut": is_cut}


def _word(path: Path, _limits: ParseLimits) -> list[dict[str, Any]]:
    editor = PackageEditor(path)
    document = editor.related("", "officeDocument") or "word/document.xml"
    part = editor.related(document, "comments")
    if part is None:
        return []
    comments = list(editor.root(part).iterchildren(qn("w:comment")))
    marked: dict[str, _Marked] = {}
    for kind in ("", "footnotes", "endnotes"):
        story = editor.related(document, kind) if kind else document
        if story and editor.has(story):
            marked |= _marked_in(editor.root(story), story)
    threads = _threads(editor, document)
    threads |= _answers_beside(comments, threads, marked)
    by_id = {_paragraph_id(one): one for one in comments}
    replies: dict[str, list[list[str]]] = defaultdict(list)
    for one in comments:
        own = _paragraph_id(one)
        first = _first_of_thread(own, threads)
        if first != own and first in by_id:
            replies[first].append([one.get(qn("w:author"), ""), one.get(qn("w:date"), "")[:10], comment_text(one)])
    return [
        _note(
            comment_text(one),
            replies[own],
            is_done=threads.get(own, ("", False))[1],
            words=place.words if (place := marked.get(one.get(qn("w:id"), ""))) else None,
            is_cut=place is not None and place.is_cut,
        )
        for one in comments
        if _first_of_thread(own := _paragraph_id(one), threads) == own
    ]


def _answers_beside(
    comments: Sequence[Element], threads: Mapping[str, tuple[str, bool]], marked: Mapping[str, _Marked]
) -> dict[str, tuple[str, bool]]:
    """Map people's comments that no thread names to the hub's comment that they follow, on its words or right behind.

    LibreOffice writes replies so; Word, which writes threads, names each comment in them.
    """
    by_number = {one.get(qn("w:id"), ""): one for one in comments}
    found: dict[str, tuple[str, bool]] = {}
    hubs: tuple[_Marked, str] | None = None
    for number, place in marked.items():
        comment = by_number.get(number)
        if comment is None:
            continue
        own = _paragraph_id(comment)
        if is_of_hub(comment.get(qn("w:author"), "")):
            hubs = place, own
        elif hubs is not None and own not in threads and _is_beside(place, hubs[0]):
            found[own] = hubs[1], False
    return found


def _is_beside(place: _Marked, other: _Marked) -> bool:
    return (place.story, place.end) == (other.story, other.end) and place.start in (other.start, other.end)


def _threads(editor: PackageEditor, document: str) -> dict[str, tuple[str, bool]]:
    """Map the paragraph that a comment is known by to that of the comment it replies to, and whether it is done."""
    part = editor.related(document, "commentsExtended")
    if part is None:
        return {}
    return {
        one.get(f"{_W15}paraId", ""): (one.get(f"{_W15}paraIdParent", ""), one.get(f"{_W15}done") in ("1", "true"))
        for one in editor.root(part)
    }


def _first_of_thread(own: str, threads: dict[str, tuple[str, bool]]) -> str:
    for _step in range(LONGEST_CHAIN):
        parent = threads.get(own, ("", False))[0]
        if not parent:
            break
        own = parent
    return own


def _paragraph_id(comment: Element) -> str:
    """Return the id of a comment's last paragraph, by which threads know it; one of its own where it has none."""
    last = comment.find(f"{qn('w:p')}[last()]")
    return (last.get(PARAGRAPH_ID) if last is not None else None) or f"id {comment.get(qn('w:id'))}"


def comment_text(comment: Element) -> str:
    """What a comment of a Word document says, a line for each paragraph; a text that is in several is said once."""
    signs = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:noBreakHyphen"): "-"}
    lines: list[list[str]] = []
    for one in comment.iter(qn("w:p"), qn("w:t"), *signs):
        if one.tag == qn("w:p"):
            lines.append([])
        elif lines:
            lines[-1].append(signs.get(one.tag) or one.text or "")
    return "\n".join(map("".join, lines))


def _marked_in(root: Element, story: str) -> dict[str, _Marked]:
    """Map the ids of comments to what is between their marks, in the order in which that ends.

    Of each at most LONGEST_WORDS characters are given, and each text is kept once, however many comments it is under.
    All tracked changes count as accepted but the hub's own: what it proposes is no change before somebody accepts it.
    """
    begun: dict[str, tuple[int, int]] = {}
    found: dict[str, _Marked] = {}
    at = length = 0
    pieces: list[str] = []
    spans: dict[str, tuple[int, int]] = {}
    range_start, range_end, reference = (qn(f"w:comment{part}") for part in ("RangeStart", "RangeEnd", "Reference"))
    texts = (qn("w:t"), qn("w:delText"))
    for element, is_hidden in _shown(root, range_start, range_end, reference, *texts, qn("w:noBreakHyphen")):
        number = element.get(qn("w:id"), "")
        if element.tag == range_start:
            begun[number] = at, length
        elif element.tag == range_end:
            start, first = begun.pop(number, (at, length))
            spans[number] = first, min(length, first + LONGEST_WORDS)
            found[number] = _Marked(story=story, start=start, end=at, words="", is_cut=length - first > LONGEST_WORDS)
        elif element.tag == reference:
            found.setdefault(number, _Marked(story=story, start=at, end=at, words=None))
        else:
            at += 1
            if begun and not is_hidden:
                pieces.append((element.text or "") if element.tag in texts else "-")
                length += len(pieces[-1])
    read = "".join(pieces)
    return {
        number: replace(place, words=read[slice(*spans[number])]) if number in spans else place
        for number, place in found.items()
    }


def _shown(root: Element, *tags: str) -> Iterator[tuple[Element, bool]]:
    """Go through the elements of these tags, each with whether it is in one that hides it."""
    hiding = 0
    for event, element in etree.iterwalk(root, events=("start", "end"), tag=(*tags, *_HIDING)):
        if element.tag in _HIDING:
            hiding += (1 if event == "start" else -1) if _hides(element) else 0
        elif event == "start":
            yield element, hiding > 0


def _hides(element: Element) -> bool:
    """Whether what is in an element is not to be read: deleted by people, or proposed by the hub."""
    is_ours = is_of_hub(element.get(qn("w:author"), ""))
    return element.tag == _FALLBACK or element.tag in (_ADDED if is_ours else _GONE)


def _workbook(path: Path, limits: ParseLimits) -> list[dict[str, Any]]:
    _document, sheets = read_workbook(path, limits)
    editor = PackageEditor(path)
    found = []
    for name, sheet_part in sheet_parts(editor).items():
        part = editor.related(sheet_part, "comments")
        if part is None:
            continue
        cells = sheets[name].cells if name in sheets else {}
        for comment in editor.root(part).iter("{*}comment"):
            text = "".join(one.text or "" for one in comment.iter("{*}t"))
            words = cells.get(split_reference(comment.get("ref", "A1").partition(":")[0]), "")
            found.append(_note(text.replace("\r\n", "\n").replace("\r", "\n"), [], is_done=False, words=words))
    return found


def _pdf(path: Path, _limits: ParseLimits) -> list[dict[str, Any]]:
    document = open_pdf(path, 1)
    found = [note for page in document for note in _page_notes(page)]
    document.close()
    return found


def _page_notes(page: pypdfium2.PdfPage) -> Iterator[dict[str, Any]]:
    """Yield the notes of a page with what answers them, directly or by way of another answer, as readers write both.

    The last state that somebody gave in a review counts; marks (✓) are a reader's own.
    """
    notes: dict[int, dict[str, Any]] = {}
    parents: dict[int, int] = {}
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        parent = pdfium_c.FPDFAnnot_GetLinkedAnnot(annotation, b"IRT")
        if parent:
            parents[index] = pdfium_c.FPDFPage_GetAnnotIndex(page, parent)
            pdfium_c.FPDFPage_CloseAnnot(parent)
        elif text := annotation_value(annotation, b"Contents"):
            notes[index] = _note(text, [], is_done=False, words=None)
        pdfium_c.FPDFPage_CloseAnnot(annotation)
    for index in parents:
        note = notes.get(_first_note(index, parents))
        if note is not None:
            annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
            _add_answer(note, annotation)
            pdfium_c.FPDFPage_CloseAnnot(annotation)
    yield from notes.values()


def _first_note(index: int, parents: Mapping[int, int]) -> int:
    for _step in range(LONGEST_CHAIN):
        if index not in parents:
            break
        index = parents[index]
    return index


def _add_answer(note: dict[str, Any], annotation: Any) -> None:  # noqa: ANN401 (a C handle)
    text, author, day, state, model = (
        annotation_value(annotation, key) for key in (b"Contents", b"T", b"M", b"State", b"StateModel")
    )
    if model in ("", "Review") and state:
        note["is_done"] = state in ("Completed", "Accepted")
    elif not state and text.strip():
        date = day[2:10]
        is_date = date.isdecimal() and len(date) == 8
        note["replies"].append([author, f"{date[:4]}-{date[4:6]}-{date[6:]}" if is_date else "", text])


def annotation_value(annotation: Any, key: bytes) -> str:  # noqa: ANN401 (a C handle)
    """The text of an annotation's entry; empty without it."""
    length = pdfium_c.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    buffer = (pdfium_c.FPDF_WCHAR * (length // 2 + 1))()
    pdfium_c.FPDFAnnot_GetStringValue(annotation, key, buffer, length)
    text = bytes(buffer)[: max(length - 2, 0)].decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
