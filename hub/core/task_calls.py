"""The request id of a call goes with the tasks that it starts, into their log lines and lines of the audit trail.

What nobody's call started, such as scheduled work, has an id of its own.
"""

from __future__ import annotations

from contextvars import Token
from typing import Any

from celery import Task
from celery.signals import before_task_publish, task_postrun, task_prerun

from hub.core.context import CallContext, begin_call, current_call, end_call
from hub.core.ids import new_id

HEADER = "hub_request_id"
_begun: dict[str, Token[CallContext | None]] = {}


@before_task_publish.connect
def _send_request_id(headers: dict[str, Any] | None = None, **_signal: object) -> None:
    if headers is not None and (call := current_call()) is not None:
        headers[HEADER] = call.request_id


@task_prerun.connect
def _begin(task_id: str, task: Task[Any, Any], **_signal: object) -> None:
    request_id = task.request.get(HEADER) or new_id("task")
    _begun[task_id] = begin_call(CallContext(door="task", request_id=str(request_id)))


@task_postrun.connect
def _end(task_id: str, **_signal: object) -> None:
    if (token := _begun.pop(task_id, None)) is not None:
        end_call(token)
