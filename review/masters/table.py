"""Rows of a check master's table: read into items, each wrong row with its reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db.models import TextChoices
from django.utils import translation
from django.utils.translation import gettext as _

from hub.core.bounds import CURATED_JSON, LONG_TEXT, check_json
from hub.core.errors import InvalidInput
from hub.core.languages import shown
from hub.core.texts import Text
from knowledge.text.folding import fold_compact, normalise
from review.masters.cells import CellError, from_cell, read_threshold, to_cell
from review.masters.content import LIST_CRITERIA, TEXT_CRITERIA, ItemChange, ItemContent
from review.masters.lint import Weight, lint_item
from review.models import CheckList, CheckListVersion, CheckType, Priority, Strategy
from review.types import STRATEGY_BY_TYPE

CHOICES: Mapping[str, type[TextChoices]] = {"check_type": CheckType, "strategy": Strategy, "priority": Priority}
LANGUAGES = ("ja", "en")
NEEDED = frozenset({"code", "name_ja"})
CRITERIA_COLUMNS = frozenset((*LIST_CRITERIA, *TEXT_CRITERIA, "threshold"))
MAX_ROWS = 2_000
HEADER_WITHIN = 20
_CODE = re.compile(r"[A-Z0-9]+(?:-[A-Z0-9]+)*")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−ー", "-"))
_LENGTHS = {
    "code": 20,
    "category": 100,
    "name_ja": 200,
    "name_en": 200,
    "guideline_reference": 300,
    "description_ja": LONG_TEXT,
    "description_en": LONG_TEXT,
}
ERROR_VALUES = frozenset({"#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#N/A", "#NULL!", "#NUM!"})
Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Text):
    """``width`` is in characters of the spreadsheet."""

    field: str
    width: int

    @property
    def title(self) -> str:
        """The header in the running language."""
        return shown(self)


def _column(field: str, ja: str, en: str, width: int) -> Column:
    return Column(field=field, ja=ja, en=en, width=width)


COLUMNS = (
    _column("code", "項目コード", "Code", 11),
    _column("category", "分類", "Category", 16),
    _column("name_ja", "名称（日本語）", "Name (ja)", 22),
    _column("name_en", "名称（英語）", "Name (en)", 22),
    _column("description_ja", "確認内容（日本語）", "Description (ja)", 44),
    _column("description_en", "確認内容（英語）", "Description (en)", 34),
    _column("check_type", "種別", "Type", 12),
    _column("priority", "優先度", "Priority", 10),
    _column("guideline_reference", "根拠ガイドライン", "Guideline", 30),
    _column("rules", "規則", "Rules", 44),
    _column("required_elements", "必須要素", "Required elements", 34),
    _column("patterns", "パターン", "Patterns", 30),
    _column("terms", "用語の組", "Term pairs", 26),
    _column("strategy", "方式", "Strategy", 12),
    _column("prompt", "指示文（言語モデル用）", "Prompt (language model)", 44),
    _column("expected_format", "回答形式（言語モデル用）", "Expected format (language model)", 30),
    _column("rubric", "判定基準（言語モデル用）", "Rubric (language model)", 40),
    _column("threshold", "しきい値", "Threshold", 10),
)


@lru_cache(maxsize=1)
def _fields() -> Mapping[str, str]:
    return {fold_compact(name): each.field for each in COLUMNS for name in (each.field, each.ja, each.en)}


def field_named(header: str) -> str | None:
    """Return the field that a header cell means, in either language; None when it is none of ours."""
    return _fields().get(fold_compact(header))


def label_of(field: str, code: str) -> str:
    """Return the word for a choice in the running language."""
    return str(dict(CHOICES[field].choices).get(code, code))


def code_of(field: str, word: str) -> str | None:
    """Return the choice that a word means in either language, or by its code."""
    for language in LANGUAGES:
        with translation.override(language):
            for code, label in CHOICES[field].choices:
                if fold_compact(word) in (fold_compact(code), fold_compact(str(label))):
                    return str(code)
    return None


def title_of(field: str) -> str:
    """Return a field's header in the running language; fields of no column by their own name."""
    bare = field.removeprefix("criteria.")
    return next((each.title for each in COLUMNS if each.field == bare), bare)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """One row as the file has it; ``number`` counts as the spreadsheet program does."""

    number: int
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProblem:
    """Why a row is refused. ``column`` is its header, empty when it is about the whole row."""

    row: int
    column: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTable:
    """What a file says: items in the order of their rows, and what is wrong with which row."""

    items: tuple[ItemContent, ...]
    problems: tuple[RowProblem, ...]
    written_from: int | None = None


class _WrongCell(ValueError):
    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def cells_of(item: ItemContent) -> tuple[str, ...]:
    """Write an item as the texts of a row, in the order of COLUMNS."""
    return tuple(_cell(item, column.field) for column in COLUMNS)


def _cell(item: ItemContent, field: str) -> str:
    if field in CRITERIA_COLUMNS:
        return to_cell(field, item.criteria.get(field))
    value = str(getattr(item, field))
    return label_of(field, value) if field in CHOICES else value


