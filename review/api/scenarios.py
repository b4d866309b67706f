"""REST calls about scenarios. Each handler translates, makes one call, translates back."""

from __future__ import annotations

from typing import Annotated, Literal

from ninja import Field, Query, Router, Schema

from hub.rest.auth import HubRequest
from hub.rest.schemas import ShortText
from review import scenarios
from review.scenarios import ScenarioOut, ScenarioRowOut

router = Router(tags=["scenarios"])


class ScenarioQuery(Schema):
    role: Literal["", "pjmo", "quality_support", "admin"] = ""
    document_type: ShortText = ""


class StepIn(Schema):
    done: bool = Field(True, description="false takes the tick away")


@router.get("/scenarios", response=list[ScenarioRowOut])
def list_scenarios(request: HubRequest, filters: Annotated[ScenarioQuery, Query()]) -> list[ScenarioRowOut]:
    """The scenarios (利用シナリオ) in force, with how far you are in each."""
    return scenarios.list_scenarios(request.principal, **filters.model_dump())


@router.get("/scenarios/{scenario_id}", response=ScenarioOut)
def get_scenario(request: HubRequest, scenario_id: str) -> ScenarioOut:
    """A scenario with its steps in order, what each leads to, and which of them you have ticked off."""
    return scenarios.show_scenario(request.principal, scenario_id)


@router.patch("/scenarios/{scenario_id}/steps/{action}", response=ScenarioOut)
def tick_step(request: HubRequest, scenario_id: str, action: str, asked: StepIn) -> ScenarioOut:
    """Tick a step off for yourself, or take the tick away."""
    scenarios.tick_step(principal=request.principal, code=scenario_id, action=action, done=asked.done)
    return scenarios.show_scenario(request.principal, scenario_id)
