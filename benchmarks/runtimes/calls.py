"""The calls that are measured."""

from __future__ import annotations

import random

from benchmarks.beside import MCP_CALL, MCP_HEADERS, QUESTIONS
from benchmarks.runtimes.servers import Callers
from benchmarks.runtimes.wire import request

COLLECTIONS = "/api/v1/collections"
KINDS = ("REST, trivial", "REST, hybrid search", "admin page", "MCP, trivial")
PROBES = ("/healthz", "/readyz")


def as_bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def search(token: str) -> bytes:
    """Return a search that no one has asked before."""
    query = f"{random.choice(QUESTIONS)} {random.randrange(10**9)}"
    body = {"query": query, "mode": "hybrid", "limit": 10}
    return request("POST", "/api/v1/search", body=body, **as_bearer(token))


def call(kind: str, callers: Callers) -> bytes:
    """Return one call of a kind, by somebody who has no part in a burst and makes calls of this kind alone."""
    if kind == "REST, trivial":
        return request("GET", COLLECTIONS, **as_bearer(callers.others[1]))
    if kind == "REST, hybrid search":
        return search(callers.others[2])
    if kind == "admin page":
        return request("GET", "/admin/knowledge/document/", Cookie=f"sessionid={callers.session}")
    if kind == "MCP, trivial":
        return request("POST", "/mcp/rag/", body=MCP_CALL, **MCP_HEADERS, **as_bearer(callers.others[3]))
    return request("GET", kind)


def events(callers: Callers) -> bytes:
    """Return the request for a stream that goes on for a day."""
    return request("GET", f"/api/v1/reviews/{callers.review}/events", **as_bearer(callers.other))
