"""Tools of smartreviewer-core: documents in, reviews and reports out."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult
from pydantic import Field

from hub.access.principals import Scope
from knowledge.documents.workers import work_through
from mcp_bridge.caller import current_caller, principal_now
from mcp_bridge.events import have_queue
from mcp_bridge.results import PagedCall, review_in_brief, review_in_text
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers import checks, emptiness, evaluation, listing, reviews, sampling, uploads
from mcp_bridge.servers.checks import find_items, within_budget
from mcp_bridge.servers.schemas import (
    CheckItemsResult,
    ChunkingOptionsIn,
    Cursor,
    Detail,
    DocumentId,
    DocumentTypeCode,
    ReportOptionsIn,
    ReportResult,
    ReviewId,
    ReviewOptionsIn,
    ReviewResult,
    UploadResult,
)
from mcp_bridge.servers.waiting import wait_or_leave_running, wait_reporting
from mcp_bridge.threads import in_thread
from review.report import RENDERERS, ReportOptions, build_report
from review.runs.reviews import wait_for_review

DEFAULT_REVIEW_OPTIONS = ReviewOptionsIn()
DEFAULT_REPORT_OPTIONS = ReportOptionsIn()


def _read_review(given: Mapping[str, Any], result: Mapping[str, Any]) -> PagedCall:
    """Whatever tool showed a review, get_review reads on in it."""
    arguments = {"review_id": result.get("review_id", given.get("review_id")), "detail": given.get("detail", "brief")}
    return PagedCall(tool="get_review", name="review", arguments=arguments)


async def review_document(
    document_id: DocumentId,
    ctx: Context[Any, Any],
    check_items: Annotated[
        list[Annotated[str, Field(max_length=60)]] | None,
        Field(max_length=1000, description="codes; default: all of the check list", examples=[["BD-B02", "BD-C01"]]),
    ] = None,
    checklist: Annotated[
        str, Field(max_length=60, description="code such as basic-design; default: the one for the document's type")
    ] = "",
    options: Annotated[
        ReviewOptionsIn, Field(description="how long to wait, who judges, how much to answer")
    ] = DEFAULT_REVIEW_OPTIONS,
    detail: Detail = "brief",
    review_id: Annotated[str, Field(max_length=60, description="wait for and show this one, start nothing")] = "",
) -> ReviewResult | InputRequiredResult:
    """Review a stored document (文書レビュー・点検) against a check list: findings (指摘事項), suggestions (是正提案).

    Use it to start a review, on 基本設計書 (basic-design) and テスト計画書 (test-plan) that were uploaded before;
    upload_document or list_documents gives the id. Each finding has the severity, the place and a verified quote.

    Waits up to options.wait_seconds (45). When status is queued or running then, call it again with the review_id, or
    subscribe to resource_uri; the same call while the review runs joins it. Checks that need a language model are
    judged by the hub's, else by yours where you offer sampling, else skipped.
    """
    if not review_id and sampling.is_wanted(ctx, options):
        review = await sampling.begin(ctx, document_id, check_items or [], checklist, options)
        asked = await sampling.judge(ctx, review, limit_s=options.wait_seconds)
        if asked is not None:
            return asked
        return await in_thread(reviews.show, await principal_now(), review.public_id, Scope.REVIEW)
    principal = current_caller().principal
    if review_id:
        review = await in_thread(reviews.find, principal, review_id, document_id)
    else:
        review = await in_thread(reviews.start_or_join, principal, document_id, check_items or [], checklist, options)
    await wait_or_leave_running(
        ctx,
        name=f"review-{review.public_id}",
        wait=lambda seconds: wait_for_review(review, timeout_s=seconds),
        progress=lambda: reviews.progress(review),
        limit_s=options.wait_seconds,
    )
    return await in_thread(reviews.show, await principal_now(), review.public_id, Scope.REVIEW)


def get_review(
    review_id: ReviewId,
    detail: Detail = "brief",
) -> ReviewResult:
    """Read a review that was started before (レビュー結果・進捗の確認): state, progress, results, findings so far.

    Use it after review_document answered with status queued or running (レビュー中・完了したか), or to look at an
    older one (過去のレビュー) again. status: queued, running, completed, failed, cancelled. verdict: pass, warning,
    fail, error.
    """
    return reviews.show(current_caller().principal, review_id, Scope.READ)


def cancel_review(review_id: ReviewId) -> ReviewResult:
    """Stop a review (レビューの中止・取り消し) that is queued or running.

    Use it when the person no longer wants it. The results that it has stay; a finished one is left as it is.
    """
    have_queue()
    return reviews.cancel(current_caller().principal, review_id)


async def upload_document(
    content: Annotated[
        str, Field(description="the file: its text, or its bytes in base64", examples=["# 設計書\n\n## 1 目的\n"])
    ],
    filename: Annotated[
        str, Field(min_length=1, max_length=500, description="with its extension", examples=["設計書.md", "計画.docx"])
    ],
    ctx: Context[Any, Any],
    document_type: DocumentTypeCode = "",
    metadata: Annotated[
        dict[str, Any] | None, Field(description="author, project, version, classification (c1, c2, c3) …")
    ] = None,
    options: Annotated[ChunkingOptionsIn | None, Field(description="how the text is cut")] = None,
    content_encoding: Annotated[
        Literal["auto", "text", "base64"],
        Field(description="auto: text for md, txt, csv, html, else base64"),
    ] = "auto",
    collection: Annotated[str, Field(max_length=63, description="slug of the collection")] = "default",
    path: Annotated[str, Field(max_length=1000, description="in the collection; default: filename")] = "",
    title: Annotated[str, Field(max_length=500, description="default: the text's own, else filename")] = "",
    replace: Annotated[bool, Field(description="take over a path of another uploader (curators)")] = False,
    anonymise: Annotated[
        list[str] | None,
        Field(
            max_length=200,
            description="replaced before storing: email, phone, my_number, address, account, card, token, field names",
        ),
    ] = None,
    wait_seconds: Annotated[float, Field(ge=0, le=300, description="until it is searchable")] = 0,
) -> UploadResult:
    """Take a document in (文書アップロード・登録・取り込み): it is parsed, cut into chunks and indexed.

    Use it when the person gives a file or a text (添付ファイル、本文) to keep, search or review. Gives document_id and
    processing_status: completed, processing or failed (status_reason says why). review_document waits for it. The same
    path with other content makes a new version. Beyond HUB_MCP_MAX_BYTES (4 MiB): POST /documents of the REST API.
    """
    emptiness.refuse_empty("content", content)
    caller = current_caller()
    outcome = await in_thread(
        uploads.store,
        caller.principal,
        content=content,
        encoding=content_encoding,
        filename=filename,
        metadata=metadata or {},
        anonymise=anonymise or (),
        chunking=options,
        document_type=document_type,
        collection=collection,
        path=path,
        title=title,
        replace=replace,
    )
    version_id = outcome.document.latest_version_id
    limit_s = await in_thread(uploads.time_to_wait, is_local=caller.is_local, wait_seconds=wait_seconds)
    if version_id is not None and limit_s != 0:
        await wait_reporting(
            ctx,
            step=lambda seconds: work_through([version_id], timeout_s=seconds),
            progress=lambda: uploads.progress(caller.principal, outcome.document.public_id),
            limit_s=limit_s,
        )
    return await in_thread(uploads.show, await principal_now(), outcome)


def get_check_items(
    document_type: DocumentTypeCode = "",
    priority: Annotated[Literal["critical", "high", "medium", "low"] | None, Field(description="only these")] = None,
    check_type: Annotated[
        Literal["terminology", "style", "compliance", "traceability", "coverage", "composite"] | None,
        Field(description="only these"),
    ] = None,
    checklist: Annotated[str, Field(max_length=60, description="code of one check list")] = "",
    cursor: Cursor = None,
) -> CheckItemsResult:
    """List the check items (チェック項目一覧、確認する観点) in force, in the order of their check lists.

    Use it to tell what a kind of document is checked for (何を確認するか、優先度、種別), to choose check_items for
    review_document, or to explain what a finding was checked against.
    """
    filters = {
        "document_type": document_type,
        "priority": priority or "",
        "check_type": check_type or "",
        "checklist": checklist,
    }
    found = find_items(current_caller().principal, **filters)
    page = within_budget(found, cursor=cursor, filters=filters)
    applied = [f"{name}={value}" for name, value in filters.items() if value]
    return CheckItemsResult(
        check_items=page.items,
        total=len(found),
        filters_applied=applied,
        next_cursor=page.next_cursor,
        notices=[] if found else [emptiness.no_check_items(current_caller().principal, filters)],
    )


def create_report(
    review_id: ReviewId,
    format: Annotated[  # the argument's public name
        str,
        Field(max_length=20, description="how the report is written", json_schema_extra={"enum": sorted(RENDERERS)}),
    ] = "json",
    options: Annotated[
        ReportOptionsIn, Field(description="language, parts, and an earlier review to compare with")
    ] = DEFAULT_REPORT_OPTIONS,
) -> ReportResult:
    """Write the report of a review (レビュー報告書の出力・ダウンロード), with its summary beside it.

    Use it to turn a review into a file for people (Excel の指摘管理表、Word、指摘付き文書). Use markdown to show it
    to people, json to work on, html to print. xlsx, docx and annotated (the reviewed file with comments) come in
    base64, to be saved under filename. A review that still runs gives a report of what there is.
    """
    principal = current_caller().principal
    report = build_report(
        principal=principal,
        review_id=review_id,
        report_format=format,
        language=options.language or "",
        baseline=options.baseline,
        options=ReportOptions(
            summary=options.include_summary, details=options.include_details, evidence=options.include_evidence
        ),
    )
    content = report.content.decode() if report.is_text else base64.b64encode(report.content).decode()
    return ReportResult(
        report_content=content,
        content_encoding="text" if report.is_text else "base64",
        format=format,
        content_type=report.content_type,
        filename=report.filename,
        review_id=review_id,
        summary=reviews.show(principal, review_id, Scope.READ).summary,
    )


_review_tool = partial(hub_tool, in_brief=review_in_brief, in_text=review_in_text, read_on=_read_review)
TOOLS: tuple[HubTool, ...] = (
    _review_tool(
        review_document,
        title="Review a document (文書レビュー)",
        scope=Scope.REVIEW,
        held=[Scope.REVIEW],
        picture="check",
        read_only=False,
        idempotent=False,
    ),
    hub_tool(
        upload_document,
        title="Upload a document (文書アップロード)",
        scope=Scope.UPLOAD,
        held=[Scope.UPLOAD],
        picture="upload",
        read_only=False,
    ),
    hub_tool(get_check_items, title="Check items (チェック項目)", scope=Scope.READ, picture="list"),
    hub_tool(create_report, title="Review report (レビュー報告書)", scope=Scope.READ, picture="report"),
    _review_tool(
        get_review,
        title="Read a review (レビュー結果)",
        scope=Scope.READ,
        picture="document",
        result_like="review_document",
    ),
    _review_tool(
        cancel_review,
        title="Cancel a review (レビュー中止)",
        scope=Scope.REVIEW,
        held=[Scope.REVIEW],
        picture="stop",
        read_only=False,
        destructive=True,
        result_like="review_document",
    ),
    listing.TOOL,
    checks.TOOL,
    evaluation.TOOL,
)
