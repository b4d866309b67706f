"""Shapes of check masters in answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language, shown
from hub.core.shapes import TextOrNone, filled
from knowledge.types.notices import Notice
from review.masters.content import ItemChange
from review.masters.lint import Remark
from review.masters.table import MasterImport
from review.models import CheckItemVersion, CheckList, CheckListVersion

PEOPLE = ("author", "approved_by")


class ChecklistOut(BaseModel):
    code: str
    name: str
    document_types: list[str]
    ontology_domain: str


class ChecklistVersionOut(BaseModel):
    code: str
    version: int
    status: str
    reason: str
    author: str | None
    approved_by: str | None
    effective_from: date | None
    effective_to: date | None
    created_at: datetime
    approved_at: datetime | None
    retired_at: datetime | None


class FieldChangeOut(BaseModel):
    field: str
    old: Any
    new: Any


class ItemChangeOut(BaseModel):
    check_item_id: str
    name: str
    kind: str
    old_position: int | None
    new_position: int | None
    fields: list[FieldChangeOut]


class MasterDiffOut(BaseModel):
    code: str
    base: int | None
    version: int
    changes: list[ItemChangeOut]


class RowProblemOut(BaseModel):
    row: int
    column: str
    message: str


class MasterImportOut(BaseModel):
    """``newer_version``: a version made after the one that the file was written from; importing takes it back."""

    code: str
    base: int | None
    newer_version: int | None
    items: int
    changes: list[ItemChangeOut]
    problems: list[RowProblemOut]


class RemarkOut(BaseModel):
    check_item_id: str
    code: str
    field: str
    weight: str
    message: str
    decided_by: str = Field(description="rules, or llm for a remark of a language model")
    model: TextOrNone = Field(description="the language model that made the remark")
    rewording: TextOrNone = Field(description="what a language model would write instead")


class LintOut(BaseModel):
    code: str
    version: int
    remarks: list[RemarkOut]
    notices: list[dict[str, str]] = Field(description="what the language model did not look at, and why")


class CheckItemOut(BaseModel):
    check_item_id: str
    version: int
    checklist: str
    category: str
    name: str
    description: str
    check_type: str
    strategy: str
    document_types: list[str]
    guideline_reference: TextOrNone
    priority: str
    criteria: dict[str, Any]


def checklist_out(checklist: CheckList) -> ChecklistOut:
    return filled(ChecklistOut, checklist, name=str(checklist))


def checklist_version_out(version: CheckListVersion, *, code: str) -> ChecklistVersionOut:
    people = {name: person.get_username() if (person := getattr(version, name)) else None for name in PEOPLE}
    return filled(ChecklistVersionOut, version, code=code, version=version.number, **people)


def changes_out(changes: Iterable[ItemChange]) -> list[ItemChangeOut]:
    return [filled(ItemChangeOut, change, check_item_id=change.code) for change in changes]


def lint_out(code: str, version: int, remarks: Sequence[Remark], notices: Sequence[Notice]) -> LintOut:
    """What the lint says of a version, in the caller's language."""
    return LintOut(
        code=code,
        version=version,
        remarks=[filled(RemarkOut, each, check_item_id=each.item, message=shown(each.message)) for each in remarks],
        notices=[{"code": each.code, "text": shown(each)} for each in notices],
    )


def check_item_out(checklist: CheckList, item: CheckItemVersion) -> CheckItemOut:
    return filled(
        CheckItemOut,
        item,
        check_item_id=item.item.code,
        version=item.number,
        checklist=checklist.code,
        category=item.category or item.item.category,
        description=in_language(item.description_ja, item.description_en),
        document_types=checklist.document_types,
    )


def import_out(preview: MasterImport) -> MasterImportOut:
    return filled(
        MasterImportOut,
        preview,
        code=preview.checklist.code,
        base=preview.base.number if preview.base else None,
        newer_version=preview.newer,
        items=len(preview.items),
        changes=changes_out(preview.changes),
    )
