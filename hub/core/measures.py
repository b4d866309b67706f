"""What this process counts of itself; ``/metrics`` shows it beside what the database knows.

Labels come from closed sets (routes, tools, codes), never from what a caller sent.
"""

from __future__ import annotations

from prometheus_client import Counter, Gauge

REQUESTS = Counter("hub_http_requests", "HTTP requests answered, MCP included.", ["method", "route", "status"])
TOOL_CALLS = Counter("hub_mcp_tool_calls", "MCP tool calls by outcome: ok, refused, error.", ["tool", "outcome"])
OPEN_MCP = Gauge("hub_mcp_open_requests", "MCP requests under way over HTTP, open streams included.", ["server"])
WAITING_REQUESTS = Gauge("hub_http_waiting_requests", "HTTP requests that wait for a thread (HUB_REQUEST_THREADS).")
REFUSED_CONNECTIONS = Counter("hub_refused_connections", "Connections refused, by the limit.", ["limit"])
ERRORS = Counter("hub_errors", "Errors told to callers.", ["door", "code"])

UNKNOWN = "(unknown)"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def count_request(*, method: str, route: str | None, status: int) -> None:
    """Count an answered request; ``route`` is the pattern, None where nothing is."""
    REQUESTS.labels(method if method in METHODS else UNKNOWN, route or UNKNOWN, str(status)).inc()


def count_refused_connection(limit: str) -> None:
    """Count a connection beyond the limit that this setting makes."""
    REFUSED_CONNECTIONS.labels(limit).inc()
