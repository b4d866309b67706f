"""Tools that tell what is there: collections with counts, reviews, a document's outline, the text of a section."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, Field

from hub.access.principals import Scope
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.collection_contents import list_contents
from knowledge.documents.documents import get_document
from knowledge.documents.sections import WHOLE, find_section, read_text
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers.schemas import Cursor, DocumentId
from review.runs.reviews import list_reviews as find_reviews
from review.runs.schemas import ReviewRowOut, review_row_out


class CollectionRow(BaseModel):
    slug: str
    name: str
    classification: str
    documents: int
    types: dict[str, int]
    may_upload: bool


class CollectionList(BaseModel):
    collections: list[CollectionRow]
    total_documents: int
    notices: list[dict[str, str]] = []


def list_collections() -> CollectionList:
    """List the collections (文書の集まり) that you may read: how many documents of which type, and may_upload.

    Use it first to learn what there is (何が登録されているか、全体像), and for the slug that collection arguments want.
    """
    rows = [CollectionRow(**asdict(row)) for row in list_contents(current_caller().principal)]
    notices = [] if rows else [NO_COLLECTION]
    return CollectionList(collections=rows, total_documents=sum(row.documents for row in rows), notices=notices)


class OutlineRow(BaseModel):
    section: str
    number: str | None
    level: int
    page: int | None
    characters: int


class SectionResult(BaseModel):
    document_id: str
    title: str
    version: int
    section_path: list[str]
    page: int | None
    start_offset: int
    text: str | None = None
    outline: list[OutlineRow] | None = None


def get_section(
    document_id: DocumentId,
    section: Annotated[
        str,
        Field(max_length=1000, description="number, heading, or headings joined by >", examples=["4", "4.1", "第3条"]),
    ] = "",
    outline: Annotated[
        bool | None,
        Field(description="the headings instead of the text; default: without section. false there: the whole text"),
    ] = None,
) -> SectionResult:
    """Read a document's outline (目次、章構成) or the whole text of a section with its subsections, verbatim.

    Use it when a section is named (第4章の全文、4.2 節を読む), or to see how a document is built.
    """
    text = read_text(current_caller().principal, document_id, part="section")
    found = find_section(text, section)
    wants_outline = found is WHOLE if outline is None else outline
    rows = [
        OutlineRow(section=one.title, number=one.number, level=one.level, page=one.page, characters=one.end - one.start)
        for one in text.below(found)
    ]
    return SectionResult(
        document_id=document_id,
        title=text.document.title,
        version=text.version.number,
        section_path=list(found.path),
        page=found.page,
        start_offset=found.start,
        text=None if wants_outline and rows else text.text_of(found),
        outline=rows if wants_outline and rows else None,
    )


class ReviewPage(BaseModel):
    items: list[ReviewRowOut]
    next_cursor: str | None
    notices: list[dict[str, str]] = []


def list_reviews(
    document_id: Annotated[str, Field(max_length=60, description="only of this document")] = "",
    limit: Annotated[int, Field(ge=1, le=100, description="reviews on a page")] = 20,
    cursor: Cursor = None,
) -> ReviewPage:
    """List reviews (過去のレビュー) that you may read, newest first: state, verdict, id.

    Use it to find earlier reviews of a document (レビュー履歴), or to see whether one is still running.
    """
    principal = current_caller().principal
    if document_id:
        get_document(principal, document_id)  # who may not see it is told that it is not there
    scope = cursor_scope("mcp.reviews", document_id=document_id)
    found = find_reviews(principal, document_id=document_id).select_related("version__document")
    page = paginate_keyset(found, limit=limit, cursor=cursor, scope=scope)
    notices = [NO_REVIEW] if not page.items and cursor is None else []
    return ReviewPage(
        items=[review_row_out(review) for review in page.items], next_cursor=page.next_cursor, notices=notices
    )


NO_COLLECTION = {
    "code": "no_collection",
    "ja": "読める文書の集まりがありません。管理者に権限を依頼してください。",
    "en": "There is no collection that you may read. Ask an administrator for a role in one.",
}
NO_REVIEW = {
    "code": "no_review",
    "ja": "読めるレビューはまだありません。review_document で始められます。",
    "en": "There is no review that you may read yet. review_document starts one.",
}
TOOLS: tuple[HubTool, ...] = (
    hub_tool(list_collections, title="Collections (文書の集まり)", scope=Scope.READ, picture="grid"),
    hub_tool(get_section, title="Outline or section (目次・章)", scope=Scope.READ, picture="document"),
    hub_tool(list_reviews, title="Reviews (レビュー一覧)", scope=Scope.READ, picture="list"),
)
