"""Scheduled work goes on past the rows at which it fails, and the alerts know of them until it goes well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery import shared_task
from django.conf import settings
from django.db import OperationalError

from hub.celery import app
from hub.core import scheduled_rows
from hub.core.scheduled_rows import FAILURES_AT_MOST, failing_tasks, for_each_row
from hub.core.valkey import client_of

pytestmark = pytest.mark.usefixtures("queue")


@pytest.fixture(autouse=True)
def _nothing_kept(queue: None) -> Iterator[None]:
    client_of(settings.REDIS_CLIENT_URL).delete(scheduled_rows.KEY)
    yield
    client_of(settings.REDIS_CLIENT_URL).delete(scheduled_rows.KEY)


def half(number: int) -> float:
    return 1 / number


def test_a_row_that_fails_is_named_in_the_log_and_the_next_has_its_turn(caplog):
    outcome = for_each_row("a.task", [1, 0, 2], half, name=lambda number: f"row {number}")
    assert (outcome.done, outcome.failed) == ((1.0, 0.5), ("row 0",))
    assert "a.task failed at row 0" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_the_alerts_know_of_it_until_a_run_fails_at_nothing():
    for_each_row("a.task", [0, 1], half, name=str)
    for_each_row("another", [0, 0], half, name=str)
    assert [(one.task, one.count, one.rows) for one in failing_tasks()] == [
        ("a.task", 1, ("0",)),
        ("another", 2, ("0", "0")),
    ]
    for_each_row("a.task", [1], half, name=str)
    assert [one.task for one in failing_tasks()] == ["another"]


def test_a_hundred_failures_end_a_run():
    outcome = for_each_row("a.task", [0] * (FAILURES_AT_MOST + 50), half, name=str)
    assert len(outcome.failed) == FAILURES_AT_MOST


def test_a_lost_database_ends_the_run_at_once():
    def lose(_row: int) -> None:
        raise OperationalError("the connection is closed")

    with pytest.raises(OperationalError):
        for_each_row("a.task", [1, 2], lose, name=str)


@shared_task(name="tests.fails_at", ignore_result=True)
def fails_at(number: int) -> float:
    return half(number)


def test_scheduled_work_that_fails_as_a_whole_is_known_until_it_goes_well(monkeypatch):
    monkeypatch.setitem(app.conf.beat_schedule, "test", {"task": "tests.fails_at", "schedule": 3600.0})
    fails_at.apply(args=(0,))
    assert [one.task for one in failing_tasks()] == ["tests.fails_at (a whole run)"]
    fails_at.apply(args=(1,))
    assert failing_tasks() == []
