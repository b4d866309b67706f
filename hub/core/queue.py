"""Handing work to Celery by the task's name. The queue only carries ids: PostgreSQL says what is to be done.

Tasks call services, and services queue tasks: the name lets the second need no import of the first.
"""

from __future__ import annotations

import logging
import threading
from functools import cache, partial
from typing import Any

from celery import Task, current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from hub.core.embedded import EmbeddedServerError
from hub.core.valkey import ensure_queue

logger = logging.getLogger(__name__)
_importing = threading.Lock()


@cache
def _have_a_queue() -> None:
    """The first message of a process may come before anybody has started the embedded queue."""
    ensure_queue()


def enqueue_on_commit(task: str, **arguments: str | int) -> None:
    """Queue the task of this name once the running transaction has committed.

    A queue that is down loses nothing: the sweeper finds in PostgreSQL what was never started.
    """
    transaction.on_commit(partial(enqueue, task, **arguments))


def enqueue(task: str, **arguments: str | int) -> bool:
    """Queue the task of this name now; False (and a log line) when the queue does not answer.

    :raises celery.exceptions.NotRegistered: no task has this name.
    """
    try:
        _have_a_queue()
        _registered(task).apply_async(kwargs=arguments, retry_policy={"max_retries": 1, "interval_start": 0.1})
    except (OperationalError, EmbeddedServerError) as error:
        logger.warning("%s not queued, the sweeper will start it: %s", task, error)
        return False
    return True


def _registered(name: str) -> Task[Any, Any]:
    """Return the task with its own options (how long a message keeps, …); the modules of tasks are imported for it."""
    if name not in current_app.tasks:
        with _importing:  # the second of two threads would otherwise find some of the tasks
            current_app.loader.import_default_modules()
    task: Task[Any, Any] = current_app.tasks[name]
    return task
