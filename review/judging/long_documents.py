"""One judge's way through a document that no request can hold: its summaries, and what a check sees of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.conf import settings

from hub.llm.budget import Budget
from hub.llm.preparation import Prepared, Purpose, prepare
from hub.llm.recordings import recordings_of
from hub.llm.types import NamesItsModel, Provider
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.choosing import Chooser, Chosen
from review.judging.digest import Digest, Digester, Send, parts_as_json, parts_from_json, plan_digest
from review.judging.types import CheckTask, Material, PromptTexts, Summary

# Summaries may take so much of the budget that is left; the rest is for the checks.
SHARE = 0.6
# A caller's model is asked for so many: each may need its user's consent, and clients end a call after ten rounds.
MOST_OF_CALLER = 12


@dataclass(slots=True, kw_only=True)
class LongDocument:
    """Chooses what checks see of one document. Its summaries are asked for with the first check that needs them."""

    send: Send
    provider: Provider
    budget: Budget
    purpose: Purpose
    prompts: PromptTexts
    may_repair: bool
    _digest: Digest | None = None

    def choose(self, task: CheckTask, material: Material, *, tokens: int) -> Chosen:
        """Choose passages and an overview. :raises AnswerPending, BudgetExceeded, LlmRefused: by sending."""
        digest = self._digested(task, material, tokens)
        chooser = Chooser(
            send=self.send,
            task=task,
            material=material,
            prompts=self.prompts,
            tokens=tokens,
            screens=is_screened(self.provider),
        )
        chosen = chooser.choose(digest)
        return replace(chosen, remarks=(*_remarks_of(digest), *chosen.remarks))

    def record(self, overview: Sequence[Summary]) -> dict[str, Any]:
        """What tells an overview again: stretches, and the requests whose recorded answers have the texts."""
        shown = {summary.stretch for summary in overview}
        parts = [part for part in (self._digest or Digest()).parts if not shown.isdisjoint(part.stretches)]
        return {"parts": parts_as_json(parts), "shown": sorted(stretch.start for stretch in shown)}

    def again(self, task: CheckTask, material: Material, record: Mapping[str, Any]) -> tuple[Summary, ...]:
        """The overview of an earlier review's record, from the recorded answers."""
        self._digest = self._digester(task).again(material, parts_from_json(record["parts"]))
        shown = set(record["shown"])
        return tuple(summary for summary in self._digest.summaries if summary.stretch.start in shown)

    def _digested(self, task: CheckTask, material: Material, tokens: int) -> Digest:
        if self._digest is None:
            planned = plan_digest(material, title=task.document_title, prompts=self.prompts, tokens=tokens)
            new = unanswered(self.provider, [prepare(self.provider, request, self.purpose) for request in planned])
            if is_affordable(self.provider, self.budget, new):
                self._digest = self._digester(task).digest(material, tokens=tokens)
            else:
                self._digest = Digest(is_affordable=False)
        return self._digest

    def _digester(self, task: CheckTask) -> Digester:
        return Digester(send=self.send, prompts=self.prompts, title=task.document_title, may_repair=self.may_repair)


def is_affordable(provider: Provider, budget: Budget, new: Sequence[Prepared]) -> bool:
    """Tell whether summaries leave enough of a budget for the checks, and are not too many for a caller's model."""
    if isinstance(provider, NamesItsModel) and len(new) > MOST_OF_CALLER:
        return False
    costs = [one.estimate.cost for one in new if one.estimate.cost is not None]
    tokens = sum(one.estimate.tokens_in + one.estimate.tokens_out for one in new)
    return budget.has_room(tokens=tokens, cost=sum(costs, Decimal(0)), share=SHARE)


def is_screened(provider: Provider) -> bool:
    """Tell whether a light model reads passages before the strong one; a caller's model is one and the same."""
    return bool(settings.CONFIG.llm_light_model) and not isinstance(provider, NamesItsModel)


def unanswered(provider: Provider, requests: Sequence[Prepared]) -> list[Prepared]:
    """The requests that would be sent, since no answer to them is recorded. One query."""
    answered = recordings_of(provider).among([one.key for one in requests])
    return [one for one in requests if one.key not in answered]


def _remarks_of(digest: Digest) -> list[Notice]:
    if not digest.is_affordable:
        return [notices.NO_SUMMARIES]
    remarks = [notices.SECTION_SUMMARIES] if digest.summaries else []
    return remarks if digest.is_complete else [*remarks, notices.SUMMARIES_INCOMPLETE]
