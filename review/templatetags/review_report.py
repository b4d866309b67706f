"""Filters for reports and pages of reviews: words of a document made harmless, names for codes."""

from __future__ import annotations

import re

from django import template
from django.utils.translation import gettext

from hub.core.languages import shown
from review.masters.table import title_of
from review.rules.base import UnknownRuleError, get_rule
from review.runs.finding_schemas import suggestion_label
from review.types import JUDGED_BY_MODEL

register = template.Library()

_ACTIVE = re.compile(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))")  # inside of a word _ means nothing
_FENCE = re.compile(r"^([^\S\n]*)(`{3,}|~{3,})", re.MULTILINE)


@register.filter
def line(text: object) -> str:
    """Put a text on one line of Markdown in which nothing is markup."""
    flat = " ".join(str(text).split())
    return _ACTIVE.sub(r"\\\1", flat).replace("<", "&lt;")


register.filter("suggestion_label", suggestion_label)
register.filter("title_of_field", title_of)


@register.filter
def rule_title(rule_id: str) -> str:
    """What found it, in words: a rule by its title, or a language model. The id of a rule that is no more stays."""
    if rule_id == JUDGED_BY_MODEL:
        return gettext("language model")
    try:
        return shown(get_rule(rule_id).title)
    except UnknownRuleError:
        return rule_id


@register.filter
def fenced(text: object) -> str:
    """Keep a text from ending the code block that it is in."""
    return _FENCE.sub(r"\1'''", str(text))
