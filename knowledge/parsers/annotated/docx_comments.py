"""Comments of a Word document: their parts, and the marks in the text that say what they are about."""

from __future__ import annotations

import copy
from datetime import datetime

from lxml import etree

from knowledge.parsers.annotated.notes import Note
from knowledge.parsers.annotated.package import PackageEditor
from knowledge.parsers.docx.text import qn
from knowledge.parsers.ooxml.package import Element

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
_W15 = "http://schemas.microsoft.com/office/word/2012/wordml"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_EXTENDED_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.commentsExtended+xml"
_EXTENDED_RELATION = "http://schemas.microsoft.com/office/2011/relationships/commentsExtended"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
PARAGRAPH_ID = f"{{{_W14}}}paraId"
# Word's own are below 0x80000000; these begin where few of its do.
_FIRST_CHANGE_ID = 1_500_000_000
_FIRST_PARAGRAPH_ID = 0x48554200


def date_of(written: datetime) -> str:
    """Write a moment as comments and tracked changes carry it."""
    return written.strftime("%Y-%m-%dT%H:%M:%SZ")


class CommentWriter:
    """Adds comments to those that the document has."""

    def __init__(self, editor: PackageEditor, document: str, written: datetime) -> None:
        self._editor = editor
        self._document = document
        self._date = date_of(written)
        self._part = editor.related(document, "comments")
        known = editor.root(self._part) if self._part else None
        numbered = [*(known if known is not None else ()), *editor.root(document).iter(qn("w:commentRangeStart"))]
        ids = [one.get(qn("w:id"), "") for one in numbered if isinstance(one.tag, str)]
        self._next_id = max((int(one) for one in ids if one.isdecimal()), default=-1) + 1
        roots = [editor.root(document), *([known] if known is not None else [])]
        self._taken = {str(value) for root in roots for value in root.xpath("//@*[local-name() = 'paraId']")}
        self._next_paragraph = _FIRST_PARAGRAPH_ID
        self._changes = 0
        self._comments: list[Element] = []
        self._threads: list[tuple[str, bool]] = []

    def add(self, note: Note, first: Element, last: Element) -> None:
        """Add a comment on what begins with one element of the text and ends with another."""
        number = self._comment(note)
        first.addprevious(_mark("commentRangeStart", number))
        end = _mark("commentRangeEnd", number)
        last.addnext(end)
        outside = _outside_fields(last)
        (end if outside is last else outside).addnext(_reference(number))

    def add_to_empty(self, note: Note, paragraph: Element) -> None:
        """Add a comment on a paragraph without anything in it."""
        number = self._comment(note)
        for one in (_mark("commentRangeStart", number), _mark("commentRangeEnd", number), _reference(number)):
            paragraph.append(one)

    def replace(self, note: Note, first: Element, last: Element) -> tuple[Element, Element]:
        """Write a note's replacement as a tracked change, and return what begins and ends it.

        Only words in plain runs beside each other are replaced; of any others the elements are returned as they are.
        """
        runs = _plain_runs(first, last)
        if not runs or note.replacement is None:
            return first, last
        removed = self._change("del", note)
        runs[0].addprevious(removed)
        for run in runs:
            removed.append(run)
            for text in run.iter(qn("w:t")):
                text.tag = qn("w:delText")
        if not note.replacement:
            return removed, removed
        inserted = self._change("ins", note)
        removed.addnext(inserted)
        run = etree.SubElement(inserted, qn("w:r"))
        properties = runs[0].find(qn("w:rPr"))
        if properties is not None:
            run.append(copy.deepcopy(properties))
        text = etree.SubElement(run, qn("w:t"))
        text.set(_SPACE, "preserve")
        text.text = note.replacement
        return removed, inserted

    def _change(self, kind: str, note: Note) -> Element:
        change = etree.Element(qn(f"w:{kind}"), nsmap={"w": _W})
        change.set(qn("w:id"), str(_FIRST_CHANGE_ID + self._changes))
        change.set(qn("w:author"), note.author)
        change.set(qn("w:date"), self._date)
        self._changes += 1
        return change

    def _comment(self, note: Note) -> int:
        number = self._next_id
        self._next_id += 1
        comment = etree.Element(qn("w:comment"), nsmap={"w": _W, "w14": _W14})
        comment.set(qn("w:id"), str(number))
        comment.set(qn("w:author"), note.author)
        comment.set(qn("w:date"), self._date)
        comment.set(qn("w:initials"), "Hub")
        paragraph_id = ""
        for line in note.text.split("\n"):
            paragraph_id = self._paragraph_id()
            paragraph = etree.SubElement(comment, qn("w:p"))
            paragraph.set(PARAGRAPH_ID, paragraph_id)
            if line:
                text = etree.SubElement(etree.SubElement(paragraph, qn("w:r")), qn("w:t"))
                text.set(_SPACE, "preserve")
                text.text = line
        self._comments.append(comment)
        self._threads.append((paragraph_id, note.is_done))
        return number

    def _paragraph_id(self) -> str:
        while True:
            found = f"{self._next_paragraph:08X}"
            self._next_paragraph += 1
            if found not in self._taken:
                return found

    def finish(self) -> None:
        """Write the parts, if there is any comment."""
        if not self._comments:
            return
        if self._part:
            root = self._editor.change(self._part)
        else:
            root = etree.Element(qn("w:comments"), nsmap={"w": _W, "w14": _W14, "mc": _MC})
            root.set(f"{{{_MC}}}Ignorable", "w14")
            name = "word/comments.xml"
            name = self._editor.free_name("word/comments{}.xml") if self._editor.has(name) else name
            self._editor.add(name, root, content_type=_COMMENTS_TYPE)
            self._editor.relate(self._document, f"{_OFFICE}/comments", name)
        root.extend(self._comments)
        self._write_threads()

    def _write_threads(self) -> None:
        """Say of each comment whether it is done; programs find a thread by the last paragraph of its first comment."""
        part = self._editor.related(self._document, "commentsExtended")
        if part:
            root = self._editor.change(part)
        else:
            root = etree.Element(f"{{{_W15}}}commentsEx", nsmap={"w15": _W15, "mc": _MC})
            root.set(f"{{{_MC}}}Ignorable", "w15")
            name = self._editor.free_name("word/commentsExtended{}.xml")
            self._editor.add(name, root, content_type=_EXTENDED_TYPE)
            self._editor.relate(self._document, _EXTENDED_RELATION, name)
        for paragraph_id, is_done in self._threads:
            thread = etree.SubElement(root, f"{{{_W15}}}commentEx")
            thread.set(f"{{{_W15}}}paraId", paragraph_id)
            thread.set(f"{{{_W15}}}done", "1" if is_done else "0")


