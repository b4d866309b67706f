"""Scheduled work goes on when the clock is put back, while beat runs and while it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from celery import Celery
from celery.beat import ScheduleEntry
from celery.schedules import crontab

from hub.core.steady_schedule import SteadyScheduler

EVERY_S = 5.0
NOON = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)


class Recording(SteadyScheduler):
    """Notes what is due in place of sending it."""

    def __init__(self, app: Celery, file: Path) -> None:
        self.sent: list[str] = []
        super().__init__(app=app, schedule_filename=str(file), lazy=False)

    def apply_entry(self, entry: ScheduleEntry, producer: object = None) -> None:
        self.sent.append(entry.name)


class Clock:
    """What every part of Celery takes for the present."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def sent_at(self, moment: datetime, beat: Recording) -> list[str]:
        self.moment = moment
        beat.sent.clear()
        while beat.tick() == 0:
            continue
        return sorted(beat.sent)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(NOON)
    monkeypatch.setattr(Celery, "now", lambda _app: clock.moment)
    return clock


@pytest.fixture
def start(clock: Clock, tmp_path: Path) -> Iterator[Callable[[], Recording]]:
    """Starts beat over one file, as after an end before."""
    app = Celery("clock", broker="memory://", set_as_current=False)
    app.conf.result_expires = None  # else Celery adds an entry of its own
    app.conf.beat_schedule = {
        "sweep": {"task": "sweep", "schedule": EVERY_S},
        "seal": {"task": "seal", "schedule": EVERY_S},
        "nightly": {"task": "nightly", "schedule": crontab(hour=3, minute=30)},
    }
    started: list[Recording] = []

    def begin() -> Recording:
        for beat in started:
            beat.close()
        started.append(Recording(app, tmp_path / "schedule"))
        return started[-1]

    yield begin
    started[-1].close()


def test_what_ran_by_a_clock_that_was_ahead_runs_again_by_the_present_one(clock, start, caplog):
    beat = start()
    step = timedelta(seconds=EVERY_S + 1)
    assert clock.sent_at(NOON + step, beat) == ["seal", "sweep"]
    assert clock.sent_at(NOON + timedelta(hours=16), beat) == ["nightly", "seal", "sweep"]
    assert caplog.messages == []
    back = NOON - timedelta(minutes=20)
    assert clock.sent_at(back, beat) == []
    assert "put back by 16:20:00" in caplog.text
    assert clock.sent_at(back + step, beat) == ["seal", "sweep"]
    assert clock.sent_at(back + step * 2, beat) == ["seal", "sweep"]
    assert len(caplog.messages) == 1
    assert clock.sent_at(NOON + timedelta(hours=16), beat) == ["nightly", "seal", "sweep"]


def test_a_clock_that_is_set_in_small_steps_changes_nothing(clock, start, caplog):
    beat = start()
    ran = NOON + timedelta(seconds=EVERY_S)
    assert clock.sent_at(ran, beat) == ["seal", "sweep"]
    assert clock.sent_at(ran - timedelta(seconds=0.9), beat) == []
    assert caplog.messages == []


def test_a_schedule_that_was_kept_by_a_clock_that_was_ahead_goes_on(clock, start):
    clock.moment = NOON + timedelta(days=400)
    start()
    beat = start()
    assert clock.sent_at(NOON, beat) == []
    assert clock.sent_at(NOON + timedelta(seconds=EVERY_S + 1), beat) == ["seal", "sweep"]
