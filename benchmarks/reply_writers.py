"""Annotated copies as other programs save them after people answered: python-docx, openpyxl and pypdf.

A note is known by the line of the hub in it. Each writer can ``reply`` to a note, ``resolve`` one, ``change`` the words
that it is on, and ``forge`` its line; what a format does not have is not in ``CAN``.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import openpyxl
from lxml import etree
from openpyxl.cell.cell import MergedCell
from openpyxl.comments import Comment
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, IndirectObject, NameObject, TextStringObject

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"
CHANGED = "改めた言葉"


class WordCopy:
    """python-docx adds the comments of a thread; which replies to which stands in a part that it leaves alone."""

    CAN = frozenset({"reply", "resolve", "change", "forge"})

    def __init__(self, path: Path) -> None:
        self._document = docx.Document(str(path))
        self._threads: list[tuple[str, str, str]] = []

    def reply(self, line: str, author: str, text: str, *, to: str = "") -> str:
        """Add a reply to a note, or to an earlier reply; return what a reply to it is addressed to."""
        run = next(run for one in self._document.paragraphs for run in one.runs)
        comment = self._document.add_comment(run, text=text, author=author)._comment_elm
        own = f"1{len(self._threads):07X}"
        comment.findall(f"{W}p")[-1].set(f"{W14}paraId", own)
        comment.set(f"{W}date", "2026-03-31T10:00:00Z")
        self._move(comment.get(f"{W}id"), beside=to or self._comment(line).get(f"{W}id"))
        self._threads.append((own, self._id_of(line), "0"))
        return str(comment.get(f"{W}id"))

    def resolve(self, line: str) -> None:
        self._threads.append((self._id_of(line), "", "1"))

    def change(self, line: str) -> bool:
        """Write other words between the marks of a note; False where there is no text between them."""
        number = self._comment(line).get(f"{W}id")
        texts: list[Any] = []
        is_inside = False
        for element in self._document.element.body.iter(f"{W}commentRangeStart", f"{W}commentRangeEnd", f"{W}t"):
            if element.tag == f"{W}t":
                texts += [element] if is_inside else []
            elif element.get(f"{W}id") == number:
                is_inside = element.tag == f"{W}commentRangeStart"
        for text in texts:
            text.text = CHANGED if text is texts[0] else ""
        return bool(texts)

    def forge(self, line: str, other: str) -> None:
        for text in self._comment(line).iter(f"{W}t"):
            text.text = (text.text or "").replace(line, other)

    def save(self, path: Path) -> None:
        saved = BytesIO()
        self._document.save(saved)
        with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                data = source.read(name)
                target.writestr(
                    name, self._threaded(data) if "commentsExtended" in name and "rels" not in name else data
                )

    def _threaded(self, data: bytes) -> bytes:
        root = etree.fromstring(data)
        for own, parent, done in self._threads:
            for old in [one for one in root if one.get(f"{W15}paraId") == own]:
                root.remove(old)
            thread = etree.SubElement(root, f"{W15}commentEx", {f"{W15}paraId": own, f"{W15}done": done})
            if parent:
                thread.set(f"{W15}paraIdParent", parent)
        return etree.tostring(root)

    def _move(self, number: str, *, beside: str) -> None:
        """Put the marks of a reply behind those of what it replies to, where Word has them."""
        for tag in ("commentRangeStart", "commentRangeEnd", "commentReference"):
            own, other = (self._document.element.body.find(f".//{W}{tag}[@{W}id='{one}']") for one in (number, beside))
            if own is not None and other is not None:
                is_start = tag == "commentRangeStart"
                own, other = (own, other) if is_start else (_of_run(own), _behind(other))
                other.addnext(own)

    def _comment(self, line: str) -> Any:
        return next(one._comment_elm for one in self._document.comments if line in one.text)

    def _id_of(self, line: str) -> str:
        return str(self._comment(line).findall(f"{W}p")[-1].get(f"{W14}paraId"))


def _of_run(mark: Any) -> Any:
    return mark.getparent() if mark.tag == f"{W}commentReference" else mark


def _behind(mark: Any) -> Any:
    """The last of a comment's marks: the run of its reference, which follows the end of its words."""
    following = mark.getnext()
    is_end = mark.tag == f"{W}commentRangeEnd" and following is not None
    return following if is_end and following.find(f"{W}commentReference") is not None else _of_run(mark)


