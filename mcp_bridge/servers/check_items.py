"""Behind get_check_items: the items in force, and as many of them as an answer may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput
from hub.rest.pagination import KeysetPage, cursor_scope, decode_cursor, encode_cursor
from mcp_bridge.servers.schemas import CheckItemResult
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
    shown, budget = 0, settings.CONFIG.hub_output_budget_chars
    for item in rest:
        budget -= len(item.model_dump_json())
        if budget < 0 and shown:
            break
        shown += 1
    is_last = shown == len(rest)
    following = None if is_last else encode_cursor({"after": _place(rest[shown - 1])}, scope=scope)
    return KeysetPage(items=list(rest[:shown]), next_cursor=following)


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
