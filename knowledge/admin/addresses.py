"""Addresses of admin pages that are led to from several pages."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse


def passage_address(document_id: str, version: int, start: int | None, end: int | None) -> str:
    """Return the address of a document's page with a passage marked; with none where there is no ``start``."""
    link = reverse("admin:knowledge_document_by_id", args=[document_id])
    if start is None:
        return link
    return f"{link}?{urlencode({'version': version, 'start': start, 'end': end or start})}"
