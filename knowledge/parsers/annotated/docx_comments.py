"""Comments of a Word document: their parts, and the marks in the text that say what they are about."""

from __future__ import annotations

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
_FIRST_PARAGRAPH_ID = 0x48554200


class CommentWriter:
    """Adds comments to those that the document has."""

    def __init__(self, editor: PackageEditor, document: str, written: datetime) -> None:
        self._editor = editor
        self._document = document
        self._date = written.strftime("%Y-%m-%dT%H:%M:%SZ")
        part = editor.related(document, "comments")
        self._part = part if part and editor.has(part) else ""
        known = editor.root(self._part) if self._part else None
        numbered = [*(known if known is not None else ()), *editor.root(document).iter(qn("w:commentRangeStart"))]
        ids = [one.get(qn("w:id"), "") for one in numbered if isinstance(one.tag, str)]
        self._next_id = max((int(one) for one in ids if one.isdecimal()), default=-1) + 1
        roots = [editor.root(document), *([known] if known is not None else [])]
        self._taken = {str(value) for root in roots for value in root.xpath("//@*[local-name() = 'paraId']")}
        self._next_paragraph = _FIRST_PARAGRAPH_ID
        self._comments: list[Element] = []
        self._threads: list[tuple[str, bool]] = []

    def add(self, note: Note, first: Element, last: Element) -> None:
        """Add a comment on what begins with one element of the text and ends with another."""
        number = self._comment(note)
        first.addprevious(_mark("commentRangeStart", number))
        end = _mark("commentRangeEnd", number)
        last.addnext(end)
        end.addnext(_reference(number))

    def add_to_empty(self, note: Note, paragraph: Element) -> None:
        """Add a comment on a paragraph without anything in it."""
        number = self._comment(note)
        for one in (_mark("commentRangeStart", number), _mark("commentRangeEnd", number), _reference(number)):
            paragraph.append(one)

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
        if part and self._editor.has(part):
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


def _mark(name: str, number: int) -> Element:
    mark = etree.Element(qn(f"w:{name}"), nsmap={"w": _W})
    mark.set(qn("w:id"), str(number))
    return mark


def _reference(number: int) -> Element:
    run = etree.Element(qn("w:r"), nsmap={"w": _W})
    run.append(_mark("commentReference", number))
    return run
