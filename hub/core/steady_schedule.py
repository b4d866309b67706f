"""Beat's schedule, which goes on when the machine's clock is put back, and tells what it sends."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from celery.beat import PersistentScheduler

from hub.core.beat_signs import give_sign

logger = logging.getLogger(__name__)

# What a clock is put back by in small steps, as time servers do, delays nothing by more.
TOLERATED = timedelta(seconds=1)


class SteadyScheduler(PersistentScheduler):
    """Celery's schedule in a file, in which nothing has run later than now.

    Celery reckons what is due from the moment of the last run. After a clock that was hours ahead that moment is to
    come, and nothing would be scheduled until then: neither sweeps nor seals, backups nor alerts.
    """

    def tick(self, *given: Any, **named: Any) -> float:  # noqa: ANN401 - as Celery calls it
        """Send what is due; return the seconds to wait."""
        now = self.app.now()
        runs = [(entry.last_run_at, entry) for entry in self.schedule.values() if entry.last_run_at]
        ahead = [(at, entry) for at, entry in runs if at > now + TOLERATED]
        if ahead:
            latest = max(at for at, _entry in ahead)
            logger.warning("the clock was put back by %s: scheduled work goes on by the present one", latest - now)
            for _at, entry in ahead:
                entry.last_run_at = now
            self._heap = None  # made anew, by the present clock
        return super().tick(*given, **named)

    def apply_async(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as Celery calls it
        """Send one piece of scheduled work, and give a sign of life. :raises SchedulingError: it can't be sent."""
        sent = super().apply_async(*given, **named)
        give_sign()
        return sent
