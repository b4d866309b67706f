"""A task works under the request id of the call that started it: through the real queue, as a worker takes it."""

from __future__ import annotations

import pytest
from celery import current_app
from celery.worker.request import Request

from hub.core.context import CallContext, call_context, current_call

pytestmark = pytest.mark.usefixtures("queue")
QUEUE = "tests-of-calls"


def as_a_worker_does() -> None:
    with current_app.connection_for_write() as connection:
        message = connection.SimpleQueue(QUEUE).get(timeout=10)
        message.ack()
        Request(message, app=current_app, hostname="tests", on_ack=lambda *_given: None).execute()


@pytest.fixture
def calls():
    """What a task finds to be the running call."""
    found: list[CallContext | None] = []

    def note(fails: bool = False) -> None:
        found.append(current_call())
        if fails:
            raise RuntimeError("as asked")

    yield current_app.task(name="tests.which_call")(note), found
    del current_app.tasks["tests.which_call"]


def test_a_task_goes_on_under_the_id_of_the_call_that_started_it(calls):
    task, found = calls
    with call_context(CallContext(door="rest", request_id="req_4711")):
        task.apply_async(queue=QUEUE)
    as_a_worker_does()
    assert found == [CallContext(door="task", request_id="req_4711")]
    assert current_call() is None


def test_what_no_call_started_has_an_id_of_its_own(calls):
    task, found = calls
    for _number in range(2):
        task.apply_async(queue=QUEUE)
        as_a_worker_does()
    assert all(call.door == "task" and call.request_id.startswith("task_") for call in found)
    assert found[0].request_id != found[1].request_id


def test_a_task_that_fails_leaves_no_call_behind(calls):
    task, found = calls
    task.apply_async(args=[True], queue=QUEUE)
    as_a_worker_does()
    assert len(found) == 1
    assert current_call() is None
