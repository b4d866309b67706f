"""Lists of test cases whose rows have no number, so that nothing can refer to one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.text.folding import narrow
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Table
from review.rules.content.due import case_tables
from review.rules.content.unfilled import Unfilled
from review.types import RuleInput, Span

_NUMBER_HEAD = re.compile(r"(?:.{0,10}(?:ID|No\.?|番号|項番|識別子|コード)|#|№)", re.IGNORECASE)
# A number, an identifier, or the name of a test method, by which a row is called as well.
_NUMBER = re.compile(r"[A-Za-z一-龯ァ-ヴー]{0,8}[-_.]?[0-9]+(?:[-_.][0-9]+)*[.)]?|`?[A-Za-z]\w{5,}`?", re.ASCII)
_FEWEST_CASES, _LEAST_NUMBERED, _COLUMNS, _TABLES_SHOWN = 10, 0.6, 2, 3


def unnumbered_cases(target: RuleInput) -> Iterator[Unfilled]:
    """Yield the lists of test cases of a test document that numbers none of them, nor names anything by identifiers."""
    if target.document_type != "test_plan":
        return
    skipped = apparatus(target.text, target.sections)
    tables = [each for each in case_tables(target) if each.rows and not inside(skipped, each.header.start)]
    if sum(len(table.rows) for table in tables) < _FEWEST_CASES or any(map(_is_numbered, tables)):
        return
    if any(family.defined for family in read_families(target.text, target.sections, target.blocks)):
        return
    spans = tuple(
        Span(start=row.start, end=row.end) for table in tables[:_TABLES_SHOWN] for row in (table.header, table.rows[0])
    )
    title = next((cell.text.strip() for cell in tables[0].header.cells if cell.text.strip()), "")
    yield Unfilled(titles=(title,), spans=spans, texts="unnumbered")


def _is_numbered(table: Table) -> bool:
    """Whether a column is named a number or an identifier, or most cells of one of the first are such."""
    for at, head in enumerate(table.header.cells):
        if _NUMBER_HEAD.fullmatch(narrow(head.text).strip()):
            return True
        cells = [narrow(row.cells[at].text) for row in table.rows if at < len(row.cells)]
        if at < _COLUMNS and sum(bool(_NUMBER.fullmatch(cell)) for cell in cells) >= _LEAST_NUMBERED * len(table.rows):
            return True
    return False
