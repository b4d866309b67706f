"""Loading the texts that ship, so that curators find them where they keep their own."""

from __future__ import annotations

from django.db import transaction

from hub.core.publication import PublicationStatus, next_number, put_in_force
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.shipped_texts import SHIPPED
from mcp_bridge.prompts.templates import Template


@transaction.atomic
def load_shipped_prompts() -> None:
    """Publish our texts where there are none, and newer ones in place of our older ones; curated ones stay."""
    in_force = {row.template: row for row in PromptVersion.objects.filter(status=PublicationStatus.PUBLISHED)}
    for template, texts in SHIPPED.items():
        published = in_force.get(template)
        if published is None or (published.is_shipped and published.texts != texts):
            put_in_force(shipped_version(template))


def shipped_version(template: Template) -> PromptVersion:
    """Make the next version of a prompt, with the texts that ship; not stored yet."""
    texts = SHIPPED[template]
    version = PromptVersion(template=template, text_ja=texts["ja"], text_en=texts["en"], is_shipped=True)
    version.number = next_number(version.versions())
    return version
