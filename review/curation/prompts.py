"""Curating the prompts, trying one on one check item and one document, and publishing what was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from hub.access.principals import HubRight, Principal, Scope
from hub.access.versions import (
    PublicationStatus,
    find_draft,
    publish,
    refusal_of_publisher,
    require_second_person,
    save_draft,
    take_draft,
)
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.core.shapes import filled
from hub.llm.budget import Budget
from hub.llm.providers.registry import get_provider
from knowledge.documents.documents import get_document
from knowledge.embedding_sets.switching import switch_to
from knowledge.guidelines.editions import articles_of, editions_in_force
from knowledge.models import EmbeddingSet, VersionContent
from review.curation.master_versions import approve_checklist_version, drafts_in
from review.evaluation.candidates import Candidate, find_candidate, find_prompt, prompt_candidate
from review.evaluation.gate import let_through
from review.judging.excerpts import plain_target, planted_in
from review.judging.gathering import Gatherer
from review.judging.judge import Judge
from review.judging.model_session import purpose_of, task_of
from review.judging.prompts import numbers_in_force, texts_of
from review.judging.types import Opinion
from review.models import CheckItemVersion, CheckListVersion, JudgePrompt, MasterStatus, PromptKind

LONGEST_NOTE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What was asked last, what came, and what it comes to. ``answer`` is None where no usable one came."""

    messages: tuple[tuple[str, str], ...]
    answer: Any
    opinion: Opinion
    tokens_in: int
    tokens_out: int
    cost: Decimal | None


def list_prompts(principal: Principal) -> QuerySet[JudgePrompt]:
    """Every version of every prompt, the newest of each kind first. For curators of the hub."""
    principal.require_hub(HubRight.MASTERS)
    return JudgePrompt.objects.select_related("author").order_by("kind", "-number")


def get_prompt(principal: Principal, kind: str, number: int) -> JudgePrompt:
    """One version of a prompt. For curators of the hub. Raises NotFound."""
    principal.require_hub(HubRight.MASTERS)
    return find_prompt(kind, number)


def draft_prompt(*, principal: Principal, kind: str, text: str, note: str = "") -> JudgePrompt:
    """Store a draft under the next number of its kind. Raises InvalidInput."""
    made = JudgePrompt(kind=kind, text=text, note=note)
    save_prompt_draft(principal=principal, prompt=made)
    return made


def save_prompt_draft(*, principal: Principal, prompt: JudgePrompt) -> None:
    """Store a draft, a new one under the next number of its kind, written by the caller.

    Raises Forbidden, InvalidInput, Conflict (it is no draft).
    """
    principal.require_hub(HubRight.MASTERS)
    if prompt.kind not in PromptKind.values:
        known = ", ".join(PromptKind.values)
        raise InvalidInput(_("kind: expected {known}, not {given!r}."), field="kind", known=known, given=prompt.kind)
    if "\0" in prompt.text or "\0" in prompt.note or len(prompt.note) > LONGEST_NOTE:
        raise InvalidInput(_("note: expected at most {limit} characters."), field="note", limit=LONGEST_NOTE)
    save_draft(principal=principal, version=prompt)


def new_judge_prompt_version(*, principal: Principal, prompt_id: int) -> JudgePrompt:
    """Copy a version into a new draft; the draft that there is, if there is one. Raises Forbidden, NotFound."""
    principal.require_hub(HubRight.MASTERS)
    source = JudgePrompt.objects.filter(pk=prompt_id).first()
    if source is None:
        raise _no_such_prompt()
    draft = find_draft(source)
    if draft is None:
        draft = JudgePrompt(kind=source.kind, text=source.text)
        save_prompt_draft(principal=principal, prompt=draft)
    return draft


def publish_prompt(*, principal: Principal, prompt_id: int) -> JudgePrompt:
    """Put a draft in force; the one of its kind that was in force is retired.

    It is measured first on the datasets that guard prompts. Raises NotFound, and Conflict: no draft, or what the gate
    says (with the flipped cases, when it refuses).
    """
    principal.require_hub(HubRight.MASTERS)
    draft = JudgePrompt.objects.filter(pk=prompt_id, status=PublicationStatus.DRAFT).first()
    if draft is not None:
        require_second_person(principal, [draft])
        let_through(principal, prompt_candidate(draft))
    with transaction.atomic():
        prompt = JudgePrompt.objects.filter(pk=prompt_id).first()
        if prompt is None:
            raise _no_such_prompt()
        take_draft(prompt)
        publish(principal=principal, version=prompt)
    return prompt


