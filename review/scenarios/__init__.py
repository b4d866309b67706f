"""Scenarios: reading them, how far each person is, and their shapes in answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from hub.access.principals import Principal, Scope
from hub.access.versions import PublicationStatus
from hub.core.errors import Conflict, NotFound, not_one_of
from hub.core.shapes import TextOrNone, filled
from knowledge.documents.documents import get_document
from knowledge.documents.reading import list_documents
from knowledge.models import Document, DocumentType
from review.models import Review, Scenario, ScenarioProgress, ScenarioRole, ScenarioStep
from review.runs.reviews import list_reviews
from review.scenarios.observed import NOTHING, SINCE, observed_actions

DOCUMENTS_OFFERED = 100


class WorkflowStepOut(BaseModel):
    order: int = Field(description="from 1")
    action: str = Field(description="names the step in all versions of its scenario")
    title: str
    description: str
    expected_output: str = Field(description="what there is when the step is done")
    page: TextOrNone = Field(description="the page of the admin on which it is done")
    done: bool = Field(description="you have ticked it off, or the hub has seen it done")
    seen: bool = Field(description="the hub has seen it done: it is not for you to tick off")
    proof: TextOrNone = Field(description="what shows the hub that it is done; null: only you tick it off")


class ScenarioRowOut(BaseModel):
    id: str
    version: int
    name: str
    target_role: str = Field(description="pjmo, quality_support or admin")
    description: str
    applicable_doc_types: list[str] = Field(description="none: whatever the document")
    steps_total: int
    steps_done: int
    published_at: datetime | None


class ScenarioOut(ScenarioRowOut):
    workflow_steps: list[WorkflowStepOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walkthrough:
    """A scenario, the actions that the person has ticked off, those that the hub has seen, and with which document.

    ``is_begun`` says whether the person has begun it at all.
    """

    scenario: Scenario
    ticked: Sequence[str]
    seen: Collection[str]
    document: Document | None
    is_begun: bool

    @property
    def steps(self) -> list[ScenarioStep]:
        """The steps of the scenario in their order."""
        return list(self.scenario.steps.all())

    @property
    def counts_from_start(self) -> bool:
        """Whether the hub sees some of its steps only from when the person begins."""
        return any(step.proof in SINCE for step in self.steps)

    def is_seen(self, step: ScenarioStep) -> bool:
        """Whether the hub has seen the step done, so that it is not for the person to tick off."""
        return step.action in self.seen

    def is_done(self, step: ScenarioStep) -> bool:
        """Whether the person has ticked the step off, or the hub has seen it done."""
        return step.action in self.ticked or self.is_seen(step)

    @property
    def next_step(self) -> ScenarioStep | None:
        """The first step that is not done; None when all are."""
        return next((step for step in self.steps if not self.is_done(step)), None)

    @property
    def done_count(self) -> int:
        """How many of the steps are done."""
        return sum(map(self.is_done, self.steps))


def scenario_row_out(found: Walkthrough) -> ScenarioRowOut:
    """Show a scenario with how many of its steps are done; expects them to be selected."""
    scenario = found.scenario
    return filled(
        ScenarioRowOut,
        scenario,
        id=scenario.code,
        version=scenario.number,
        target_role=scenario.role,
        applicable_doc_types=scenario.document_types,
        steps_total=len(found.steps),
        steps_done=found.done_count,
    )


def scenario_out(found: Walkthrough) -> ScenarioOut:
    """Show a scenario with its steps, in the active language; expects them to be selected."""
    steps = [
        filled(
            WorkflowStepOut,
            step,
            order=order,
            expected_output=step.expected,
            done=found.is_done(step),
            seen=found.is_seen(step),
        )
        for order, step in enumerate(found.steps, 1)
    ]
    return filled(ScenarioOut, scenario_row_out(found), workflow_steps=steps)


def published_scenarios(principal: Principal, *, role: str = "", document_type: str = "") -> QuerySet[Scenario]:
    """The scenarios in force with their steps, by code; those for every document fit each type.

    Raises InvalidInput for an unknown role or type. Two queries, one more to know the type.
    """
    principal.require(Scope.READ)
    if role and role not in ScenarioRole.values:
        raise not_one_of("role", role, ScenarioRole.values)
    if document_type:
        known = list(DocumentType.objects.order_by("code").values_list("code", flat=True))
        if document_type not in known:
            raise not_one_of("document_type", document_type, known)
    steps = Prefetch("steps", queryset=ScenarioStep.objects.order_by("position", "pk"))
    found = Scenario.objects.filter(status=PublicationStatus.PUBLISHED).prefetch_related(steps).order_by("code")
    if role:
        found = found.filter(role=role)
    if document_type:
        found = found.filter(Q(document_types__contains=[document_type]) | Q(document_types=[]))
    return found


def list_scenarios(principal: Principal, *, role: str = "", document_type: str = "") -> list[ScenarioRowOut]:
    """Show the scenarios in force with how far the caller is in each.

    Three queries, and up to five for each that the caller has begun and that the hub can see something of.
    """
    found = list(published_scenarios(principal, role=role, document_type=document_type))
    begun = {row.code: row for row in _progress(principal)}
    return [scenario_row_out(_walk(principal, scenario, begun.get(scenario.code))) for scenario in found]


def _progress(principal: Principal) -> QuerySet[ScenarioProgress]:
    return ScenarioProgress.objects.filter(user=principal.user_id)


def get_scenario(principal: Principal, code: str) -> Scenario:
    """Find the version of a scenario that is in force. Raises NotFound, naming the known ones."""
    found = published_scenarios(principal)
    scenario = found.filter(code=code).first()
    if scenario is None:
        known = ", ".join(found.values_list("code", flat=True))
        raise NotFound(
            _('There is no scenario "{given}". Known: {known}.'), code="scenario_not_found", given=code, known=known
        )
    return scenario


def show_scenario(principal: Principal, code: str) -> ScenarioOut:
    """Show a scenario with its steps and which are done. Raises NotFound."""
    return scenario_out(walkthrough(principal, code))


def walkthrough(principal: Principal, code: str) -> Walkthrough:
    """Find a scenario with how far the caller is. Raises NotFound.

    A document that the caller may no longer read is left out, as if none had been chosen.
    """
    scenario = get_scenario(principal, code)
    return _walk(principal, scenario, _progress(principal).filter(code=code).first())


def _walk(principal: Principal, scenario: Scenario, row: ScenarioProgress | None) -> Walkthrough:
    if row is None:
        return Walkthrough(scenario=scenario, ticked=(), seen=NOTHING, document=None, is_begun=False)
    readable = Document.objects.visible_to(principal).live().select_related("current_version")
    document = readable.filter(pk=row.document_id).first() if row.document_id else None
    steps = list(scenario.steps.all())
    seen = observed_actions(principal, steps, document=document, started_at=row.started_at)
    return Walkthrough(scenario=scenario, ticked=tuple(row.done), seen=seen, document=document, is_begun=True)


def newest_review(principal: Principal, walk: Walkthrough) -> Review | None:
    """The newest review of the chosen document that the caller may read; None without one. One query at most."""
    return list_reviews(principal, document_id=walk.document.public_id).first() if walk.document else None


def documents_to_walk_with(principal: Principal, walk: Walkthrough) -> list[Document]:
    """The newest documents of the scenario's types that the caller may read, and the chosen one. One query."""
    found = list_documents(principal).filter(retired_at__isnull=True)
    if walk.scenario.document_types:
        found = found.filter(document_type__in=walk.scenario.document_types)
    newest = list(found.order_by("-pk")[:DOCUMENTS_OFFERED])
    return newest if walk.document is None or walk.document in newest else [walk.document, *newest]


