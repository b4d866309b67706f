"""Notes of a sheet: the part with their texts, the drawing with their boxes, and the sheet's line that names it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

from lxml import etree

from knowledge.parsers.annotated.notes import Note
from knowledge.parsers.annotated.package import PackageEditor
from knowledge.parsers.csv_table import column_name
from knowledge.parsers.errors import corrupted
from knowledge.parsers.ooxml.package import Element, parse_xml

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STRICT_MAIN = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT_OFFICE = "http://purl.oclc.org/ooxml/officeDocument/relationships"
_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
_VML_TYPE = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MOST_TEXT = 32_767
"""Characters in a note. Source: Excel specifications and limits, of a cell's text."""
# What may follow the line that names the drawing, in a sheet. Source: ECMA-376, 18.3.1.99.
_AFTER = frozenset(
    ("legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls", "webPublishItems", "tableParts", "extLst")
)
_DATA = re.compile(rb"<((?:[\w.-]+:)?sheetData)\b[^>]*?(/?)>")
_SHAPE_ID = re.compile(r"_x0000_s(\d+)")
_BOX_COLUMNS, _MOST_ROWS, _CHARS_OF_LINE = 5, 30, 34
_TYPE = (
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_EMPTY_DRAWING = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel"><o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/>'
    "</o:shapelayout></xml>"
)
_NAMESPACES = (
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel"'
)


def sheet_parts(editor: PackageEditor) -> dict[str, str]:
    """Map the names of a workbook's sheets with cells that can be seen to their parts, in order."""
    workbook = editor.related("", "officeDocument") or "xl/workbook.xml"
    found = {}
    for sheet in editor.root(workbook).iter("{*}sheet"):
        ids = [value for name, value in sheet.attrib.items() if name.endswith("}id")]
        part = editor.target(workbook, ids[0]) if ids else None
        if part and "worksheets" in part and sheet.get("state", "visible") == "visible":
            found[sheet.get("name", "")] = part
    return found


class SheetNotes:
    """Adds notes to a sheet; those that it has are kept, and a cell's own note is gone on with."""

    def __init__(self, editor: PackageEditor, part: str) -> None:
        self._editor = editor
        self._part = part
        self._data = editor.data(part)
        self._skeleton, self._cells, self._empty = _without_cells(self._data)
        is_strict = etree.QName(self._skeleton).namespace == _STRICT_MAIN
        self._main, self._office = (_STRICT_MAIN, _STRICT_OFFICE) if is_strict else (_MAIN, _OFFICE)

    def add(self, notes: Mapping[tuple[int, int], Sequence[Note]]) -> None:
        """Add what is said of each cell, by row and column from 1."""
        root = self._comments()
        authors = root.find(f"{{{self._main}}}authors")
        known = root.find(f"{{{self._main}}}commentList")
        by_cell = {one.get("ref", ""): one for one in known}
        names = [one.text or "" for one in authors]
        fresh: list[tuple[int, int, str]] = []
        for (row, column), of_cell in notes.items():
            text = "\n\n".join(note.text for note in of_cell)
            reference = f"{column_name(column)}{row}"
            while reference in by_cell and _is_threaded(by_cell[reference], names):
                column += 1
                reference = f"{column_name(column)}{row}"
            if reference in by_cell:
                _go_on(by_cell[reference], f"\n\n{text}", self._main)
                continue
            author = of_cell[0].author
            if author not in names:
                names.append(author)
                etree.SubElement(authors, f"{{{self._main}}}author").text = author
            comment = etree.SubElement(
                known, f"{{{self._main}}}comment", ref=reference, authorId=str(names.index(author))
            )
            etree.SubElement(comment, f"{{{self._main}}}text")
            _go_on(comment, text, self._main)
            by_cell[reference] = comment
            fresh.append((row, column, text))
        if fresh:
            self._draw(fresh)

    def _comments(self) -> Element:
        part = self._editor.related(self._part, "comments")
        if part:
            root = self._editor.change(part)
        else:
            root = etree.Element(f"{{{self._main}}}comments", nsmap={None: self._main})
            name = self._editor.free_name("xl/comments{}.xml")
            self._editor.add(name, root, content_type=_COMMENTS_TYPE)
            self._editor.relate(self._part, f"{self._office}/comments", name)
        for index, child in enumerate(("authors", "commentList")):
            if root.find(f"{{{self._main}}}{child}") is None:
                root.insert(index, etree.Element(f"{{{self._main}}}{child}"))
        return root

    def _draw(self, notes: Sequence[tuple[int, int, str]]) -> None:
        """Add a hidden box for each new note to the sheet's drawing of such boxes; programs need them."""
        named = next(self._skeleton.iterchildren(f"{{{self._main}}}legacyDrawing"), None)
        part = self._editor.target(self._part, named.get(f"{{{self._office}}}id", "")) if named is not None else None
        if part is None:
            part = self._editor.free_name("xl/drawings/vmlDrawing{}.vml")
            self._editor.replace(part, _EMPTY_DRAWING.encode())
            self._editor.add_default_type("vml", _VML_TYPE)
            self._name_drawing(self._editor.relate(self._part, f"{self._office}/vmlDrawing", part))
        drawing = self._editor.data(part).decode("utf-8")
        taken = max([1024, *map(int, _SHAPE_ID.findall(drawing))])
        shapes = [] if 'id="_x0000_t202"' in drawing else [_TYPE.replace("<v:shapetype", f"<v:shapetype {_NAMESPACES}")]
        shapes += [_shape(taken + number, *note) for number, note in enumerate(notes, 1)]
        end = drawing.rfind("</")
        if end < 0:
            raise corrupted("xlsx", "drawing of notes")
        self._editor.replace(part, (drawing[:end] + "".join(shapes) + drawing[end:]).encode())

    def _name_drawing(self, relation: str) -> None:
        """Write the line that names the drawing into the sheet, whose cells keep their bytes."""
        line = etree.Element(f"{{{self._main}}}legacyDrawing", nsmap={"r": self._office})
        line.set(f"{{{self._office}}}id", relation)
        children = [one for one in self._skeleton if isinstance(one.tag, str)]
        following = next((one for one in children if _follows(one)), None)
        if following is not None:
            following.addprevious(line)
        else:
            self._skeleton.append(line)
        written = etree.tostring(self._skeleton.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True)
        self._editor.replace(self._part, written.replace(self._empty, self._cells, 1))