def _no_such_prompt() -> NotFound:
    return NotFound(_("There is no such prompt."))


def try_prompt(*, principal: Principal, prompt_id: int, check_item: str, document_id: str) -> Trial:
    """Judge one check item on one document with a prompt, draft or not; nothing is stored of it but the audit line.

    :raises NotFound: prompt, item or document. :raises LlmUnavailable: no model is configured.
    """
    principal.require_hub(HubRight.MASTERS)
    document = get_document(principal, document_id, scope=Scope.REVIEW)
    prompt = JudgePrompt.objects.filter(pk=prompt_id).first()
    versions = CheckItemVersion.objects.select_related("item").filter(item__code=check_item)
    item_version = versions.exclude(status=MasterStatus.RETIRED).order_by("-number").first()
    version = document.current_version
    content = VersionContent.objects.filter(version=version).first() if version else None
    if prompt is None or item_version is None:
        raise NotFound(_('There is no check item "{given}", or no such prompt.'), given=check_item)
    if version is None or content is None:
        raise Conflict(_("{path} has no text that could be judged."), path=document.path)
    target = replace(
        plain_target(version, content), articles=articles_of([edition.pk for edition in editions_in_force()])
    )
    task = task_of(item_version, target)
    judge = Judge(
        principal=principal,
        provider=get_provider(),
        budget=Budget.configured(),
        prompts=texts_of({**numbers_in_force(), prompt.kind: prompt.number}),
        purpose=purpose_of(document, "prompt_trial"),
        heartbeat=lambda: None,
    )
    gatherer = Gatherer(principal=principal, version=version, target=target, planted=planted_in(target))
    opinion = judge.decide(task, gatherer.gather(item_version, task))
    return _trial(judge, opinion)


def _trial(judge: Judge, opinion: Opinion) -> Trial:
    last, used = judge.last, judge.budget.used
    return Trial(
        messages=tuple((message.role.value, message.text) for message in last.request.messages) if last else (),
        answer=last.answer.data if last and last.answer else None,
        opinion=opinion,
        tokens_in=used.tokens_in,
        tokens_out=used.tokens_out,
        cost=used.cost,
    )


class PromptOut(BaseModel):
    kind: str = Field(description="judge or screen")
    version: int
    status: str = Field(description="draft, published or retired")
    candidate: str = Field(description="as the gate and evaluation runs name it")
    text: str
    note: str
    author: str | None
    created_at: datetime
    published_at: datetime | None


def prompt_out(prompt: JudgePrompt) -> PromptOut:
    """A version of a prompt. Expects the author to be selected."""
    author = prompt.author.get_username() if prompt.author else None
    return filled(PromptOut, prompt, version=prompt.number, candidate=prompt_candidate(prompt).name, author=author)


def refusal_to_publish(principal: Principal, candidate: Candidate) -> Conflict | None:
    """Why publishing a candidate would be refused to the caller, who wrote it or a part of it; None where it is not."""
    match candidate.version:
        case CheckListVersion() as version:
            return refusal_of_publisher(principal, drafts_in(version))
        case JudgePrompt() as prompt:
            return refusal_of_publisher(principal, [prompt])
    return None


def publish_candidate(*, principal: Principal, name: str, replaces: int | None = None) -> None:
    """Approve a check list's version, publish a prompt, or switch to an embedding set.

    ``replaces`` is for `approve_checklist_version`. Raises what the service for it raises: Conflict with the flipped
    cases, when the gate refuses.
    """
    match find_candidate(principal, name).version:
        case CheckListVersion() as version:
            approve_checklist_version(principal=principal, version=version, replaces=replaces)
        case JudgePrompt() as prompt:
            publish_prompt(principal=principal, prompt_id=prompt.pk)
        case EmbeddingSet() as chosen:
            switch_to(principal=principal, name=chosen.name)
