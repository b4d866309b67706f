"""Shapes of check masters in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from hub.core.languages import in_language
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
    created_at: datetime
    approved_at: datetime | None


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
        created_at=version.created_at,
        approved_at=version.approved_at,
    )


def check_item_out(checklist: CheckList, item: CheckItemVersion) -> CheckItemOut:
    return CheckItemOut(
        check_item_id=item.item.code,
        version=item.number,
        checklist=checklist.code,
        category=item.item.category,
        name=in_language(item.name_ja, item.name_en),
        description=in_language(item.description_ja, item.description_en),
        check_type=item.check_type,
        strategy=item.strategy,
        document_types=checklist.document_types,
        guideline_reference=item.guideline_reference or None,
        priority=item.priority,
        criteria=item.criteria,
    )
