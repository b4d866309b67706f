"""Content that the hub ships is loaded after every migration run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.apps import AppConfig
from django.db.migrations import Migration
from django.db.models.signals import post_migrate


def load_after_migrations(app: AppConfig, load: Callable[[], None]) -> None:
    """Call ``load`` at the end of every migration run of ``app``, but not when it took migrations back.

    Then tables may be gone that ``load`` writes to.
    """

    def load_unless_taken_back(*, plan: Sequence[tuple[Migration, bool]] = (), **_signal: object) -> None:
        if not any(taken_back for _migration, taken_back in plan):
            load()

    post_migrate.connect(load_unless_taken_back, sender=app, weak=False)
