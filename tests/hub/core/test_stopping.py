"""Work in a thread hears that nobody waits for it any more."""

from __future__ import annotations

import threading

import pytest

from hub.core.waiting import Stop, Stopped, raise_if_stopped, stoppable_by, woken_by_stop


def test_work_that_looks_ends_when_it_is_stopped():
    stop = Stop()
    with stoppable_by(stop):
        raise_if_stopped()
        stop.set()
        with pytest.raises(Stopped):
            raise_if_stopped()
    raise_if_stopped()  # outside nothing is stopped


def test_work_that_waits_is_woken_once_and_at_once_when_it_comes_too_late():
    stop, woken = Stop(), []
    with stoppable_by(stop):
        with woken_by_stop(lambda: woken.append("before")):
            pass
        with woken_by_stop(lambda: woken.append("waiting")):
            threading.Thread(target=stop.set).run()
        stop.set()
        with woken_by_stop(lambda: woken.append("late")):
            pass
    assert woken == ["waiting", "late"]


def test_work_that_nobody_can_stop_waits_as_ever():
    with woken_by_stop(pytest.fail):
        raise_if_stopped()
