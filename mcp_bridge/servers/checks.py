"""Behind get_check_items, and check_text: what is checked, and judging a text without storing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Annotated, Literal

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput
from hub.rest.pagination import KeysetPage, cursor_scope, decode_cursor, encode_cursor
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers.emptiness import refuse_empty
from mcp_bridge.servers.schemas import CheckItemResult
from review.lint import MAX_CHARACTERS, LintOut, lint_out, lint_text
from review.masters.listing import list_check_items
from review.masters.schemas import check_item_out


def find_items(
    principal: Principal, *, checklist: str = "", document_type: str = "", check_type: str = "", priority: str = ""
) -> list[CheckItemResult]:
    """Give all items in force that pass the filters, in the order of their check lists."""
    found = list_check_items(principal, checklist=checklist, document_type=document_type, check_type=check_type)
    return [
        CheckItemResult(
            **dict(item),
            id=item.check_item_id,
            type=item.check_type,
            domain=owner.ontology_domain,
            guideline_ref=item.guideline_reference,
        )
        for owner, item in ((owner, check_item_out(owner, item)) for owner, item in found)
        if priority in ("", item.priority)
    ]


def within_budget(
    items: Sequence[CheckItemResult], *, cursor: str | None, filters: Mapping[str, str]
) -> KeysetPage[CheckItemResult]:
    """Keep the items behind ``cursor`` whose JSON fits into HUB_OUTPUT_BUDGET_CHARS, and at least one.

    :raises InvalidInput: the cursor is not one of this list, or the item that it stands at is no longer in force.
    """
    scope = cursor_scope("mcp.check_items", **filters)
    rest = items[_start(items, decode_cursor(cursor, scope=scope)) :] if cursor else items
    shown = _fitting(rest)
    is_last = shown >= len(rest)
    following = None if is_last else encode_cursor({"after": _place(rest[shown - 1])}, scope=scope)
    return KeysetPage(items=list(rest[:shown]), next_cursor=following)


def _fitting(items: Iterable[BaseModel]) -> int:
    """How many of the first items have JSON that fits into HUB_OUTPUT_BUDGET_CHARS; at least one."""
    sizes = accumulate(len(item.model_dump_json()) for item in items)
    return max(1, sum(1 for _size in takewhile(lambda size: size <= settings.CONFIG.hub_output_budget_chars, sizes)))


def _start(items: Sequence[CheckItemResult], position: Mapping[str, object]) -> int:
    places = [_place(item) for item in items]
    if position["after"] not in places:
        raise InvalidInput(
            _("The check items have changed since the cursor was issued. Start again without a cursor."),
            code="invalid_cursor",
        )
    return places.index(str(position["after"])) + 1


def _place(item: CheckItemResult) -> str:
    return f"{item.checklist}/{item.id}"


def check_text(
    text: Annotated[
        str,
        Field(
            max_length=MAX_CHARACTERS,
            description="the text itself, in Japanese or English",
            examples=["利用者が画面から履歴を見れるように、適切に対応すること。"],
        ),
    ],
    rules: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(
            max_length=200,
            description="rule ids (style.sentence_length), prefixes (style.*) or aliases (textlint:no-doubled-joshi); "
            "default: the usual ones",
        ),
    ] = [],  # noqa: B006 (never changed; pydantic shows it as the default)
    format: Annotated[
        Literal["markdown", "text"], Field(description="markdown leaves code, URLs and quotations out")
    ] = "markdown",
) -> LintOut:
    """Judge a text by the rules of style and wording (文章校正、推敲): findings with places, some with a fix.

    Use it on a passage or a draft that stands in the conversation (誤字、表記ゆれ、曖昧な表現、長い文、文体の混在),
    and on what you wrote yourself. Nothing is stored. For checks that need a whole document (numbering, traceability,
    coverage) use review_document.
    """
    refuse_empty("text", text)
    result = lint_text(principal=current_caller().principal, text=text, rules=rules, text_format=format)
    checked = lint_out(result)
    shown = _fitting(checked.findings)
    if shown >= len(checked.findings):
        return checked
    notice = {
        "code": "findings_left_out",
        "ja": f"指摘 {checked.total_findings} 件のうち最初の {shown} 件です。残りは本文を分けて確認してください。",
        "en": f"The first {shown} of {checked.total_findings} findings. Check the text in parts for the rest.",
    }
    return checked.model_copy(update={"findings": checked.findings[:shown], "notices": [*checked.notices, notice]})


TOOL: HubTool = hub_tool(check_text, title="Check a text (文章校正)", scope=Scope.READ, picture="check")
