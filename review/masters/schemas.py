"""Shapes of check masters in answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language, shown
from knowledge.types.notices import Notice
from review.masters.content import ItemChange
from review.masters.lint import Remark
from review.masters.table import MasterImport
from review.models import CheckItemVersion, CheckList, CheckListVersion


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
    model: str | None = Field(description="the language model that made the remark")
    rewording: str | None = Field(description="what a language model would write instead")


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
    guideline_reference: str | None
    priority: str
    criteria: dict[str, Any]


def checklist_out(checklist: CheckList) -> ChecklistOut:
    return ChecklistOut(
        code=checklist.code,
        name=in_language(checklist.name_ja, checklist.name_en),
        document_types=checklist.document_types,
        ontology_domain=checklist.ontology_domain,
    )


def checklist_version_out(version: CheckListVersion, *, code: str) -> ChecklistVersionOut:
    return ChecklistVersionOut(
        code=code,
        version=version.number,
        status=version.status,
        reason=version.reason,
        author=version.author.get_username() if version.author else None,
        approved_by=version.approved_by.get_username() if version.approved_by else None,
        effective_from=version.effective_from,
        effective_to=version.effective_to,
        created_at=version.created_at,
        approved_at=version.approved_at,
        retired_at=version.retired_at,
    )


def changes_out(changes: Iterable[ItemChange]) -> list[ItemChangeOut]:
    return [
        ItemChangeOut(
            check_item_id=change.code,
            name=change.name,
            kind=change.kind,
            old_position=change.old_position,
            new_position=change.new_position,
            fields=[FieldChangeOut(field=each.field, old=each.old, new=each.new) for each in change.fields],
        )
        for change in changes
    ]


def remark_out(remark: Remark) -> RemarkOut:
    return RemarkOut(
        check_item_id=remark.item,
        code=remark.code,
        field=remark.field,
        weight=remark.weight,
        message=shown(remark.message),
        decided_by=remark.decided_by,
        model=remark.model or None,
        rewording=remark.rewording or None,
    )


def lint_out(code: str, version: int, remarks: Sequence[Remark], notices: Sequence[Notice]) -> LintOut:
    """What the lint says of a version, in the caller's language."""
    return LintOut(
        code=code,
        version=version,
        remarks=[remark_out(each) for each in remarks],
        notices=[{"code": each.code, "text": shown(each)} for each in notices],
    )


def check_item_out(checklist: CheckList, item: CheckItemVersion) -> CheckItemOut:
    return CheckItemOut(
        check_item_id=item.item.code,
        version=item.number,
        checklist=checklist.code,
        category=item.category or item.item.category,
        name=in_language(item.name_ja, item.name_en),
        description=in_language(item.description_ja, item.description_en),
        check_type=item.check_type,
        strategy=item.strategy,
        document_types=checklist.document_types,
        guideline_reference=item.guideline_reference or None,
        priority=item.priority,
        criteria=item.criteria,
    )


def import_out(preview: MasterImport) -> MasterImportOut:
    return MasterImportOut(
        code=preview.checklist.code,
        base=preview.base.number if preview.base else None,
        newer_version=preview.newer,
        items=len(preview.items),
        changes=changes_out(preview.changes),
        problems=[RowProblemOut(row=each.row, column=each.column, message=each.message) for each in preview.problems],
    )
