"""An annotated PDF as readers save it when somebody answered in it; pypdf writes what they do."""

from __future__ import annotations

from io import BytesIO
from typing import cast

from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    IndirectObject,
    NameObject,
    PdfObject,
    TextStringObject,
)

from review.runs.finding_schemas import FindingOut


class AnsweredPdf:
    """Notes and answers are on the first page; each note becomes an object of its own, which answers point to."""

    def __init__(self, content: bytes) -> None:
        self._writer = PdfWriter(clone_from=BytesIO(content))
        self._page = self._writer.pages[0]
        written = list(self._page.annotations or ())
        self._page.annotations = ArrayObject()
        self._notes = [self._added(DictionaryObject(one.get_object())) for one in written]

    def note_of(self, finding: FindingOut) -> IndirectObject:
        return next(one for one in self._notes if finding.id in self.text_of(one))

    def text_of(self, note: IndirectObject) -> str:
        return str(cast(DictionaryObject, note.get_object()).get("/Contents", ""))

    def reply(self, to: IndirectObject, author: str, text: str, *, day: str = "20260331") -> IndirectObject:
        return self._add(to, author, {"/Contents": text, "/M": f"D:{day}100000+09'00'", "/RT": "/R"})

    def state(self, of: IndirectObject, author: str, state: str, *, model: str = "Review") -> IndirectObject:
        """Give a note, or an earlier state of it, a state, as Acrobat and its like do."""
        said = {"/Contents": f"{state} set by {author}", "/M": "D:20260401100000+09'00'"}
        return self._add(of, author, {**said, "/State": state, "/StateModel": model})

    def rewrite(self, note: IndirectObject, text: str) -> None:
        cast(DictionaryObject, note.get_object())[NameObject("/Contents")] = TextStringObject(text)

    def bytes(self) -> bytes:
        saved = BytesIO()
        self._writer.write(saved)
        return saved.getvalue()

    def _add(self, to: IndirectObject, author: str, values: dict[str, str]) -> IndirectObject:
        entries: dict[str, PdfObject] = {
            key: NameObject(value) if value.startswith("/") else TextStringObject(value)
            for key, value in {**values, "/T": author, "/Type": "/Annot", "/Subtype": "/Text"}.items()
        }
        entries |= {"/IRT": to, "/Rect": ArrayObject([FloatObject(side) for side in (0, 0, 18, 18)])}
        return self._added(DictionaryObject({NameObject(key): value for key, value in entries.items()}))

    def _added(self, annotation: DictionaryObject) -> IndirectObject:
        reference = self._writer.add_annotation(self._page, annotation).indirect_reference
        assert reference is not None
        return reference
