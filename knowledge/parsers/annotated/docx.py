"""A copy of a Word document with comments on words of it. Run in parser children.

The document's text is read once more by its parser, which marks the paragraphs that each part of it comes from; runs
are split where a comment begins or ends, and nothing else of the file is changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.parsers.annotated.alignment import Moved, places_in
from knowledge.parsers.annotated.docx_comments import CommentWriter
from knowledge.parsers.annotated.docx_words import Words, markable
from knowledge.parsers.annotated.notes import Markup, Note, Placed, load_markup, outcome
from knowledge.parsers.annotated.package import PackageEditor
from knowledge.parsers.docx.parser import read_document
from knowledge.parsers.docx.text import qn
from knowledge.parsers.docx.trace import Trace, without_signs
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ooxml.package import Element

_PARAGRAPH = qn("w:p")


def annotate(
    path: Path,
    *,
    limits: ParseLimits,
    folder: Path,
    filename: str,
    markdown: str,
    notes: Sequence[Mapping[str, Any]],
    written: str,
    list_title: str,
) -> str:
    """Write the copy into ``folder``. :raises ParseError: as reading the document."""
    markup = load_markup(markdown, notes, written, list_title)
    trace = Trace()
    traced = read_document(path, limits, trace).markdown
    editor = PackageEditor(path)
    document = editor.related("", "officeDocument") or "word/document.xml"
    origin = _Origin(editor, document, trace, traced, without_signs(markup.markdown))
    placed = _Placing(editor, document, markup, origin).place_all()
    return outcome("annotated.docx", placed, editor.packed(), folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """Characters ``[first, last]`` of an element's words, or all of what draws something, which has none."""

    element: Element
    part: str
    order: int
    first: int = 0
    last: int = -1

    @property
    def is_words(self) -> bool:
        return self.last >= self.first


class _Origin:
    """Finds the elements, in the parts as they are in the file, that a stretch of the stored text comes from."""

    def __init__(self, editor: PackageEditor, document: str, trace: Trace, traced: str, markdown: str) -> None:
        self._text, marks = trace.unmarked(traced)
        self._moved = Moved(markdown, self._text)
        self._starts = [start for start, _element in marks]
        self._elements = _same_elements(editor, document, trace, [element for _start, element in marks])
        self._words: dict[Element, Words] = {}

    def words(self, element: Element) -> Words:
        """Return the words of a paragraph, the same each time, so that cuts are known."""
        if element not in self._words:
            self._words[element] = Words(element)
        return self._words[element]

    def hits(self, start: int, end: int) -> list[_Hit]:
        """Return what is in the stretch of each element, in the order of the text."""
        span = self._moved.span(start, end)
        if span is None:
            return []
        found = []
        for number in range(max(bisect_right(self._starts, span[0]) - 1, 0), bisect_right(self._starts, span[1] - 1)):
            element, part, order = self._elements[number]
            begun, stop = self._segment(number)
            if element.tag != _PARAGRAPH:
                if begun < span[1] and span[0] < stop:
                    found.append(_Hit(element=element, part=part, order=order))
                continue
            places = places_in(self._text, self.words(element).text, begun, stop)
            inside = [index for index, place in enumerate(places) if span[0] <= place < span[1]]
            if inside:
                found.append(_Hit(element=element, part=part, order=order, first=inside[0], last=inside[-1]))
        return found

    def nearest(self, start: int) -> _Hit | None:
        """Return the whole element that a place is in, or the one before it."""
        place = self._moved.place(start)
        if place is None or not self._elements:
            return None
        element, part, order = self._elements[self._number_at(place)]
        if element.tag != _PARAGRAPH:
            return _Hit(element=element, part=part, order=order)
        return _Hit(element=element, part=part, order=order, last=len(self.words(element).text) - 1)

    def _number_at(self, place: int) -> int:
        """Return the number of the element that a place is in; a number that Word counts is before its paragraph."""
        following = bisect_right(self._starts, place)
        if following < len(self._starts) and "\n" not in self._text[place : self._starts[following]]:
            return following
        return max(following - 1, 0)

    def _segment(self, number: int) -> tuple[int, int]:
        is_last = number + 1 == len(self._starts)
        return self._starts[number], len(self._text) if is_last else self._starts[number + 1]


def _same_elements(
    editor: PackageEditor, document: str, trace: Trace, elements: Sequence[Element]
) -> list[tuple[Element, str, int]]:
    """Return the twins of elements in the file's parts as they are, with the part and their number in its order.

    The parser's tree leaves white space out that the file has; its elements are the same.
    """
    parts = {id(root): editor.related(document, kind) for kind, root in trace.parts.items()}
    twins: dict[str, list[Element]] = {}
    orders: dict[str, dict[Element, int]] = {}
    found = []
    for element in elements:
        root = element.getroottree().getroot()
        part = parts.get(id(root)) or document
        if part not in twins:
            twins[part] = list(editor.root(part).iter("*"))
            orders[part] = {one: number for number, one in enumerate(root.iter("*"))}
        order = orders[part][element]
        found.append((twins[part][order], part, order))
    return found


