"""What counts as beat's sign of life: work that was sent, not a process that lives."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings

from hub.core.beat_signs import MISSED_KEY, SENT_KEY, give_sign, sent_seconds_ago, silent_seconds
from hub.core.steady_schedule import SteadyScheduler
from hub.core.valkey import client_of

pytestmark = pytest.mark.usefixtures("queue", "unheard")
EVERY = timedelta(hours=1)


@pytest.fixture
def unheard():
    """Nothing is known of beat, neither before nor after a test."""
    client = client_of(settings.REDIS_CLIENT_URL)
    client.delete(SENT_KEY, MISSED_KEY)
    yield
    client.delete(SENT_KEY, MISSED_KEY)


def beat_with(folder: Path, *given: object) -> SteadyScheduler:
    """A schedule of one task, which was due an hour ago, and what it is called with."""
    app = Celery("signs", broker="memory://", set_as_current=False)
    app.conf.result_expires = None  # else Celery adds an entry of its own
    app.conf.beat_schedule = {"sweep": {"task": "sweep", "schedule": EVERY, "args": given}}
    beat = SteadyScheduler(app=app, schedule_filename=str(folder / "schedule"), lazy=False)
    beat.schedule["sweep"].last_run_at = app.now() - 2 * EVERY
    return beat


def test_a_beat_that_turns_and_sends_nothing_gives_no_sign(tmp_path):
    beat = beat_with(tmp_path)
    beat.tick()
    assert (sent_seconds_ago() or 0) < 60
    assert sent_seconds_ago() is not None
    client_of(settings.REDIS_CLIENT_URL).delete(SENT_KEY)
    for _turn in range(3):  # it is not due for an hour
        beat.tick()
    assert sent_seconds_ago() is None
    beat.close()


def test_work_that_can_not_be_sent_is_no_sign(tmp_path, caplog):
    beat = beat_with(tmp_path, object())  # what JSON has no words for
    beat.tick()
    assert "Couldn't apply scheduled task sweep" in caplog.text
    assert sent_seconds_ago() is None
    beat.close()


def test_silence_is_reckoned_from_when_it_was_first_missed():
    assert silent_seconds() < 60
    client = client_of(settings.REDIS_CLIENT_URL)
    client.incrbyfloat(MISSED_KEY, -300)
    assert 300 <= silent_seconds() < 360
    give_sign()
    assert silent_seconds() < 60
    client.delete(SENT_KEY)
    assert silent_seconds() < 60  # anew, not from five minutes ago


@pytest.mark.parametrize("written", ["9e18", "nan", "inf", "-inf", "x", "", "5分前"])
def test_what_is_no_moment_until_now_is_no_sign(written):
    client = client_of(settings.REDIS_CLIENT_URL)
    client.set(SENT_KEY, written)
    assert sent_seconds_ago() is None
    client.set(MISSED_KEY, written)
    assert silent_seconds() == 0.0
    client.incrbyfloat(MISSED_KEY, -300)  # it is reckoned from that look
    assert 300 <= silent_seconds() < 360
