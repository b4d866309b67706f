"""REST calls about the gate before publishing, and the prompts that pass it."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Field, Router, Schema

from hub.core.bounds import PROMPT_TEXT
from hub.rest.auth import HubRequest
from hub.rest.responses import created
from hub.rest.schemas import ShortText
from review.curation.prompts import draft_prompt, get_prompt, list_prompts, publish_prompt
from review.evaluation import gate
from review.evaluation import gate_schemas as shapes

router = Router(tags=["evaluation"])


class CandidateIn(Schema):
    candidate: ShortText = Field(description="checklist:CODE@NUMBER, prompt:KIND@NUMBER or embedding_set:NAME")
    wait_seconds: float = Field(20, ge=0, le=50, description="wait this long for the comparison before answering")


class PromptIn(Schema):
    kind: ShortText = Field(description="judge or screen")
    text: str = Field(max_length=PROMPT_TEXT)
    note: str = Field("", max_length=300, description="reason for the change")


@router.get("/evaluation/gate", response=shapes.GateOut)
def look_at_gate(request: HubRequest, candidate: ShortText) -> shapes.GateOut:
    """What is known of a candidate on the datasets that guard it; nothing is measured."""
    return shapes.gate_out(gate.look_at(request.principal, candidate))


@router.post("/evaluation/gate", response=shapes.GateOut)
def compare_candidate(request: HubRequest, fields: CandidateIn) -> shapes.GateOut:
    """Compare a candidate with what is in force on the datasets that guard it; ask again while one is pending."""
    report = gate.compare(principal=request.principal, name=fields.candidate, wait_s=fields.wait_seconds)
    return shapes.gate_out(report)


@router.get("/judge-prompts", response=list[shapes.PromptOut])
def list_judge_prompts(request: HubRequest) -> list[shapes.PromptOut]:
    """What language models are told beside the fixed rules: every version, newest first."""
    return [shapes.prompt_out(prompt) for prompt in list_prompts(request.principal)]


@router.post("/judge-prompts", response={201: shapes.PromptOut})
def draft_judge_prompt(request: HubRequest, fields: PromptIn) -> HttpResponse:
    """Store a draft; nobody is judged by it yet."""
    made = draft_prompt(principal=request.principal, **fields.model_dump())
    return created(request, location="/api/v1/judge-prompts", body=shapes.prompt_out(made))


@router.post("/judge-prompts/{kind}/{number}/publish", response=shapes.PromptOut)
def publish_judge_prompt(request: HubRequest, kind: str, number: int) -> shapes.PromptOut:
    """Put a draft in force, if the gate lets it through: 409 with the flipped cases, or why nobody can tell."""
    prompt = get_prompt(request.principal, kind, number)
    published = publish_prompt(principal=request.principal, prompt_id=prompt.pk)
    return shapes.prompt_out(published)
