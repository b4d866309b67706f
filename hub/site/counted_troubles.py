"""What all processes count and an operator has to know: more failures within a quarter of an hour than there may be."""

from __future__ import annotations

from datetime import timedelta
from time import time as clock

from django.core.cache import cache
from django.utils.translation import gettext as _

from hub.core.measures import BUDGET_REFUSALS, HTTP_ANSWERS, MCP_FAILURES, totals

WITHIN = timedelta(minutes=15)
MCP_FAILING_FROM = 5  # there should be none
FAILING_FROM = 5  # and more than the share
ERRORS_SHARE = 0.05  # of what known callers asked for
FAILING_ANYHOW_FROM = 20  # however much one of them asks for beside
_SUMS = "alerts:sums:"


def counted_troubles() -> dict[str, str]:
    """Name what went wrong too often since the looks of the last 15 minutes: {key: one sentence}.

    It remembers how many there were, to see at the next look how many more there are.

    :raises redis.RedisError: Valkey is away.
    """
    mcp, failed, every, budget = totals(
        (MCP_FAILURES, ()), (HTTP_ANSWERS, ("failed",)), (HTTP_ANSWERS, ()), (BUDGET_REFUSALS, ())
    )
    return (
        _mcp(_new("mcp", mcp)) | _errors(_new("failed", failed), _new("every", every)) | _budget(_new("budget", budget))
    )


def _mcp(failures: int) -> dict[str, str]:
    if failures < MCP_FAILING_FROM:
        return {}
    said = _("MCP requests are failing for reasons inside the hub: %(count)d within 15 minutes. The log says why.")
    return {"mcp_failing": said % {"count": failures}}


def _errors(failed: int, every: int) -> dict[str, str]:
    if failed < FAILING_ANYHOW_FROM and (failed < FAILING_FROM or failed <= ERRORS_SHARE * every):
        return {}
    said = _(
        "Requests are failing for reasons inside the hub: %(failed)d of %(total)d within 15 minutes. The log says why."
    )
    return {"errors": said % {"failed": failed, "total": every}}


def _budget(refused: int) -> dict[str, str]:
    if not refused:
        return {}
    said = _(
        "The budget for language models is too small for what is asked: %(count)d requests were not sent within "
        "15 minutes. See HUB_LLM_TOKEN_BUDGET and HUB_LLM_COST_BUDGET."
    )
    return {"llm_budget": said % {"count": refused}}


def _new(kind: str, total_now: float) -> int:
    """How many more of a kind were counted than at the oldest look of the last 15 minutes."""
    now, sum_now = clock(), int(total_now)
    since = now - WITHIN.total_seconds()
    sums: list[tuple[float, int]] = cache.get(f"{_SUMS}{kind}") or []
    # A greater sum than there is now is one from before Valkey was emptied.
    recent = [(at, counted) for at, counted in sums if at >= since and counted <= sum_now]
    cache.set(f"{_SUMS}{kind}", [*recent, (now, sum_now)], int(WITHIN.total_seconds()))
    return sum_now - min((counted for _at, counted in recent), default=sum_now)