class _Placing:
    """Puts the notes of one document: first all cuts, then all marks."""

    def __init__(self, editor: PackageEditor, document: str, markup: Markup, origin: _Origin) -> None:
        self._editor = editor
        self._markup = markup
        self._origin = origin
        self._document = document
        self._kinds = {editor.related(document, f"{kind}s"): kind for kind in ("footnote", "endnote")}
        self._comments = CommentWriter(editor, document, markup.written)

    def place_all(self) -> list[Placed]:
        found = [self._find(note) for note in self._markup.notes]
        for _placed, hits in found:
            for hit in filter(lambda one: one.is_words, hits):
                self._origin.words(hit.element).cut((hit.first, hit.last + 1))
        for note, (placed, hits) in zip(self._markup.notes, found, strict=True):
            if placed is not Placed.LISTED:
                self._mark(note, hits)
        self._list(
            [note for note, (placed, _) in zip(self._markup.notes, found, strict=True) if placed is Placed.LISTED]
        )
        self._comments.finish()
        return [placed for placed, _hits in found]

    def _find(self, note: Note) -> tuple[Placed, list[_Hit]]:
        """Say where a note belongs; on a footnote or an endnote it is at the mark in the text that leads there.

        LibreOffice does not open a file with a comment inside of them.
        """
        placed, hits = self._found(note)
        inside = next((hit for hit in hits if hit.part in self._kinds), None)
        if inside is None:
            return placed, hits
        mark = self._mark_of(inside.element, self._kinds[inside.part])
        return (Placed.LISTED, []) if mark is None else (Placed.NEAR, [mark])

    def _mark_of(self, element: Element, kind: str) -> _Hit | None:
        """Return the mark in the text of the footnote or endnote that an element is in."""
        number = next((one.get(qn("w:id")) for one in element.iterancestors(qn(f"w:{kind}"))), None)
        marks = self._editor.root(self._document).iter(qn(f"w:{kind}Reference"))
        found = next((one for one in marks if one.get(qn("w:id")) == number), None)
        return None if found is None else _Hit(element=found, part=self._document, order=0)

    def _found(self, note: Note) -> tuple[Placed, list[_Hit]]:
        hits = self._origin.hits(note.start, note.end)
        if hits and not note.is_quote:
            return Placed.NEAR, hits[:1]
        if hits and (len(hits) == 1 or _is_run(hits)):
            return (Placed.EXACT if all(hit.is_words for hit in hits) else Placed.NEAR), hits
        nearest = hits[0] if hits else self._origin.nearest(note.start)
        return (Placed.NEAR, [nearest]) if nearest is not None else (Placed.LISTED, [])

    def _mark(self, note: Note, hits: Sequence[_Hit]) -> None:
        for part in {hit.part for hit in hits}:
            self._editor.change(part)
        first, last = self._ends(hits[0])[0], self._ends(hits[-1])[1]
        if note.replacement is not None and note.is_quote and len(hits) == 1 and hits[0].is_words:
            first, last = self._comments.replace(note, first, last)
        self._comments.add(note, first, last)

    def _ends(self, hit: _Hit) -> tuple[Element, Element]:
        if not hit.is_words:
            return markable(hit.element), markable(hit.element)
        words = self._origin.words(hit.element)
        return words.holder(hit.first), words.holder(hit.last)

    def _list(self, notes: Sequence[Note]) -> None:
        """Put what has no place into one comment on the last paragraph of the document."""
        if not notes:
            return
        body = self._editor.change(self._document).find(qn("w:body"))
        last = next(_paragraphs_from_end(body), None)
        if last is None:
            last = body.makeelement(_PARAGRAPH)
            body.insert(0, last)
        listed = self._markup.listed(notes)
        inside = [child for child in last if child.tag != qn("w:pPr")]
        if inside:
            self._comments.add(listed, inside[0], inside[-1])
        else:
            self._comments.add_to_empty(listed, last)


def _is_run(hits: Sequence[_Hit]) -> bool:
    """Whether hits follow each other in one part, so that one range can have them all."""
    orders = [hit.order for hit in hits]
    return len({hit.part for hit in hits}) == 1 and orders == sorted(set(orders))


def _paragraphs_from_end(body: Element) -> Iterator[Element]:
    yield from body.iterchildren(_PARAGRAPH, reversed=True)
    yield from reversed(list(body.iter(_PARAGRAPH)))
