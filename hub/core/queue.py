"""Handing work to Celery. The queue only carries ids: what is to be done stands in PostgreSQL."""

from __future__ import annotations

import logging
from functools import cache, partial
from typing import Any

from celery import Task
from django.db import transaction
from kombu.exceptions import OperationalError

from hub.core.embedded import EmbeddedServerError
from hub.core.servers import ensure_queue

logger = logging.getLogger(__name__)


@cache
def _have_a_queue() -> None:
    """The first message of a process may come before anybody has started the embedded queue."""
    ensure_queue()


def enqueue_on_commit(task: Task[Any, Any], **arguments: str | int) -> None:
    """Queue ``task`` once the running transaction has committed.

    A queue that is down loses nothing: the sweeper finds in PostgreSQL what was never started.
    """
    transaction.on_commit(partial(enqueue, task, **arguments))


def enqueue(task: Task[Any, Any], **arguments: str | int) -> bool:
    """Queue ``task`` now; False (and a log line) when the queue does not answer."""
    try:
        _have_a_queue()
        task.apply_async(kwargs=arguments, retry_policy={"max_retries": 1, "interval_start": 0.1})
    except (OperationalError, EmbeddedServerError) as error:
        logger.warning("%s not queued, the sweeper will start it: %s", task.name, error)
        return False
    return True