def _plain_runs(first: Element, last: Element) -> list[Element]:
    """Return the runs from one to another, when there is nothing but runs with text between; else nothing."""
    if first.getparent().tag != qn("w:p"):
        return []
    runs = []
    for element in (first, *first.itersiblings()):
        has_text_only = element.tag == qn("w:r") and all(one.tag in (qn("w:t"), qn("w:rPr")) for one in element)
        if not has_text_only:
            return []
        runs.append(element)
        if element is last:
            return runs
    return []


def _outside_fields(last: Element) -> Element:
    """Return what the reference to a comment may follow: LibreOffice loses it, or what it says, in a field or link."""
    paragraph = last
    while paragraph is not None and paragraph.tag != qn("w:p"):
        if paragraph.tag in (qn("w:fldSimple"), qn("w:hyperlink")):
            last = paragraph
        paragraph = paragraph.getparent()
    if paragraph is None:
        return last
    depth, is_past = 0, False
    for element in paragraph.iter(qn("w:fldChar"), last.tag):
        is_past |= element is last
        if element.tag == qn("w:fldChar"):
            depth += {"begin": 1, "end": -1}.get(element.get(qn("w:fldCharType"), ""), 0)
        if is_past and depth <= 0:
            return last if element is last else element.getparent()
    return last


def _mark(name: str, number: int) -> Element:
    mark = etree.Element(qn(f"w:{name}"), nsmap={"w": _W})
    mark.set(qn("w:id"), str(number))
    return mark


def _reference(number: int) -> Element:
    run = etree.Element(qn("w:r"), nsmap={"w": _W})
    run.append(_mark("commentReference", number))
    return run
