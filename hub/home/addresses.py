"""Addresses of home pages that several lead to, and places in words."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from knowledge.types.search import Hit


def passage_address(document_id: str, version: int, start: int, end: int) -> str:
    """Give the address of a passage by itself, which leads on to its document."""
    place = urlencode({"version": version, "start": start, "end": end})
    return f"{reverse('passage', args=[document_id])}?{place}"


def document_address(document_id: str, version: int, start: int, end: int) -> str:
    """Give the address of a document's page at a marked passage."""
    place = urlencode({"version": version, "start": start, "end": end})
    return f"{reverse('document', args=[document_id])}?{place}#passage"


def page_address(document_id: str, version: int, page: int, width: int | None = None) -> str:
    """Give the address of a page of the original, drawn ``width`` pixels wide, or as wide as its place."""
    size = {} if width is None else {"width": width}
    return f"{reverse('page', args=[document_id, page])}?{urlencode({'version': version, **size})}"


def page_picture_address(document_id: str, version: int, page: int, width: int) -> str:
    """Give the address of the picture of a page of the original."""
    return f"{reverse('page-picture', args=[document_id, page])}?{urlencode({'version': version, 'width': width})}"


def place_of(hit: Hit) -> str:
    """Say where in its document a passage is: headings, page, cell."""
    parts = [" › ".join(hit.section_path), f"p. {hit.page}" if hit.page is not None else "", hit.cell or ""]
    return ", ".join(part for part in parts if part)
