"""REST calls about check masters."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, File, Form, Query, Router, Schema, UploadedFile

from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
from hub.rest.responses import created
from hub.rest.schemas import LongText, ShortText, ShortTexts, VersionNumber
from hub.rest.uploads import received_file
from review.curation import item_lint, master_files, master_versions
from review.masters import listing
from review.masters import schemas as shapes
from review.masters.listing import get_checklist_version
from review.masters.schemas import (
    CheckItemOut,
    ChecklistOut,
    ChecklistVersionOut,
    check_item_out,
    checklist_out,
    checklist_version_out,
)

router = Router()


class CheckItemQuery(Schema):
    checklist: ShortText = ""
    document_type: ShortText = ""
    check_type: ShortText = ""


@router.get("/check-items", response=list[CheckItemOut])
def list_check_items(request: HubRequest, filters: Annotated[CheckItemQuery, Query()]) -> list[CheckItemOut]:
    """The check items in force."""
    found = listing.list_check_items(request.principal, **filters.model_dump())
    return [check_item_out(checklist, item) for checklist, item in found]


@router.get("/checklists", response=list[ChecklistOut])
def list_checklists(request: HubRequest) -> list[ChecklistOut]:
    """All check lists."""
    return [checklist_out(checklist) for checklist in listing.list_checklists(request.principal)]


@router.get("/checklists/{code}/versions", response=list[ChecklistVersionOut])
def list_checklist_versions(request: HubRequest, code: str) -> list[ChecklistVersionOut]:
    """The versions of a check list, newest first."""
    versions = listing.list_checklist_versions(request.principal, code)
    return [checklist_version_out(version, code=code) for version in versions]


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class VersionQuery(Schema):
    version: VersionNumber | None = Field(None, description="default: the one in force")


class LintQuery(VersionQuery):
    judge: Literal["rules", "llm"] = Field("rules", description="llm: a language model looks at the wording, too")


class DiffQuery(Schema):
    base: VersionNumber | None = Field(None, description="default: the version before")


class ChecklistIn(Schema):
    code: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)
    name_ja: str = Field(min_length=1, max_length=200)
    name_en: str = Field("", max_length=200)
    document_types: ShortTexts = []
    ontology_domain: str = Field("", max_length=60)


class ImportQuery(Schema):
    publish: bool = Field(False, description="approve the new version at once")
    replaces: VersionNumber | None = Field(
        None, description="the newer_version of the preview, of who knows that importing takes its changes back"
    )


class ImportIn(Schema):
    reason: LongText = ""


class ApproveIn(Schema):
    effective_from: date | None = None
    effective_to: date | None = None
    replaces: VersionNumber | None = Field(
        None,
        description="number of a version that came into force after the draft was begun, of who knows that approving "
        "takes its changes back",
    )


@router.post("/checklists", response={201: ChecklistOut})
def create_checklist(request: HubRequest, body: ChecklistIn) -> HttpResponse:
    """Make a check list without versions; import its items next."""
    made = master_versions.create_checklist(principal=request.principal, **body.dict())
    location = f"/api/v1/checklists/{made.code}/versions"
    return created(request, location=location, body=checklist_out(made))


@router.get("/checklists/{code}/export.xlsx", response={200: bytes})
def export_checklist_xlsx(request: HubRequest, code: str, filters: Annotated[VersionQuery, Query()]) -> HttpResponse:
    """A version as a workbook for editing, one row per item."""
    content = master_files.export_checklist(request.principal, code, number=filters.version)
    return _file(content, f"{code}.xlsx", XLSX)


@router.get("/checklists/{code}/export.csv", response={200: bytes})
def export_checklist_csv(request: HubRequest, code: str, filters: Annotated[VersionQuery, Query()]) -> HttpResponse:
    """A version as CSV with the columns of the workbook."""
    content = master_files.export_checklist(request.principal, code, number=filters.version, as_csv=True)
    return _file(content, f"{code}.csv", "text/csv; charset=utf-8")


@router.post("/checklists/{code}/import", response={201: ChecklistVersionOut})
def import_checklist(
    request: HubRequest,
    code: str,
    file: Annotated[UploadedFile, File()],
    fields: Annotated[ImportIn, Form()],
    filters: Annotated[ImportQuery, Query()],
) -> HttpResponse:
    """Store an edited workbook or CSV as a draft version; 422 names the wrong rows, and then nothing is stored.

    409 `base_overtaken` when the file was written from an older version and `replaces` does not name the newer one.
    """
    with received_file(file) as received:
        made = master_files.import_checklist(
            principal=request.principal,
            code=code,
            filename=received.filename,
            content=received.path.read_bytes(),
            publish=filters.publish,
            reason=fields.reason,
            replaces=filters.replaces,
        )
    location = f"/api/v1/checklists/{code}/versions/{made.number}/diff"
    return created(request, location=location, body=checklist_version_out(made, code=code))


@router.post("/checklists/{code}/import/preview", response=shapes.MasterImportOut)
@reads
def preview_import(request: HubRequest, code: str, file: Annotated[UploadedFile, File()]) -> shapes.MasterImportOut:
    """Say what an import would change, and what is wrong in which row. Nothing is stored."""
    with received_file(file) as received:
        preview = master_files.preview_import(
            principal=request.principal, code=code, filename=received.filename, content=received.path.read_bytes()
        )
    return shapes.import_out(preview)


@router.post("/checklists/{code}/lint", response=shapes.LintOut)
@reads
def lint_checklist(request: HubRequest, code: str, filters: Annotated[LintQuery, Query()]) -> shapes.LintOut:
    """What to look at in a version before it is approved; errors keep it from being approved."""
    report = item_lint.lint_checklist(
        request.principal, code, number=filters.version, with_model=filters.judge == "llm"
    )
    return shapes.lint_out(code, report.version, report.remarks, report.notices)


@router.get("/checklists/{code}/versions/{number}/diff", response=shapes.MasterDiffOut)
def diff_checklist(
    request: HubRequest, code: str, number: int, filters: Annotated[DiffQuery, Query()]
) -> shapes.MasterDiffOut:
    """What a version changes, item by item and field by field."""
    diff = master_versions.compare_versions(request.principal, code, number=number, base=filters.base)
    base = diff.base.number if diff.base else None
    return shapes.MasterDiffOut(code=code, base=base, version=number, changes=shapes.changes_out(diff.changes))


@router.post("/checklists/{code}/versions/{number}/approve", response=ChecklistVersionOut)
def approve_checklist(request: HubRequest, code: str, number: int, body: ApproveIn) -> ChecklistVersionOut:
    """Approve a draft with the draft items that it holds, for some days or for good.

    409 `base_overtaken` when another version came into force after it was begun and `replaces` does not name that one.
    """
    version = get_checklist_version(request.principal, code, number)
    master_versions.approve_checklist_version(principal=request.principal, version=version, **body.dict())
    return checklist_version_out(version, code=code)


@router.post("/checklists/{code}/versions/{number}/retire", response=ChecklistVersionOut)
def retire_checklist(request: HubRequest, code: str, number: int) -> ChecklistVersionOut:
    """Take an approved version out of use."""
    version = get_checklist_version(request.principal, code, number)
    master_versions.retire_version(principal=request.principal, version=version)
    return checklist_version_out(version, code=code)


def _file(content: bytes, filename: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)
