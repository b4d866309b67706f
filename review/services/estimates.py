"""What a review will take of a language model, told before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import Conflict
from hub.llm.preparation import Estimate, estimate
from hub.llm.providers.registry import is_configured
from knowledge.models import VersionContent
from review.judging.excerpts import find_material, plain_target, planted_in
from review.judging.plan import fit, judge_request
from review.judging.prompts import numbers_in_force, texts_of
from review.judging.sitting import task_of
from review.runs import entries_of
from review.services.reviews import ReviewOptions, find_subject


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEstimate:
    """Input as estimated, output at most; ``cost`` is in US$, None without prices. Screening is not counted."""

    checks: int
    llm_checks: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    token_budget: int

    @property
    def fits(self) -> bool:
        """Whether the token budget is enough."""
        return self.tokens_in + self.tokens_out <= self.token_budget


def estimate_review(
    *, principal: Principal, document_id: str, checklist: str = "", options: ReviewOptions | None = None
) -> ReviewEstimate:
    """Plan the requests of a review without sending any. Raises what ``start_review`` does; Conflict without text."""
    options = options or ReviewOptions()
    subject = find_subject(principal=principal, document_id=document_id, checklist=checklist, options=options)
    content = VersionContent.objects.filter(version=subject.version).first()
    if content is None:
        raise Conflict(_("{path} is still being read; estimate when it is ready."), path=subject.document.path)
    entries = entries_of(subject.master, options.check_items)
    target = plain_target(subject.version, content)
    prompts, planted = texts_of(numbers_in_force()), planted_in(target)
    is_judged = is_configured() and options.judge in ("auto", "server")
    open_items = [entry.item_version for entry in entries if is_judged and not entry.item_version.criteria.get("rules")]
    parts: list[Estimate] = []
    for item_version in open_items:
        task = task_of(item_version, target)
        material = find_material(subject.version, target, task, planted)
        passages = fit(material.text, material.ranked, tokens=settings.CONFIG.llm_context_tokens)
        request = judge_request(task, material.text, passages, prompts=prompts, planted=planted, repair="")
        parts.append(estimate(request))
    costs = [part.cost for part in parts]
    votes = settings.CONFIG.llm_votes
    return ReviewEstimate(
        checks=len(entries),
        llm_checks=len(parts),
        tokens_in=votes * sum(part.tokens_in for part in parts),
        tokens_out=votes * sum(part.tokens_out for part in parts),
        cost=None if None in costs else votes * sum((cost for cost in costs if cost is not None), Decimal(0)),
        token_budget=settings.CONFIG.hub_llm_token_budget,
    )
