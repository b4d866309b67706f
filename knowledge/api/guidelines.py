"""REST calls about guidelines and their articles."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from django.http import HttpResponse
from ninja import Field, File, Form, Query, Router, Schema, UploadedFile

from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
from hub.rest.responses import created
from hub.rest.schemas import LongText, ShortText, VersionNumber
from hub.rest.uploads import received_file
from knowledge.guidelines import editions, imports
from knowledge.guidelines import schemas as shapes

router = Router()


class GuidelineQuery(Schema):
    document_type: ShortText = Field("", description="only guidelines that oblige documents of this type")


class ArticleQuery(Schema):
    edition: VersionNumber | None = Field(None, description="default: the one in force")
    document_type: ShortText = Field("", description="only articles that oblige documents of this type")


class DiffQuery(Schema):
    base: VersionNumber | None = Field(None, description="default: the edition before")


class ImportIn(Schema):
    """What the file is. Prefix and name_ja are needed when the guideline is new."""

    code: ShortText
    prefix: ShortText = ""
    name_ja: ShortText = ""
    name_en: ShortText = ""
    source: LongText = ""
    publisher: ShortText = ""
    licence: ShortText = ""
    label: ShortText = ""
    effective_date: date | None = None


@router.get("/guidelines", response=list[shapes.GuidelineOut])
def list_guidelines(request: HubRequest, filters: Annotated[GuidelineQuery, Query()]) -> list[shapes.GuidelineOut]:
    """The guidelines with their editions, by code."""
    found = editions.list_guidelines(request.principal, document_type=filters.document_type)
    return [shapes.guideline_out(row) for row in found]


@router.post("/guidelines/import", response={201: shapes.EditionDiffOut})
def import_guideline(
    request: HubRequest, file: Annotated[UploadedFile, File()], fields: Annotated[ImportIn, Form()]
) -> HttpResponse:
    """Store a Markdown or Excel file as a draft edition; 422 names the wrong rows, and then nothing is stored."""
    asked = _asked(file, fields)
    edition = imports.import_edition(principal=request.principal, asked=asked)
    body = _diff(request, edition.guideline.code, edition.number, None)
    location = f"/api/v1/guidelines/{edition.guideline.code}/articles?edition={edition.number}"
    return created(request, location=location, body=body)


@router.post("/guidelines/import/preview", response=shapes.ImportPreviewOut)
@reads
def preview_guideline(
    request: HubRequest, file: Annotated[UploadedFile, File()], fields: Annotated[ImportIn, Form()]
) -> shapes.ImportPreviewOut:
    """Say what an import would change, and what is wrong in which row. Nothing is stored."""
    preview = imports.preview_import(principal=request.principal, asked=_asked(file, fields))
    return shapes.preview_out(preview)


def _asked(file: UploadedFile, fields: ImportIn) -> imports.GuidelineImport:
    with received_file(file) as received:
        content = received.path.read_bytes()
        return imports.GuidelineImport(filename=received.filename, content=content, **fields.model_dump())


@router.get("/guidelines/{article}", response=shapes.ArticleOut)
def get_article(request: HubRequest, article: str) -> shapes.ArticleOut:
    """An article in force by its code, such as PG-1.3, with the check items that rest on it."""
    found = editions.get_article(request.principal, article)
    related = editions.check_items_of([found.code]).get(found.code, [])
    return shapes.article_out(found, related_check_items=related)


@router.get("/guidelines/{guideline}/articles", response=list[shapes.ArticleRowOut])
def list_articles(
    request: HubRequest, guideline: str, filters: Annotated[ArticleQuery, Query()]
) -> list[shapes.ArticleRowOut]:
    """An edition's articles in order."""
    found = editions.list_articles(
        request.principal, guideline, edition=filters.edition, document_type=filters.document_type
    )
    return [shapes.article_row_out(row) for row in found]


@router.get("/guidelines/{guideline}/editions/{number}/diff", response=shapes.EditionDiffOut)
def diff_edition(
    request: HubRequest, guideline: str, number: int, filters: Annotated[DiffQuery, Query()]
) -> shapes.EditionDiffOut:
    """What an edition added, removed, changed and moved."""
    return _diff(request, guideline, number, filters.base)


@router.post("/guidelines/{guideline}/editions/{number}/publish", response=shapes.EditionOut)
def publish_edition(request: HubRequest, guideline: str, number: int) -> shapes.EditionOut:
    """Put a draft into force; check items that rest on what changed become suspect."""
    done = editions.publish_edition(principal=request.principal, code=guideline, number=number)
    return shapes.edition_out(done)


@router.post("/guidelines/{guideline}/editions/{number}/retire", response=shapes.EditionOut)
def retire_edition(request: HubRequest, guideline: str, number: int) -> shapes.EditionOut:
    """Take an edition out of force."""
    done = editions.retire_edition(principal=request.principal, code=guideline, number=number)
    return shapes.edition_out(done)


def _diff(request: HubRequest, guideline: str, number: int, base: int | None) -> shapes.EditionDiffOut:
    before, edition, changes = editions.compare_editions(request.principal, guideline, base=base, number=number)
    return shapes.EditionDiffOut(
        guideline=guideline,
        base=before.number if before else None,
        edition=edition.number,
        changes=shapes.changes_out(changes),
    )