def read_rows(rows: Iterable[SheetRow], known: Mapping[str, ItemContent]) -> ReadTable:
    """Read a table. Columns may be in any order; one that is missing leaves the items of ``known`` as they are."""
    filled = [row for row in rows if any(value.strip() for value in row.values)]
    header = next((row for row in filled[:HEADER_WITHIN] if _columns(row).keys() >= NEEDED), None)
    if header is None:
        needed = ", ".join(title_of(field) for field in sorted(NEEDED))
        return refused(1, _("No sheet has a header row with the columns {names}.").format(names=needed))
    if doubled := _doubled(header):
        return refused(header.number, _("The column {name} stands there twice.").format(name=doubled))
    body = [row for row in filled if row.number > header.number]
    if not body:
        return refused(header.number, _("No check items stand below the header row."))
    if len(body) > MAX_ROWS:
        return refused(header.number, _("More than {limit} rows.").format(limit=MAX_ROWS))
    return _read_body(body, _columns(header), known)


def _read_body(rows: list[SheetRow], columns: Mapping[str, int], known: Mapping[str, ItemContent]) -> ReadTable:
    items: list[ItemContent] = []
    problems: list[RowProblem] = []
    first_row: dict[str, int] = {}
    for row in rows:
        cells = {field: row.values[at] if at < len(row.values) else "" for field, at in columns.items()}
        try:
            item = _item(cells, known)
        except _WrongCell as error:
            problems.append(RowProblem(row=row.number, column=title_of(error.field), message=error.message))
            continue
        if item.code in first_row:
            message = _("{code} stands in row {row} already.").format(code=item.code, row=first_row[item.code])
            problems.append(RowProblem(row=row.number, column=title_of("code"), message=message))
            continue
        first_row[item.code] = row.number
        items.append(item)
        problems += [
            RowProblem(row=row.number, column=title_of(remark.field), message=shown(remark.message))
            for remark in lint_item(item)
            if remark.weight is Weight.ERROR
        ]
    return ReadTable(items=tuple(items), problems=tuple(problems))


def _item(cells: Cells, known: Mapping[str, ItemContent]) -> ItemContent:
    code = _code(cells["code"])
    before = known.get(code) or ItemContent(code=code)
    values: dict[str, Any] = {}
    criteria = dict(before.criteria)
    for field, text in cells.items():
        if text in ERROR_VALUES:
            raise _WrongCell(field, _("The cell holds the spreadsheet error {error}.").format(error=text))
        if field in CRITERIA_COLUMNS:
            value = _criterion(field, text)
            criteria.pop(field, None)
            criteria |= {} if value in (None, "", []) else {field: value}
        elif field != "code":
            values[field] = _choice(field, text) if field in CHOICES else _text(field, text)
    # An unchanged cell is the stored value: what lines can't tell apart does not become a change.
    for field in CRITERIA_COLUMNS & cells.keys():
        if field in before.criteria and cells[field].strip() == to_cell(field, before.criteria[field]).strip():
            criteria[field] = before.criteria[field]
    try:
        check_json(criteria, "criteria", CURATED_JSON)
    except InvalidInput as error:
        raise _WrongCell("code", str(error)) from error
    values.setdefault("priority", before.priority)
    item = replace(before, **values, criteria=criteria)
    if not item.check_type:
        raise _WrongCell("check_type", _("It is empty."))
    return replace(item, strategy=item.strategy or STRATEGY_BY_TYPE[item.check_type])


def _code(text: str) -> str:
    code = "".join(normalise(text).translate(_DASHES).upper().split())
    if not code:
        raise _WrongCell("code", _("The code is missing (was its cell merged with another one?)."))
    if not _CODE.fullmatch(code) or len(code) > _LENGTHS["code"]:
        raise _WrongCell("code", _('"{given}" is no code such as BD-A01.').format(given=text.strip()))
    return code


def _text(field: str, text: str) -> str:
    limit = _LENGTHS.get(field)
    cleaned = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if limit and len(cleaned) > limit:
        raise _WrongCell(field, _("It has more than {limit} characters.").format(limit=limit))
    return cleaned


def _choice(field: str, text: str) -> str:
    if not text.strip():
        return Priority.MEDIUM.value if field == "priority" else ""
    code = code_of(field, text)
    if code is None:
        words = ", ".join(label_of(field, each) for each in CHOICES[field].values)
        raise _WrongCell(field, _('"{given}" is none of: {words}.').format(given=text.strip(), words=words))
    return code


def _criterion(field: str, text: str) -> object:
    try:
        if field == "threshold":
            return read_threshold(text)
        return from_cell(field, text) if field in LIST_CRITERIA else _text(field, text)
    except CellError as error:
        raise _WrongCell(field, shown(error.text)) from error


def _columns(row: SheetRow) -> dict[str, int]:
    return {field: at for at, value in enumerate(row.values) if (field := field_named(value))}


def _doubled(row: SheetRow) -> str:
    fields = [field for value in row.values if (field := field_named(value))]
    return next((title_of(field) for field in fields if fields.count(field) > 1), "")


def refused(row: int, message: str) -> ReadTable:
    """Return the table of a file that is refused as a whole."""
    return ReadTable(items=(), problems=(RowProblem(row=row, column="", message=message),))


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterImport:
    """What importing a file would do. With problems nothing can be imported.

    ``newer`` is the version that was made after the one the file was written from, when there is one: importing
    takes its changes back.
    """

    checklist: CheckList
    base: CheckListVersion | None
    items: tuple[ItemContent, ...]
    changes: tuple[ItemChange, ...]
    problems: tuple[RowProblem, ...]
    newer: int | None
