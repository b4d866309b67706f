"""What a review will take of a language model, told before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from hub.access.principals import Principal
from hub.core.errors import Conflict
from hub.llm.budget import Budget
from hub.llm.preparation import Estimate, Prepared, Purpose, ceiling_of, prepare, price_of
from hub.llm.providers.registry import get_provider, is_configured
from hub.llm.types import LlmRequest, Strength
from knowledge.guidelines.editions import articles_of, editions_in_force
from knowledge.models import VersionContent
from review.judging.advice import MostAdvice, most_advice
from review.judging.choosing import Forecaster, is_long
from review.judging.digest import plan_digest
from review.judging.excerpts import plain_target, planted_in
from review.judging.gathering import Gatherer, level_of
from review.judging.long_documents import is_affordable, is_screened, unanswered
from review.judging.model_session import task_of
from review.judging.prompts import numbers_in_force, texts_of
from review.judging.supplements import MAX_OBSERVATIONS
from review.models import CheckItemVersion
from review.rules.content.curated import rules_of
from review.runs.related import related_document, related_versions
from review.runs.reviews import ReviewOptions, find_subject
from review.runs.work import entries_of

NO_ADVICE = MostAdvice(requests=0, tokens_in=0, tokens_out=0)


class EstimateOut(BaseModel):
    checks: int
    llm_checks: int = Field(description="those that a language model judges")
    maybe_llm_checks: int = Field(description="those that it judges if their rules find nothing to judge; not counted")
    requests: int = Field(description="to the language model, without suggestions")
    summary_requests: int = Field(description="among them those for sections of a long document not summarised yet")
    tokens_in: int = Field(description="of judging, as estimated")
    tokens_out: int = Field(description="of judging, at most")
    suggestion_requests: int = Field(description="at most; 0 unless suggestion_level is detailed")
    suggestion_tokens_in: int = Field(description="at most: findings are not known yet")
    suggestion_tokens_out: int = Field(description="at most")
    cost: float | None = Field(description="US$ at most, of all of it; null without configured prices")
    token_budget: int
    fits: bool = Field(description="the budget is enough")


def estimate_review(
    *, principal: Principal, document_id: str, checklist: str = "", options: ReviewOptions | None = None
) -> EstimateOut:
    """Plan the requests of a review without sending any. Raises what ``start_review`` does; Conflict without text."""
    options = options or ReviewOptions()
    subject = find_subject(principal=principal, document_id=document_id, checklist=checklist, options=options)
    content = VersionContent.objects.filter(version=subject.version).first()
    if content is None:
        raise Conflict(_("{path} is still being read; estimate when it is ready."), path=subject.document.path)
    items = [entry.item_version for entry in entries_of(subject.master, options.check_items)]
    if not (is_configured() and options.judge in ("auto", "server")):
        return _sum_up(items, _Plan(), NO_ADVICE, is_judged=False)
    target = replace(
        plain_target(subject.version, content), articles=articles_of([edition.pk for edition in editions_in_force()])
    )
    open_items = [item for item in items if not rules_of(item.criteria)]
    advice = NO_ADVICE
    if options.suggestion_level == "detailed":
        advice = most_advice(target.text, checks=len(items) - len(open_items))
    related = related_versions(principal, options.related_documents, reviewed=subject.document)
    contents = VersionContent.objects.in_bulk([one.pk for _document, one in related])
    gatherer = Gatherer(
        principal=principal,
        version=subject.version,
        target=replace(target, related=tuple(related_document(one, contents[one.pk]) for _document, one in related)),
        planted=planted_in(target),
        related=[one for _document, one in related],
        ceiling=max(ceiling_of(get_provider(options.llm_provider)), level_of(subject.document)),
        forced=options.force_strategy,
    )
    return _sum_up(items, _plan(gatherer, open_items, ruled=len(items) - len(open_items)), advice, is_judged=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The requests of a review: for summaries, for what leads to passages, and for the verdicts with every vote."""

    summaries: Sequence[Prepared] = ()
    leading: Sequence[Prepared] = ()
    judging: Sequence[Prepared] = ()


# What a finding of a rule takes beside the passages, about; which ones there will be is not known before.
_OBSERVED = ("wording.ambiguous", "曖昧な表現" * 12)


def _plan(gatherer: Gatherer, items: Sequence[CheckItemVersion], *, ruled: int) -> _Plan:
    config, provider = settings.CONFIG, get_provider()
    prompts = texts_of(numbers_in_force())
    tasks = [task_of(item, gatherer.target) for item in items]
    observed = [_OBSERVED] * min(ruled, MAX_OBSERVATIONS)
    materials = [gatherer.gather(item, task, observed) for item, task in zip(items, tasks, strict=True)]
    new: list[Prepared] = []
    if any(is_long(material, tokens=config.llm_context_tokens) for material in materials):
        title, material = tasks[0].document_title, materials[0]
        wanted = plan_digest(material, title=title, prompts=prompts, tokens=config.llm_context_tokens)
        new = unanswered(provider, _prepared(wanted))
    summarises = is_affordable(provider, Budget.configured(), new)
    forecaster = Forecaster(
        prompts=prompts,
        tokens=config.llm_context_tokens,
        summarises=summarises,
        screens=is_screened(provider),
    )
    forecasts = [forecaster.forecast(task, material) for task, material in zip(tasks, materials, strict=True)]
    return _Plan(
        summaries=new if summarises else (),
        leading=_prepared(request for one in forecasts for request in one.leading),
        judging=_prepared(one.judging for one in forecasts) * config.llm_votes,
    )


def _prepared(requests: Iterable[LlmRequest]) -> list[Prepared]:
    provider, purpose = get_provider(), Purpose(name="estimate")
    return [prepare(provider, request, purpose) for request in requests]


def _sum_up(items: Sequence[CheckItemVersion], plan: _Plan, advice: MostAdvice, *, is_judged: bool) -> EstimateOut:
    parts = [one.estimate for one in (*plan.summaries, *plan.leading, *plan.judging)]
    tokens_in, tokens_out = sum(part.tokens_in for part in parts), sum(part.tokens_out for part in parts)
    ruled = [item for item in items if rules_of(item.criteria)]
    budget = settings.CONFIG.hub_llm_token_budget
    return EstimateOut(
        checks=len(items),
        llm_checks=len(items) - len(ruled) if is_judged else 0,
        maybe_llm_checks=sum(bool(item.criteria.get("prompt")) for item in ruled) if is_judged else 0,
        requests=len(parts),
        summary_requests=len(plan.summaries),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        suggestion_requests=advice.requests,
        suggestion_tokens_in=advice.tokens_in,
        suggestion_tokens_out=advice.tokens_out,
        cost=_cost(parts, advice),
        token_budget=budget,
        fits=tokens_in + tokens_out + advice.tokens_in + advice.tokens_out <= budget,
    )


def _cost(parts: Sequence[Estimate], advice: MostAdvice) -> float | None:
    costs = [part.cost for part in parts]
    if advice.requests:
        price = price_of(Strength.STRONG)
        costs.append(price.cost(advice.tokens_in, advice.tokens_out) if price else None)
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))
