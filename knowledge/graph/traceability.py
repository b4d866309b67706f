"""The traceability matrix: which documents define and mention each requirement, and where that is missing."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.worksheet import Worksheet

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.cells import safe_text
from knowledge.collections import get_collection
from knowledge.graph.identifiers import DEFINED
from knowledge.models import Document, GraphContribution, GraphNode

MAX_ROWS = 5_000
# The kinds of documents that requirements are followed through, where a collection has any.
FOLLOWED_TYPES = ("basic_design", "detailed_design", "test_plan")
_GAP = PatternFill("solid", start_color="FFFDE3E1")
_DEFINITION = PatternFill("solid", start_color="FFDCF5E5")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """What a document says of a requirement; ``[start, end)`` is the first place that says so."""

    document_id: str
    defines: bool
    mentions: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A requirement. ``gaps`` are the codes of document types none of whose documents mentions it."""

    node_id: str
    code: str
    label: str
    cells: tuple[MatrixCell | None, ...]
    is_defined: bool
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Requirements in the order of their codes, documents in the order of type and path."""

    documents: tuple[Document, ...]
    rows: tuple[MatrixRow, ...]
    prefixes: tuple[str, ...]
    is_complete: bool

    @property
    def gaps_count(self) -> int:
        return sum(1 for row in self.rows if row.gaps or not row.is_defined)


def traceability_matrix(
    principal: Principal, *, collection: str, prefix: str = "", only_gaps: bool = False, as_file: bool = False
) -> Matrix:
    """Lay out a collection's requirements against its documents; ``as_file`` says that it is to leave as a file.

    Four queries, and a line of the audit trail.

    Test items, and what no document of the caller mentions, are no rows. Raises NotFound (collection).
    """
    found = get_collection(principal, collection, scope=Scope.READ)
    documents = Document.objects.visible_to(principal).live().filter(collection=found).select_related("current_version")
    listed_documents = list(documents.order_by("document_type", "path"))
    nodes = GraphNode.objects.visible_to(principal).filter(type="Requirement", collection=found)
    nodes = nodes.exclude(properties__role="test").order_by("code", "pk")
    listed = list(nodes[: MAX_ROWS + 1])
    cells = _cells(listed, listed_documents)
    speaking = {document_pk for row in cells.values() for document_pk in row}
    shown = tuple(document for document in listed_documents if document.pk in speaking)
    types = {document.document_type_id for document in listed_documents}
    followed = [code for code in FOLLOWED_TYPES if code in types]
    rows = [
        _row(node, shown, cells[node.pk], followed)
        for node in listed[:MAX_ROWS]
        if cells[node.pk] and (not prefix or node.properties.get("prefix") == prefix)
    ]
    action = "EXPORT" if as_file else "DOCUMENT_READ"
    record_event(principal, action, f"collection:{found.slug}", part="traceability", documents=len(shown))
    prefixes = {str(node.properties.get("prefix", "")) for node in listed} - {""}
    return Matrix(
        documents=shown,
        rows=tuple(row for row in rows if not only_gaps or row.gaps or not row.is_defined),
        prefixes=tuple(sorted(prefixes)),
        is_complete=len(listed) <= MAX_ROWS,
    )


def _cells(nodes: Sequence[GraphNode], documents: Sequence[Document]) -> dict[int, dict[int, MatrixCell]]:
    """What each document says of each node, by their keys."""
    ids = {document.pk: document.public_id for document in documents}
    cells: dict[int, dict[int, MatrixCell]] = defaultdict(dict)
    for said in GraphContribution.objects.filter(node__in=nodes, document__in=list(ids)).order_by("pk"):
        cells[said.node_id or 0][said.document_id or 0] = MatrixCell(
            document_id=ids[said.document_id or 0],
            defines=said.rank >= DEFINED,
            mentions=int(said.facts.get("properties", {}).get("mentions", 1)),
            start=said.start or 0,
            end=said.end or 0,
        )
    return cells


def _row(
    node: GraphNode, documents: Sequence[Document], cells: dict[int, MatrixCell], followed: Sequence[str]
) -> MatrixRow:
    types = {document.document_type_id for document in documents if document.pk in cells}
    return MatrixRow(
        node_id=node.public_id,
        code=node.code,
        label=str(node.properties.get("label", "")),
        cells=tuple(cells.get(document.pk) for document in documents),
        is_defined=any(cell.defines for cell in cells.values()),
        gaps=tuple(code for code in followed if code not in types),
    )


def matrix_workbook(matrix: Matrix) -> bytes:
    """Write the matrix as an Excel file: definitions green, gaps red, texts never as formulas."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(_("Traceability"))
    sheet.freeze_panes = "D2"
    sheet.column_dimensions["B"].width = 40
    heads = [_("Requirement"), _("Name"), _("Gaps"), *(document.title for document in matrix.documents)]
    sheet.append([_cell(sheet, head, bold=True) for head in heads])
    for row in matrix.rows:
        sheet.append(list(_excel_row(sheet, row)))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _excel_row(sheet: Worksheet, row: MatrixRow) -> Iterator[Cell]:
    gaps = [*([] if row.is_defined else [_("not defined")]), *row.gaps]
    yield _cell(sheet, row.code, bold=True)
    yield _cell(sheet, row.label)
    yield _cell(sheet, ", ".join(gaps), fill=_GAP if gaps else None)
    for cell in row.cells:
        if cell is None:
            yield _cell(sheet, "")
        else:
            said = _("defined") if cell.defines else str(cell.mentions)
            yield _cell(sheet, said, fill=_DEFINITION if cell.defines else None)


def _cell(sheet: Worksheet, text: str, *, bold: bool = False, fill: PatternFill | None = None) -> Cell:
    cell = WriteOnlyCell(sheet, value=safe_text(text))
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    if bold:
        cell.font = Font(bold=True)
    if fill is not None:
        cell.fill = fill
    return cell
