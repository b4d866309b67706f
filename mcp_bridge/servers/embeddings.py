"""The vectors of a document: the tool that makes them, and the resource that tells how far they are."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

from hub.access.principals import Scope
from knowledge.documents.document_vectors import DocumentEmbedding, DocumentVectors, VectorStatus, vectors_of
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.server import hub_tool
from mcp_bridge.servers.schemas import MAX_WAIT_S, DocumentId
from mcp_bridge.servers.waiting import wait_reporting
from mcp_bridge.threads import in_thread

# Passages are embedded in the call itself, a bit at a time, so that progress and cancellation get their turn.
SLICE_S = 2.0


class EmbedResult(BaseModel):
    document_id: str
    status: Literal["completed", "partial", "failed"] = Field(
        description="partial: call again to go on; failed: status_reason says why"
    )
    status_reason: str | None
    chunks_embedded: int = Field(description="passages of the document that have a vector of this model now")
    chunks_count: int = Field(description="passages of the document")
    newly_embedded: int = Field(description="vectors that this call made")
    model_used: str
    embedding_set: str
    embedding_dimension: int
    total_time_ms: float
    resource_uri: str = Field(description="read this resource to see how far the document is")


async def embed_document(
    document_id: DocumentId,
    ctx: Context[Any, Any],
    model: Annotated[
        str,
        Field(
            max_length=200,
            description="model or embedding set; empty: the active set, which search uses",
            examples=["", "multilingual-e5-large"],
        ),
    ] = "",
    force_reembed: Annotated[bool, Field(description="make the vectors anew that are there already")] = False,
    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="work this long, then answer")] = 45,
) -> EmbedResult:
    """Make the vectors of a document's passages (埋め込み生成) where they are missing, with the model that search uses.

    upload_document embeds by itself. Use it to repair a document that is found by words but not by meaning, or to
    prepare one for another model that an administrator added.
    """
    started = time.perf_counter()
    principal = current_caller().principal
    job = await in_thread(
        DocumentEmbedding, principal=principal, document_id=document_id, model=model, again=force_reembed
    )
    finished = await wait_reporting(
        ctx, step=lambda _seconds: job.advance(SLICE_S), progress=lambda: _progress(job), limit_s=wait_seconds
    )
    state = await in_thread(job.state)
    return _result(state, job, finished=finished, took_s=time.perf_counter() - started)


def _progress(job: DocumentEmbedding) -> tuple[int, str]:
    state = job.state()
    return 100 * state.embedded // max(state.chunks, 1), "embedding"


def _result(state: DocumentVectors, job: DocumentEmbedding, *, finished: bool, took_s: float) -> EmbedResult:
    status: Literal["completed", "partial", "failed"] = "partial"
    if state.status == VectorStatus.FAILED:
        status = "failed"
    elif finished and state.status == VectorStatus.READY:
        status = "completed"
    return EmbedResult(
        document_id=state.document_id,
        status=status,
        status_reason=state.reason,
        chunks_embedded=state.embedded,
        chunks_count=state.chunks,
        newly_embedded=job.made,
        model_used=state.embedding_set.model,
        embedding_set=state.embedding_set.name,
        embedding_dimension=state.embedding_set.dimension,
        total_time_ms=round(1000 * took_s, 1),
        resource_uri=uris.EMBEDDINGS + state.document_id,
    )


def read_embeddings(id: str) -> dict[str, Any]:
    """A document's vectors (埋め込み): model, dimension, how many passages have one; in every embedding set."""
    states = vectors_of(current_caller().principal, id)
    active = next(state for state in states if state.embedding_set.is_active)
    return {**_facts(active), "document_id": id, "sets": [_facts(state) for state in states]}


def _facts(state: DocumentVectors) -> dict[str, Any]:
    return {
        "embedding_set": state.embedding_set.name,
        "is_active": state.embedding_set.is_active,
        "model": state.embedding_set.model,
        "dimension": state.embedding_set.dimension,
        "chunks_count": state.chunks,
        "chunks_embedded": state.embedded,
        "created_at": state.created_at.isoformat() if state.created_at else None,
        "status": state.status.value,
        "status_reason": state.reason,
    }


TOOL = hub_tool(
    embed_document,
    title="Embed a document (埋め込み生成)",
    scope=Scope.READ,
    held=[Scope.UPLOAD, Scope.CURATE],
    picture="grid",
    read_only=False,
)
