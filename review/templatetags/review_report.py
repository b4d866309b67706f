"""Filters for reports: words of a document made harmless where they could be taken for markup."""

from __future__ import annotations

import re

from django import template

from review.runs.finding_schemas import suggestion_label

register = template.Library()

_ACTIVE = re.compile(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))")  # inside of a word _ means nothing
_FENCE = re.compile(r"^([^\S\n]*)(`{3,}|~{3,})", re.MULTILINE)


@register.filter
def line(text: object) -> str:
    """Put a text on one line of Markdown in which nothing is markup."""
    flat = " ".join(str(text).split())
    return _ACTIVE.sub(r"\\\1", flat).replace("<", "&lt;")


register.filter("suggestion_label", suggestion_label)


@register.filter
def fenced(text: object) -> str:
    """Keep a text from ending the code block that it is in."""
    return _FENCE.sub(r"\1'''", str(text))
