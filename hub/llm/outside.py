"""The one door of texts to services outside: chat models, embedding models, knowledge bases.

Which classification may go there, whether somebody has to have confirmed that nobody trains on it, and whether personal
data is masked are decided here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification
from hub.llm.confirmations import find_confirmation
from hub.llm.errors import LlmRefused
from hub.llm.models import ProviderConfirmation


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service by the name that confirmations know it by.

    ``is_private``: it is in the own network. ``is_trusted``: nobody has to confirm anything.
    """

    name: str
    is_private: bool
    is_trusted: bool
    endpoint: str | None = None


def admit(service: Service, classification: Classification) -> ProviderConfirmation | None:
    """Let a text of this classification go to a service; gives the confirmation it rests on. One query at most.

    :raises LlmRefused: the classification is above what the service may see.
    """
    confirmation = None if service.is_trusted else find_confirmation(service.name, service.endpoint)
    ceiling = Classification.from_name(settings.CONFIG.llm_max_classification)
    if not service.is_private and classification > ceiling:
        raise LlmRefused(
            _(
                "Documents classified {given} are not sent to a language model outside; up to {ceiling} are "
                "(LLM_MAX_CLASSIFICATION)."
            ),
            code="llm_classification_too_high",
            given=classification.short,
            ceiling=ceiling.short,
        )
    unconfirmed = Classification.from_name(settings.CONFIG.llm_unconfirmed_classification)
    if not service.is_trusted and confirmation is None and classification > unconfirmed:
        raise LlmRefused(
            _(
                "Documents classified {given} are sent to {provider} only when an administrator has confirmed that it "
                "does not train on them (admin, No-training confirmations; or manage.py llm_confirmation); up to "
                "{ceiling} are without (LLM_UNCONFIRMED_CLASSIFICATION)."
            ),
            code="llm_no_training_not_confirmed",
            given=classification.short,
            provider=service.name,
            ceiling=unconfirmed.short,
        )
    return confirmation


def needs_masking(service: Service) -> bool:
    """Whether personal data is masked in what goes to a service (LLM_MASKING)."""
    setting = settings.CONFIG.llm_masking
    return setting == "always" or (setting == "auto" and not service.is_private)
