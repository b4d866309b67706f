"""Who has confirmed that a provider does not train on what it is sent, and on what evidence.

Without that, documents above LLM_UNCONFIRMED_CLASSIFICATION stay here. A confirmation is for one endpoint: another
LLM_BASE_URL is another provider.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.llm.models import ProviderConfirmation

EMBEDDINGS = "embeddings"
"""The name of the embedding model's provider, whichever backend it is."""


def endpoint_of(provider: str) -> str:
    """The service that a provider's requests go to: host and port, or the region of Amazon Bedrock."""
    config = settings.CONFIG
    if provider == EMBEDDINGS:
        return urlsplit(config.embedding_base_url).netloc.rpartition("@")[2].lower() or str(config.aws_region)
    if provider == "bedrock" and not config.llm_base_url:
        return str(config.aws_region)
    return urlsplit(config.llm_base_url).netloc.rpartition("@")[2].lower()


def find_confirmation(provider: str, endpoint: str | None = None) -> ProviderConfirmation | None:
    """The confirmation in force for a provider where its requests go, by default those of now. One query."""
    standing = ProviderConfirmation.objects.filter(withdrawn_at__isnull=True)
    return standing.filter(provider=provider, endpoint=endpoint_of(provider) if endpoint is None else endpoint).first()


def confirm_no_training(
    *, principal: Principal, evidence: str, retention: str, provider: str = ""
) -> ProviderConfirmation:
    """Record that a provider, by default that of language models, does not train on what it is sent. Operators.

    :raises InvalidInput: no evidence, or nothing about what is kept. :raises Conflict: there is one in force already,
        or no provider is configured.
    """
    principal.require_hub(HubRight.OPERATION)
    provider = provider or settings.CONFIG.llm_provider
    if provider == "none":
        raise Conflict(_("No language model is configured. Set LLM_PROVIDER, and what it needs."))
    for name, text in (("evidence", evidence), ("retention", retention)):
        if not text.strip():
            raise InvalidInput(_("{field} must say something: a confirmation without it is worth nothing."), field=name)
    with transaction.atomic():
        row, is_new = ProviderConfirmation.objects.get_or_create(
            provider=provider,
            endpoint=endpoint_of(provider),
            withdrawn_at=None,
            defaults={
                "evidence": evidence.strip(),
                "retention": retention.strip()[:300],
                "confirmed_by_id": principal.user_id,
                "confirmed_by_name": principal.name[:150],
            },
        )
        if not is_new:
            raise Conflict(_("{provider} is confirmed already; withdraw that first."), provider=str(row))
        _record(principal, row, "confirmed")
    return row


def withdraw_confirmation(*, principal: Principal, confirmation_id: int) -> None:
    """Take a confirmation back: from now on only what needs none is sent there. Twice is no error. Raises NotFound."""
    principal.require_hub(HubRight.OPERATION)
    with transaction.atomic():
        row = ProviderConfirmation.objects.select_for_update().filter(pk=confirmation_id).first()
        if row is None:
            raise NotFound(_("There is no such confirmation."))
        if row.withdrawn_at is None:
            row.withdrawn_at, row.withdrawn_by_name = timezone.now(), principal.name[:150]
            row.save(update_fields=["withdrawn_at", "withdrawn_by_name"])
            _record(principal, row, "withdrawn")


def _record(principal: Principal, row: ProviderConfirmation, what: str) -> None:
    facts = {"confirmation": row.pk, "no_training": what}
    record_event(principal, "CONFIG_CHANGE", f"llm:{row}"[:200], **facts)
