"""Scenarios in versions: drafts, copies of a version, and which one is in force. Curators of masters alone may."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.versions import PublicationStatus, find_draft, publish, save_draft, take_draft
from hub.core.errors import Conflict, NotFound, not_one_of
from knowledge.models import DocumentType
from review.models import Scenario, ScenarioStep


def save_scenario_draft(*, principal: Principal, scenario: Scenario) -> None:
    """Store a draft, a new one under the next number, written by the caller.

    Raises Forbidden, InvalidInput (unknown document types), Conflict (no draft, or the code has one already).
    """
    principal.require_hub(HubRight.MASTERS)
    known = set(DocumentType.objects.values_list("code", flat=True))
    for given in scenario.document_types:
        if given not in known:
            raise not_one_of("document_types", given, sorted(known))
    save_draft(principal=principal, version=scenario)


def new_scenario_version(*, principal: Principal, scenario_id: int) -> Scenario:
    """Copy a version with its steps into a new draft; the draft that there is, if there is one. Raises NotFound."""
    principal.require_hub(HubRight.MASTERS)
    source = _find_version(scenario_id)
    draft = find_draft(source)
    if draft is not None:
        return draft
    steps = list(source.steps.all())
    with transaction.atomic():
        source.pk, source._state.adding = None, True
        source.status, source.published_at, source.reason = PublicationStatus.DRAFT, None, ""
        source.created_at, source.writer_ids = timezone.now(), []
        save_scenario_draft(principal=principal, scenario=source)
        for step in steps:
            step.pk, step.scenario = None, source
            step._state.adding = True
        ScenarioStep.objects.bulk_create(steps)
    return source


def publish_scenario(*, principal: Principal, scenario_id: int) -> Scenario:
    """Put a draft in force; the version before is retired. Raises NotFound, Conflict (no draft, or no steps)."""
    principal.require_hub(HubRight.MASTERS)
    with transaction.atomic():
        draft = _find_version(scenario_id)
        take_draft(draft)
        if not draft.steps.exists():
            raise Conflict(_("A scenario needs at least one step."), code="no_steps")
        publish(principal=principal, version=draft)
    return draft


def _find_version(scenario_id: int) -> Scenario:
    found = Scenario.objects.filter(pk=scenario_id).first()
    if found is None:
        raise NotFound(_("There is no such scenario."), code="scenario_not_found")
    return found
