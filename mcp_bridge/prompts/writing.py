"""Writing a prompt: the text in force, its places filled, and the closing that no curator edits."""

from __future__ import annotations

from hub.core.publication import PublicationStatus
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.placeholders import fill_places
from mcp_bridge.prompts.shipped_texts import SHIPPED
from mcp_bridge.prompts.templates import Filling, Template, closing_of


def texts_in_force(template: Template) -> dict[str, str]:
    """The published texts by language, or those that ship where nobody has published any. One query."""
    published = PromptVersion.objects.filter(template=template, status=PublicationStatus.PUBLISHED).first()
    return published.texts if published else SHIPPED[template]


def write_prompt(filling: Filling) -> str:
    """Fill the text in force."""
    return fill_text(texts_in_force(filling.template), filling)


def fill_text(texts: dict[str, str], filling: Filling) -> str:
    """Fill one of the texts, and end it with the closing of its template. Texts must have passed ``check_places``."""
    written = fill_places(texts[filling.language], filling.values)
    return f"{written.rstrip()}\n\n{closing_of(filling.template, filling.language)}\n"
