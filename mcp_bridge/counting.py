"""What the servers count: over HTTP in the web process, over stdio for the web process that shows it in /metrics."""

from __future__ import annotations

from hub.core.measures import ERRORS, MCP_FAILURES, STDIO_CALLS, STDIO_ERRORS, TOOL_CALLS, Point, count
from mcp_bridge.caller import current_caller


def count_call(tool: str, outcome: str) -> None:
    """Count a tool call of the running request; both come from closed sets."""
    if _is_over_stdio():
        count(Point(family=STDIO_CALLS, labels=(tool, outcome), value=1))
    else:
        TOOL_CALLS.labels(tool, outcome).inc()


def count_error(code: str) -> None:
    """Count an error of the running request by its stable code."""
    if _is_over_stdio():
        count(Point(family=STDIO_ERRORS, labels=(code,), value=1))
    else:
        ERRORS.labels("mcp", code).inc()


def count_failure(code: str) -> None:
    """Count an error that is the hub's own, also for the alert on them."""
    count_error(code)
    count(Point(family=MCP_FAILURES, labels=(code,), value=1))


def _is_over_stdio() -> bool:
    try:
        return current_caller().is_local
    except LookupError:  # refused before anybody knew who calls
        return False
