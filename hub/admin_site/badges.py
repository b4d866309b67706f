"""Small pieces of HTML for lists: badges of states, verdicts and severities, bars, two-line cells."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString

KINDS = {
    "ready": "good",
    "pass": "good",
    "completed": "good",
    "approved": "good",
    "published": "good",
    "active": "good",
    "ok": "good",
    "failed": "bad",
    "fail": "bad",
    "error": "bad",
    "critical": "bad",
    "revoked": "bad",
    "needs_ocr": "warn",
    "warning": "warn",
    "major": "warn",
    "expired": "warn",
    "draft": "info",
    "minor": "info",
    "queued": "info",
    "running": "info",
    "stored": "info",
    "parsing": "info",
    "chunking": "info",
    "embedding": "info",
    "accepted": "warn",
    "fixed": "good",
    "waived": "info",
}


def badge(code: str, text: str | Promise) -> SafeString:
    """Render ``text`` in the colour of what ``code`` means; unknown codes are grey."""
    return format_html('<span class="hub-badge hub-badge-{}">{}</span>', KINDS.get(code, "plain"), text)


def progress_bar(percent: int) -> SafeString:
    """Render 0 to 100 as a bar that a script may move."""
    return format_html('<progress class="hub-progress" max="100" value="{}">{} %</progress>', percent, percent)


def two_lines(first: object, second: object) -> SafeString:
    """Render a value with a smaller one below it."""
    return format_html('<span class="hub-first">{}</span><span class="hub-second">{}</span>', first, second)