class Workbook:
    """openpyxl writes each part anew; people answer in a note, below the hub's line."""

    CAN = frozenset({"reply", "change", "forge"})

    def __init__(self, path: Path) -> None:
        self._book = openpyxl.load_workbook(path)

    def reply(self, line: str, author: str, text: str, *, to: str = "") -> str:
        cell = self._cell(line)
        above = f"{line}\n{to}" if to else line
        assert cell.comment is not None
        self._write(cell, cell.comment.text.replace(above, f"{above}\n{text}"))
        return text

    def change(self, line: str) -> bool:
        cell = self._cell(line)
        if isinstance(cell, MergedCell):
            return False
        cell.value = CHANGED
        return True

    def forge(self, line: str, other: str) -> None:
        cell = self._cell(line)
        assert cell.comment is not None
        self._write(cell, cell.comment.text.replace(line, other))

    def save(self, path: Path) -> None:
        self._book.save(path)

    def _cell(self, line: str) -> Any:
        return next(
            cell
            for sheet in self._book.worksheets
            for row in sheet.iter_rows()
            for cell in row
            if cell.comment and line in cell.comment.text
        )

    def _write(self, cell: Any, text: str) -> None:
        cell.comment = Comment(text, "山田 太郎")


class Pdf:
    """pypdf writes the whole file anew; an answer is an annotation in reply to another."""

    CAN = frozenset({"reply", "resolve", "forge"})

    def __init__(self, path: Path) -> None:
        self._writer = PdfWriter(clone_from=path)
        self._answers: dict[str, IndirectObject] = {}

    def reply(self, line: str, author: str, text: str, *, to: str = "") -> str:
        self._add(line, author, {"/Contents": text, "/M": "D:20260331100000+09'00'", "/RT": "/R"}, to=to)
        return text

    def resolve(self, line: str) -> None:
        values = {"/Contents": "Completed", "/M": "D:20260401", "/State": "Completed", "/StateModel": "Review"}
        self._add(line, "山田 太郎", values)

    def forge(self, line: str, other: str) -> None:
        _page, note = self._note(line)
        entries: Any = note.get_object()
        entries[NameObject("/Contents")] = TextStringObject(entries["/Contents"].replace(line, other))

    def save(self, path: Path) -> None:
        self._writer.write(path)

    def _note(self, line: str) -> tuple[Any, IndirectObject]:
        """Find a note, as an object of its own, which answers can point to."""
        for page in self._writer.pages:
            notes: Any = page.get("/Annots", ArrayObject())
            for at, one in enumerate(notes.get_object()):
                entries: Any = one.get_object()
                if "/IRT" not in entries and line in str(entries.get("/Contents", "")):
                    if not isinstance(one, IndirectObject):
                        notes.get_object()[at] = self._writer._add_object(entries)
                    return page, notes.get_object()[at]
        raise LookupError(line)

    def _add(self, line: str, author: str, values: dict[str, str], *, to: str = "") -> None:
        page, note = self._note(line)
        entries: dict[str, Any] = {
            key: NameObject(value) if value.startswith("/") else TextStringObject(value)
            for key, value in {**values, "/T": author, "/Type": "/Annot", "/Subtype": "/Text"}.items()
        }
        entries["/IRT"] = self._answers.get(to, note)
        entries["/Rect"] = ArrayObject([FloatObject(side) for side in (0, 0, 18, 18)])
        made = DictionaryObject({NameObject(key): value for key, value in entries.items()})
        reference = self._writer.add_annotation(page, made).indirect_reference
        assert reference is not None
        self._answers[values["/Contents"]] = reference


WRITERS: dict[str, Any] = {"docx": WordCopy, "xlsx": Workbook, "pdf": Pdf}


def lines_of(text: str) -> Iterator[str]:
    """Yield the hub's lines of a note."""
    yield from re.findall(r"hub:fnd_[0-9a-z]+:\d+:[0-9a-f]+", text)
