"""What is settled before a request is sent: model, limits, masking, price, and what it will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.conf import settings
from django.db.models import F

from hub.access.principals import Classification
from hub.core.masking import Masking
from hub.llm.budget import Price
from hub.llm.confirmations import find_confirmation
from hub.llm.models import TokenRate
from hub.llm.outside import Service, admit, needs_masking
from hub.llm.providers.registry import get_provider
from hub.llm.recordings import request_key
from hub.llm.tokens import estimate_request_tokens
from hub.llm.types import LlmRequest, NamesItsModel, Provider, Strength


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a request is for. ``document_ids`` are those whose text it holds: recorded answers go when they go.

    ``name`` is in the audit trail. ``classification`` is the highest of the documents'.
    """

    name: str
    document_ids: Sequence[str] = ()
    classification: Classification = Classification.C1


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a request will take: input as estimated, output at most."""

    tokens_in: int
    tokens_out: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A masked request and all that is known before it is sent."""

    request: LlmRequest
    model: str
    max_output_tokens: int
    masking: Masking
    key: str
    raw_tokens_in: int
    estimate: Estimate
    price: Price | None
    purpose: Purpose
    confirmation: int | None = None
    """The id of the provider's no-training confirmation; None where there is none, or none is needed."""


def model_of(strength: Strength) -> str:
    """The configured model: LLM_MODEL, or LLM_LIGHT_MODEL for light requests where there is one."""
    config = settings.CONFIG
    return str((strength is Strength.LIGHT and config.llm_light_model) or config.llm_model)


def estimate(request: LlmRequest) -> Estimate:
    """Tell what a request will take before it is sent. One query. :raises LlmUnavailable: no model is configured."""
    return prepare(get_provider(), request, Purpose(name="estimate")).estimate


def prepare(provider: Provider, request: LlmRequest, purpose: Purpose) -> Prepared:
    """Mask a request and settle its model and limits. One query, two for a provider outside.

    :raises LlmRefused: the documents' classification is above what the provider may see.
    """
    service = service_of(provider)
    confirmation = admit(service, purpose.classification)
    masking = Masking()
    if needs_masking(service):
        masked = tuple(replace(message, text=masking.mask(message.text)) for message in request.messages)
        request = replace(request, messages=masked)
    model = provider.model if isinstance(provider, NamesItsModel) else model_of(request.strength)
    limit = settings.CONFIG.llm_max_output_tokens
    max_output_tokens = min(request.max_output_tokens or limit, limit)
    raw_tokens = estimate_request_tokens(request)
    tokens_in = round(raw_tokens * token_rate(provider.name, model))
    price = None if isinstance(provider, NamesItsModel) else price_of(request.strength)
    return Prepared(
        request=request,
        model=model,
        max_output_tokens=max_output_tokens,
        masking=masking,
        key=request_key(request, provider=provider.name, model=model, max_output_tokens=max_output_tokens),
        raw_tokens_in=raw_tokens,
        estimate=Estimate(
            tokens_in=tokens_in,
            tokens_out=max_output_tokens,
            cost=price.cost(tokens_in, max_output_tokens) if price else None,
        ),
        price=price,
        purpose=purpose,
        confirmation=confirmation.pk if confirmation else None,
    )


def ceiling_of(provider: Provider) -> Classification:
    """The highest classification that a provider is sent. One query for a provider outside."""
    if provider.is_private:
        return Classification.C3
    ceiling = Classification.from_name(settings.CONFIG.llm_max_classification)
    if _is_trusted(provider) or find_confirmation(provider.name):
        return ceiling
    return min(ceiling, Classification.from_name(settings.CONFIG.llm_unconfirmed_classification))


def _is_trusted(provider: Provider) -> bool:
    """Whether nobody has to confirm anything: in the own network, and where the caller's own model is asked.

    What a caller's model is shown, the caller has been let see; what it does with it is between the two.
    """
    return provider.is_private or isinstance(provider, NamesItsModel)


def service_of(provider: Provider) -> Service:
    """Give the service that a provider's requests go to."""
    return Service(name=provider.name, is_private=provider.is_private, is_trusted=_is_trusted(provider))


def price_of(strength: Strength) -> Price | None:
    """The configured price of the model that answers; None where none is set."""
    config = settings.CONFIG
    is_light = strength is Strength.LIGHT and config.llm_light_model
    tokens_in = config.llm_light_price_in if is_light else config.llm_price_in
    tokens_out = config.llm_light_price_out if is_light else config.llm_price_out
    if tokens_in is None or tokens_out is None:
        return None
    return Price(tokens_in=tokens_in, tokens_out=tokens_out)


# One long or several short requests; below, chat templates weigh more than the vocabulary.
ENOUGH_TOKENS = 300
# Beyond these a count is an error of the provider's rather than a property of its vocabulary.
LEAST_RATE, GREATEST_RATE = 0.25, 4.0


def token_rate(provider: str, model: str) -> float:
    """How many tokens a model counts where the hub estimates one; 1 until enough is known. One query."""
    known = TokenRate.objects.filter(provider=provider, model=model[:200]).first()
    if known is None or known.estimated < ENOUGH_TOKENS:
        return 1.0
    return min(max(known.counted / known.estimated, LEAST_RATE), GREATEST_RATE)


def learn_token_rate(provider: str, model: str, *, estimated: int, counted: int) -> None:
    """Take in what a provider counted for a request that the hub had estimated. Two queries at most."""
    key = {"provider": provider, "model": model[:200]}
    more = {"estimated": F("estimated") + estimated, "counted": F("counted") + counted}
    if not TokenRate.objects.filter(**key).update(**more):
        _row, is_new = TokenRate.objects.get_or_create(**key, defaults={"estimated": estimated, "counted": counted})
        if not is_new:  # another process was first
            TokenRate.objects.filter(**key).update(**more)
