"""Badges and bars for the admin's own pages."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString, mark_safe

from hub.admin_site import pages

register = template.Library()


@register.simple_tag
def badge(code: str, text: str) -> SafeString:
    """Render ``text`` in the colour of what ``code`` means."""
    return pages.badge(code, text)


@register.simple_tag
def coded_badge(code: str, texts: Mapping[str, str]) -> SafeString:
    """Render the text that belongs to ``code``."""
    return pages.badge(code, texts.get(code, code))


@register.simple_tag
def progress_bar(percent: int) -> SafeString:
    """Render 0 to 100 as a bar."""
    return pages.progress_bar(percent)


@register.filter
def with_landmark(page: SafeString) -> SafeString:
    """Make Unfold's frame around the content of a page the landmark that it lacks, for readers of the screen."""
    return mark_safe(page.replace('<div id="main" ', '<div id="main" role="main" tabindex="-1" ', 1))  # noqa: S308
