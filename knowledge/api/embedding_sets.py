"""REST calls about embedding sets: the steps of the admin's page and of `manage.py embedding_set`."""

from __future__ import annotations

from urllib.parse import quote

from django.http import HttpResponse
from ninja import Field, Router, Schema

from hub.rest.auth import HubRequest
from hub.rest.responses import accepted, created
from hub.rest.schemas import ShortText
from knowledge.api.sources import ChunkingIn
from knowledge.embedding_sets import comparisons, sets, switching
from knowledge.embedding_sets.schemas import (
    ComparisonOut,
    EmbeddingSetOut,
    EmbeddingSetsOut,
    comparison_out,
    embedding_set_out,
)
from knowledge.embedding_sets.sets import SetDraft
from knowledge.models import EmbeddingSet
from knowledge.types.search import SearchMode

router = Router(tags=["embedding sets"])


class EmbeddingSetIn(Schema):
    name: str = Field(max_length=100)
    backend: ShortText = Field("bundled", description="bundled, bundled-fp32, sentence-transformers, openai, bedrock")
    model: str = Field("", max_length=200, description="default: the backend's own")
    base_url: str = Field("", max_length=300, description="of an OpenAI-compatible server; default EMBEDDING_BASE_URL")
    chunking: ChunkingIn | None = Field(None, description="default: as the active set")


class ComparisonIn(Schema):
    dataset: ShortText
    candidate: ShortText = Field(description="name of the set")
    baseline: ShortText = Field("", description="name of the set to hold it against; default: the active one")
    mode: SearchMode = SearchMode.HYBRID
    wait_seconds: float = Field(20, ge=0, le=50, description="wait this long for the result before answering")


@router.get("/embedding-sets", response=EmbeddingSetsOut)
def list_embedding_sets(request: HubRequest) -> EmbeddingSetsOut:
    """Every set with its state and progress, the newest first (curators)."""
    states = sets.list_sets(request.principal)
    return EmbeddingSetsOut(embedding_sets=[embedding_set_out(one.embedding_set, one.progress) for one in states])


@router.post("/embedding-sets", response={201: EmbeddingSetOut})
def create_embedding_set(request: HubRequest, fields: EmbeddingSetIn) -> HttpResponse:
    """Make a set beside the active one (administrators). Nothing is built yet, and nobody searches it."""
    options = fields.chunking.options() if fields.chunking else None
    draft = SetDraft(chunk_options=options, **fields.model_dump(exclude={"chunking"}))
    made = sets.create_set(principal=request.principal, draft=draft)
    return created(request, location=_address(made), body=_state(request, made.name))


# Fixed addresses come before those with a name: a set can't be called like them here.
@router.post("/embedding-sets/compare", response={202: ComparisonOut})
def compare_embedding_sets(request: HubRequest, asked: ComparisonIn) -> HttpResponse:
    """Ask a dataset's questions of two sets (curators); poll Location while status is queued or running."""
    run = comparisons.start_comparison(principal=request.principal, **asked.model_dump(exclude={"wait_seconds"}))
    run = comparisons.wait_for_comparison(request.principal, run, timeout_s=asked.wait_seconds)
    location = f"/api/v1/embedding-sets/comparisons/{run.public_id}"
    return accepted(request, location=location, body=comparison_out(run))


@router.get("/embedding-sets/comparisons/{run_id}", response=ComparisonOut)
def get_embedding_set_comparison(request: HubRequest, run_id: str) -> ComparisonOut:
    """How far a comparison is, and what it found; its runs are evaluation runs, too (curators)."""
    return comparison_out(comparisons.get_comparison(request.principal, run_id))


@router.post("/embedding-sets/rollback", response=EmbeddingSetOut)
def roll_back_embedding_set(request: HubRequest) -> EmbeddingSetOut:
    """Have search use the set again that it used before (administrators)."""
    return _state(request, switching.roll_back(principal=request.principal).name)


@router.get("/embedding-sets/{name}", response=EmbeddingSetOut)
def get_embedding_set(request: HubRequest, name: str) -> EmbeddingSetOut:
    """One set with its state and progress (curators)."""
    return _state(request, name)


@router.post("/embedding-sets/{name}/build", response={202: EmbeddingSetOut})
def build_embedding_set(request: HubRequest, name: str) -> HttpResponse:
    """Build a set, or resume at once after a failure (administrators); poll Location for its progress."""
    return _working(request, sets.start_build(principal=request.principal, name=name))


@router.post("/embedding-sets/{name}/switch", response=EmbeddingSetOut)
def switch_embedding_set(request: HubRequest, name: str) -> EmbeddingSetOut:
    """Have search use a set from its next query on (administrators); one that lacks a passage is a 409."""
    return _state(request, switching.switch_to(principal=request.principal, name=name).name)


@router.delete("/embedding-sets/{name}", response={202: EmbeddingSetOut})
def drop_embedding_set(request: HubRequest, name: str) -> HttpResponse:
    """Give a set up (administrators); its vectors are cleared away in the background. The active one is a 409."""
    return _working(request, sets.drop_set(principal=request.principal, name=name))


def _working(request: HubRequest, row: EmbeddingSet) -> HttpResponse:
    return accepted(request, location=_address(row), body=_state(request, row.name))


def _state(request: HubRequest, name: str) -> EmbeddingSetOut:
    state = sets.get_set(request.principal, name)
    return embedding_set_out(state.embedding_set, state.progress)


def _address(row: EmbeddingSet) -> str:
    return f"/api/v1/embedding-sets/{quote(row.name, safe='')}"
