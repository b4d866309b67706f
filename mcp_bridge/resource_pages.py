"""Resources within HUB_MCP_OUTPUT_CHARS: what is too long is read page by page, with a cursor in the address."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.conf import settings
from lxml import etree
from mcp.server.lowlevel.helper_types import ReadResourceContents

from mcp_bridge.pages import Place, cursor_of, dump, page_of

CURSOR_IN_ADDRESS = "?cursor="
JSON = "application/json"
# The address of the next page.
NOTICE = 1_200


def page_of_contents(read: Iterable[ReadResourceContents], address: str, place: Place) -> list[ReadResourceContents]:
    """Take the page of a resource's contents that begins at ``place``: JSON, or XML that is RDF."""
    return [_page(content, address, place) for content in read]


def _page(content: ReadResourceContents, address: str, place: Place) -> ReadResourceContents:
    text = content.content if isinstance(content.content, str) else content.content.decode()
    budget = settings.CONFIG.hub_mcp_output_chars
    if content.mime_type != JSON:
        return ReadResourceContents(_page_of_xml(text, budget, address, place), content.mime_type, content.meta)
    page = page_of(json.loads(text), budget, place)
    facts = page.facts
    if page.left_out:
        facts = {**facts, "left_out": page.left_out}
    if page.following is not None:
        facts = {**facts, "next": _following(address, Place(given=page.following))}
    return ReadResourceContents(dump(facts), content.mime_type, content.meta)


def _following(address: str, place: Place) -> str:
    return address + CURSOR_IN_ADDRESS + cursor_of(place, name=address, arguments={})


def _page_of_xml(text: str, budget: int, address: str, place: Place) -> str:
    """Keep whole elements below the root, from ``place`` on; a comment has the address of the next page."""
    if len(text) <= budget and not place.given:
        return text
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(text.encode(), parser)
    elements = list(root)[place.given.get("elements", 0) :]
    for element in list(root):
        root.remove(element)
    room = budget - NOTICE - len(etree.tostring(root, encoding="unicode"))
    shown = 0
    for element in elements:
        room -= len(etree.tostring(element, encoding="unicode"))
        if room < 0 and shown:
            break
        root.append(element)
        shown += 1
    if shown < len(elements):
        given = {"elements": place.given.get("elements", 0) + shown}
        following = _following(address, Place(given=given))
        # a comment has no double hyphen, which a cursor may have
        root.append(etree.Comment(f" {len(elements) - shown} more: {following.replace('--', '-%2D')} "))
    return str(etree.tostring(root, encoding="unicode"))
