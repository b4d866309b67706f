"""REST calls about check masters."""

from __future__ import annotations

from typing import Annotated

from ninja import Query, Router, Schema

from hub.rest.auth import HubRequest
from review import schemas, services

router = Router()


class CheckItemQuery(Schema):
    checklist: str = ""
    document_type: str = ""
    check_type: str = ""


@router.get("/check-items", response=list[schemas.CheckItemOut])
def list_check_items(request: HubRequest, filters: Annotated[CheckItemQuery, Query()]) -> list[schemas.CheckItemOut]:
    """The check items in force."""
    found = services.list_check_items(request.principal, **filters.model_dump())
    return [schemas.check_item_out(checklist, item) for checklist, item in found]


@router.get("/checklists", response=list[schemas.ChecklistOut])
def list_checklists(request: HubRequest) -> list[schemas.ChecklistOut]:
    """All check lists."""
    return [schemas.checklist_out(checklist) for checklist in services.list_checklists(request.principal)]


@router.get("/checklists/{code}/versions", response=list[schemas.ChecklistVersionOut])
def list_checklist_versions(request: HubRequest, code: str) -> list[schemas.ChecklistVersionOut]:
    """The versions of a check list, newest first."""
    versions = services.list_checklist_versions(request.principal, code)
    return [schemas.checklist_version_out(version, code=code) for version in versions]
