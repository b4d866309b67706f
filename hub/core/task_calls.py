"""The request id of a call goes with the tasks that it starts, into their log lines and lines of the audit trail.

So does its trace, where there is one (:mod:`hub.core.tracing`).

What nobody's call started, such as scheduled work, has an id of its own.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from celery import Task
from celery.signals import before_task_publish, task_postrun, task_prerun

from hub.core.context import CallContext, call_context, current_call
from hub.core.ids import new_id
from hub.core.tracing import PARENT_HEADER, Span, span, traceparent

HEADER = "hub_request_id"
_begun: dict[str, tuple[ExitStack, Span]] = {}


@before_task_publish.connect
def _send_request_id(headers: dict[str, Any] | None = None, **_signal: object) -> None:
    if headers is None:
        return
    if (call := current_call()) is not None:
        headers[HEADER] = call.request_id
    if (parent := traceparent()) is not None:
        headers[PARENT_HEADER] = parent


@task_prerun.connect
def _begin(task_id: str, task: Task[Any, Any], **_signal: object) -> None:
    request_id = str(task.request.get(HEADER) or new_id("task"))
    facts = {"hub.request_id": request_id, "hub.task_id": task_id}
    call = ExitStack()
    call.enter_context(call_context(CallContext(door="task", request_id=request_id)))
    traced = call.enter_context(span(f"task {task.name}", facts, parent=task.request.get(PARENT_HEADER)))
    _begun[task_id] = call, traced


@task_postrun.connect
def _end(task_id: str, state: str | None = None, **_signal: object) -> None:
    if (begun := _begun.pop(task_id, None)) is not None:
        call, traced = begun
        traced.note({"hub.state": state or ""})
        call.close()