def _follows(element: Element) -> bool:
    name = etree.QName(element).localname
    if name == "AlternateContent":
        return any(etree.QName(one).localname in _AFTER for one in element.iter("*"))
    return name in _AFTER


def _without_cells(data: bytes) -> tuple[Element, bytes, bytes]:
    """Return a sheet's tree without its cells, the bytes of these, and what stands for them in the tree's text."""
    begun = _DATA.search(data)
    if begun is None:
        raise corrupted("xlsx", "sheet without cells")
    name = begun[1]
    end = begun.end()
    if not begun[2]:
        close = b"</" + name + b">"
        end = data.rindex(close) + len(close)
    empty = b"<" + name + b"/>"
    return parse_xml(data[: begun.start()] + empty + data[end:]), data[begun.start() : end], empty


def _is_threaded(comment: Element, authors: Sequence[str]) -> bool:
    """Whether a note stands for a thread of comments, which newer programs show instead of its text."""
    author = comment.get("authorId", "0")
    return author.isdecimal() and int(author) < len(authors) and authors[int(author)].startswith("tc=")


def _go_on(comment: Element, text: str, main: str) -> None:
    """Add text to a note, cut where a note can't be longer."""
    holder = comment.find(f"{{{main}}}text")
    if holder is None:
        holder = etree.SubElement(comment, f"{{{main}}}text")
    had = sum(len(one.text or "") for one in holder.iter(f"{{{main}}}t"))
    plain = [one for one in holder if one.tag == f"{{{main}}}t"]
    for one in plain:  # a plain text can't be followed by runs
        run = etree.Element(f"{{{main}}}r")
        one.addprevious(run)
        run.append(one)
    run = etree.SubElement(holder, f"{{{main}}}r")
    properties = etree.SubElement(run, f"{{{main}}}rPr")
    etree.SubElement(properties, f"{{{main}}}sz", val="9")
    written = etree.SubElement(run, f"{{{main}}}t")
    written.set(_SPACE, "preserve")
    written.text = text if had + len(text) <= MOST_TEXT else f"{text[: max(MOST_TEXT - had - 1, 0)]}…"


def _shape(number: int, row: int, column: int, text: str) -> str:
    lines = sum(1 + len(line) // _CHARS_OF_LINE for line in text.split("\n"))
    top = max(row - 2, 0)
    anchor = f"{column}, 15, {top}, 10, {column + _BOX_COLUMNS}, 15, {top + min(lines + 2, _MOST_ROWS)}, 4"
    shape_id = quoteattr(f"_x0000_s{number}")
    return (
        f'<v:shape {_NAMESPACES} id={shape_id} type="#_x0000_t202" style="position:absolute;visibility:hidden" '
        'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:shadow on="t" color="black" obscured="t"/>'
        '<v:path o:connecttype="none"/><v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div>'
        '</v:textbox><x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/>'
        f"<x:Anchor>{anchor}</x:Anchor><x:AutoFill>False</x:AutoFill><x:Row>{row - 1}</x:Row>"
        f"<x:Column>{column - 1}</x:Column></x:ClientData></v:shape>"
    )
