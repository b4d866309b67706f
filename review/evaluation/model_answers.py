"""A language model's part in an evaluation run: its judgement of items that rules leave open, and what it left open.

The model is asked as a review asks it, so that what was answered once is answered from the recordings. Nothing but
those recordings is stored here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings

from hub.access.principals import Principal
from hub.llm.budget import Budget, Usage
from hub.llm.models import CALLERS_MODEL
from hub.llm.ports import Provider
from hub.llm.preparation import model_of
from hub.llm.providers.registry import get_provider, is_configured
from hub.llm.types import Strength
from knowledge.models import DocumentVersion
from knowledge.types.notices import Notice
from review.judging.engine import NEEDS_LLM
from review.judging.excerpts import find_material, planted_in
from review.judging.judge import Judge
from review.judging.model_session import purpose_of, task_of
from review.judging.prompts import texts_of
from review.judging.sampling import ReplayProvider
from review.judging.types import Opinion
from review.models import CheckItemVersion, CheckResult
from review.types import RuleInput, Verdict

MODEL_CHANGED = Notice(
    code="llm_model_changed",
    ja="評価の途中で言語モデルの設定が変わったため、この項目は判定していません。",
    en="Another language model was configured in the middle of the run, so this item was not judged.",
)


def earlier_model() -> dict[str, Any]:
    """The hub's model that judged last, whose recorded answers can be read again; empty where none ever did.

    What callers' own models said is not among the recordings.
    """
    judged = CheckResult.objects.filter(method="llm").exclude(judgement={}).order_by("-pk")
    judged = judged.exclude(judgement__provider=CALLERS_MODEL)
    record = judged.values_list("judgement", flat=True).first() or {}
    votes = record.get("votes") or [record]
    known = next((vote for vote in votes if "provider" in vote), None)
    if known is None:
        return {}
    return {name: known[name] for name in ("provider", "model", "is_private")} | {"is_replay": True}


@dataclass(slots=True, kw_only=True)
class ModelAnswers:
    """Asks one model within one budget, for one run. ``pinned`` and ``prompts`` are the run's."""

    principal: Principal
    pinned: Mapping[str, Any]
    prompts: Mapping[str, int]
    heartbeat: Callable[[], None]
    budget: Budget
    _sitting: tuple[int, Judge] | None = None

    def opinion(self, item: CheckItemVersion, target: RuleInput, version: DocumentVersion) -> Opinion:
        """What the model says of an item; skipped with the reason where there is none to ask."""
        if not self.pinned:
            return Opinion(verdict=Verdict.SKIPPED, notices=(NEEDS_LLM,))
        provider = self._provider()
        if provider is None:
            return Opinion(verdict=Verdict.SKIPPED, notices=(MODEL_CHANGED,))
        task = task_of(item, target)
        material = find_material(version, target, task, planted_in(target))
        return self._judge_of(version, provider).decide(task, material)

    def _judge_of(self, version: DocumentVersion, provider: Provider) -> Judge:
        """A judge of one document: what it read of a long one serves all of its items."""
        if self._sitting is None or self._sitting[0] != version.pk:
            judge = Judge(
                principal=self.principal,
                provider=provider,
                budget=self.budget,
                prompts=texts_of(self.prompts),
                purpose=purpose_of(version.document, "evaluation"),
                heartbeat=self.heartbeat,
                is_replay=bool(self.pinned["is_replay"]),
            )
            self._sitting = (version.pk, judge)
        return self._sitting[1]

    def _provider(self) -> Provider | None:
        """The provider that was pinned; None where another one is configured by now."""
        pinned = self.pinned
        if pinned["is_replay"]:
            return ReplayProvider(name=pinned["provider"], model=pinned["model"], is_private=pinned["is_private"])
        configured = (settings.CONFIG.llm_provider, model_of(Strength.STRONG))
        is_same = is_configured() and configured == (pinned["provider"], pinned["model"])
        return get_provider() if is_same else None


def budget_with(used: Mapping[str, Any]) -> Budget:
    """A run's budget, of the size of a review's; ``used`` is what :func:`usage_of` gave before a crash."""
    config = settings.CONFIG
    spent = Usage(tokens_in=used.get("tokens_in", 0), tokens_out=used.get("tokens_out", 0))
    spent.cost = None if used.get("cost", "0") is None else Decimal(used.get("cost", "0"))
    return Budget(max_tokens=config.hub_llm_token_budget, max_cost=config.hub_llm_cost_budget, used=spent)


def usage_of(budget: Budget) -> dict[str, Any]:
    """What was spent, as JSON."""
    used = budget.used
    return {
        "tokens_in": used.tokens_in,
        "tokens_out": used.tokens_out,
        "cost": None if used.cost is None else str(used.cost),
    }
