"""Token counts of models, learnt from what their providers count."""

from __future__ import annotations

from django.db.models import F

from hub.llm.models import TokenRate

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