def tick_step(*, principal: Principal, code: str, action: str, done: bool = True) -> Walkthrough:
    """Tick a step off, or take the tick away; doing it twice changes nothing. Raises NotFound, Conflict (no person)."""
    scenario = get_scenario(principal, code)
    known = [step.action for step in scenario.steps.all()]
    if action not in known:
        raise NotFound(
            _('The scenario "{scenario}" has no step "{given}". Known: {known}.'),
            code="step_not_found",
            scenario=code,
            given=action,
            known=", ".join(known),
        )
    with transaction.atomic():
        row = _locked_progress(principal, code)
        others = [one for one in row.done if one != action]
        row.done = [*others, action] if done else others
        row.save(update_fields=["done", "updated_at"])
    return walkthrough(principal, code)


def begin(*, principal: Principal, code: str) -> Walkthrough:
    """Begin now, without a tick and without a document, as often as asked. Raises NotFound, Conflict (no person)."""
    get_scenario(principal, code)
    with transaction.atomic():
        row = _locked_progress(principal, code)
        row.done, row.document, row.started_at = [], None, timezone.now()
        row.save(update_fields=["done", "document", "started_at", "updated_at"])
    return walkthrough(principal, code)


def walk_with(*, principal: Principal, code: str, document_id: str) -> Walkthrough:
    """Choose the document that the steps' links lead to; "" chooses none. Raises NotFound, Conflict (no person)."""
    get_scenario(principal, code)
    document = get_document(principal, document_id) if document_id else None
    with transaction.atomic():
        row = _locked_progress(principal, code)
        row.document = document
        row.save(update_fields=["document", "updated_at"])
    return walkthrough(principal, code)


def _locked_progress(principal: Principal, code: str) -> ScenarioProgress:
    if principal.user_id is None:
        raise Conflict(_("Only people walk through scenarios; sign in as one."), code="no_person")
    ScenarioProgress.objects.get_or_create(user_id=principal.user_id, code=code)
    return ScenarioProgress.objects.select_for_update().get(user_id=principal.user_id, code=code)
