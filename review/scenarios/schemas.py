"""Shapes of scenarios; REST and MCP show the same."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from pydantic import BaseModel, Field

from review.models import Scenario, ScenarioStep


class WorkflowStepOut(BaseModel):
    order: int = Field(description="from 1")
    action: str = Field(description="names the step in all versions of its scenario")
    title: str
    description: str
    expected_output: str = Field(description="what there is when the step is done")
    page: str | None = Field(description="the page of the admin on which it is done")
    done: bool = Field(description="you have ticked it off")


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


def scenario_row_out(scenario: Scenario, done: Collection[str]) -> ScenarioRowOut:
    """Show a scenario with how far the caller is; expects its steps to be selected."""
    steps = list(scenario.steps.all())
    return ScenarioRowOut(
        id=scenario.code,
        version=scenario.number,
        name=scenario.name,
        target_role=scenario.role,
        description=scenario.description,
        applicable_doc_types=scenario.document_types,
        steps_total=len(steps),
        steps_done=sum(step.action in done for step in steps),
        published_at=scenario.published_at,
    )


def scenario_out(scenario: Scenario, done: Collection[str]) -> ScenarioOut:
    """Show a scenario with its steps, in the active language; expects them to be selected."""
    steps = [_step_out(order, step, done) for order, step in enumerate(scenario.steps.all(), 1)]
    return ScenarioOut(**dict(scenario_row_out(scenario, done)), workflow_steps=steps)


def _step_out(order: int, step: ScenarioStep, done: Collection[str]) -> WorkflowStepOut:
    return WorkflowStepOut(
        order=order,
        action=step.action,
        title=step.title,
        description=step.description,
        expected_output=step.expected,
        page=step.page or None,
        done=step.action in done,
    )
