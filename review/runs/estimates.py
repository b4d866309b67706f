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
from hub.llm.tokens import estimate_text_tokens
from hub.llm.types import LlmRequest, Strength
from knowledge.guidelines.editions import articles_of, editions_in_force
from knowledge.models import VersionContent
from knowledge.ontology.store import topics_for
from review.judging.advice import most_advice
from review.judging.choosing import Forecaster, is_long
from review.judging.digest import plan_digest
from review.judging.excerpts import plain_target, planted_in
from review.judging.gathering import Gatherer, level_of
from review.judging.long_documents import is_affordable, is_screened, unanswered
from review.judging.model_session import task_of
from review.judging.prompts import numbers_in_force, texts_of
from review.judging.second_opinion.asking import PER_LONG_REQUEST
from review.judging.second_opinion.request import most_opinions
from review.judging.steps import Spending, StepName
from review.judging.supplements import MAX_OBSERVATIONS
from review.judging.sweep.asking import subject_of
from review.judging.sweep.reading import is_short, plan_readings
from review.judging.sweep.refuting import most_tests
from review.judging.unseen import joined, unseen_in
from review.models import CheckItemVersion
from review.rules.content.curated import rules_of
from review.runs.reading_results import point_of
from review.runs.related import related_document, related_versions
from review.runs.reviews import ReviewOptions, find_subject
from review.runs.steps import is_wanted, wanted_categories
from review.runs.work import entries_of
from review.types import RuleInput


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
    second_opinion_requests: int = Field(0, description="at most: findings are not known yet")
    second_opinion_tokens_in: int = Field(0, description="at most")
    second_opinion_tokens_out: int = Field(0, description="at most")
    sweep_requests: int = Field(0, description="to read the whole document, and to test at most so many proposals")
    sweep_tokens_in: int = Field(0, description="at most")
    sweep_tokens_out: int = Field(0, description="at most")
    sweep_categories: list[str] = Field([], description="what the document is read for; empty without the sweep")
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
        return _sum_up(items, _Plan(), _Most(), is_judged=False)
    target = replace(
        plain_target(subject.version, content), articles=articles_of([edition.pk for edition in editions_in_force()])
    )
    open_items = [item for item in items if not rules_of(item.criteria)]
    most = _Most()
    if options.suggestion_level == "detailed":
        most = replace(most, advice=_spending(most_advice(target.text, checks=len(items) - len(open_items))))
    related = related_versions(principal, options.related_documents, reviewed=subject.document)
    contents = VersionContent.objects.in_bulk([one.pk for _document, one in related])
    others = tuple(related_document(one, contents[one.pk]) for _document, one in related)
    if is_wanted(StepName.SECOND_OPINION, options.second_opinion) and len(items) > len(open_items):
        most = replace(most, second_opinion=_of_second_opinion(target, related=len(others)))
    if is_wanted(StepName.SWEEP, options.sweep):
        topics = topics_for(subject.master.checklist.ontology_domain)
        categories = wanted_categories(options.sweep_categories)
        read = _of_sweep(replace(target, topics=topics), items, has_related=bool(others), categories=categories)
        most = replace(most, sweep=read, categories=categories)
    gatherer = Gatherer(
        principal=principal,
        version=subject.version,
        target=replace(target, related=others),
        planted=planted_in(target),
        related=[one for _document, one in related],
        ceiling=max(ceiling_of(get_provider(options.llm_provider)), level_of(subject.document)),
        forced=options.force_strategy,
    )
    return _sum_up(items, _plan(gatherer, open_items, ruled=len(items) - len(open_items)), most, is_judged=True)


NOTHING = Spending()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Most:
    """What the steps take at most whose requests nobody knows before."""

    advice: Spending = NOTHING
    second_opinion: Spending = NOTHING
    sweep: Spending = NOTHING
    categories: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Spending, ...]:
        return (self.advice, self.second_opinion, self.sweep)


def _spending(most: Spending) -> Spending:
    """No answer is longer than LLM_MAX_OUTPUT_TOKENS."""
    longest = settings.CONFIG.llm_max_output_tokens
    out = min(most.tokens_out, most.requests * longest)
    return replace(most, tokens_out=out)


def _of_second_opinion(target: RuleInput, *, related: int) -> Spending:
    return _spending(most_opinions(**_sizes(target), per_long_request=PER_LONG_REQUEST, related=related))


def _sizes(target: RuleInput) -> dict[str, int]:
    """What a document takes, and what of it one request of a step may hold, in tokens."""
    config = settings.CONFIG
    size = estimate_text_tokens(target.text)
    return {"document_tokens": size, "tokens": config.llm_reading_tokens, "passages": config.llm_context_tokens}


def _of_sweep(
    target: RuleInput, items: Sequence[CheckItemVersion], *, has_related: bool, categories: Sequence[str]
) -> Spending:
    """All requests of the reading, each with as many facts as it may hold, and at most so many tests."""
    tokens, prompts = settings.CONFIG.llm_reading_tokens, texts_of(numbers_in_force())
    points = [point_of(item, verdict="", messages=()) for item in items]
    read = subject_of(target, joined([*unseen_in(target.text), *planted_in(target)]), points=points)
    planned = plan_readings(read, tokens=tokens, prompt=prompts.sweep, has_related=has_related, categories=categories)
    readings = _prepared(request for request, _more in planned)
    tests = _spending(most_tests(**_sizes(target), is_short=is_short(read, tokens=tokens)))
    return Spending(
        requests=len(readings) + tests.requests,
        tokens_in=sum(one.estimate.tokens_in for one in readings) + sum(more for _, more in planned) + tests.tokens_in,
        tokens_out=sum(one.estimate.tokens_out for one in readings) + tests.tokens_out,
    )


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


def _sum_up(items: Sequence[CheckItemVersion], plan: _Plan, most: _Most, *, is_judged: bool) -> EstimateOut:
    parts = [one.estimate for one in (*plan.summaries, *plan.leading, *plan.judging)]
    tokens_in, tokens_out = sum(part.tokens_in for part in parts), sum(part.tokens_out for part in parts)
    ruled = [item for item in items if rules_of(item.criteria)]
    budget = settings.CONFIG.hub_llm_token_budget
    named = (("suggestion", most.advice), ("second_opinion", most.second_opinion), ("sweep", most.sweep))
    spent = {f"{name}_{each}": getattr(one, each) for name, one in named for each in SPENT}
    return EstimateOut(
        checks=len(items),
        llm_checks=len(items) - len(ruled) if is_judged else 0,
        maybe_llm_checks=sum(bool(item.criteria.get("prompt")) for item in ruled) if is_judged else 0,
        requests=len(parts),
        summary_requests=len(plan.summaries),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        **spent,
        sweep_categories=list(most.categories),
        cost=_cost(parts, most),
        token_budget=budget,
        fits=tokens_in + tokens_out + sum(one.tokens_in + one.tokens_out for one in most.all) <= budget,
    )


SPENT = ("requests", "tokens_in", "tokens_out")


def _cost(parts: Sequence[Estimate], most: _Most) -> float | None:
    costs = [part.cost for part in parts]
    price = price_of(Strength.STRONG)
    costs += [price.cost(one.tokens_in, one.tokens_out) if price else None for one in most.all if one.requests]
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))
