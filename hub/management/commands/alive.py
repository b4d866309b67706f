"""`manage.py alive worker|beat`: whether a worker of this machine gave a sign of life lately, or beat sent work."""

from __future__ import annotations

import socket
import sys
from argparse import ArgumentParser
from datetime import timedelta

from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.db.models.functions import Now
from redis import RedisError

from hub.core.beat_signs import GONE_AFTER_S, sent_seconds_ago
from knowledge.models import WorkerHeartbeat

SILENT_FOR = timedelta(seconds=30)


class Command(BaseCommand):
    help = (
        "Say whether a worker of this machine gave a sign of life lately, or whether beat sent scheduled work. Exit "
        "code 1 when not, or when that can't be asked. Example: manage.py alive worker"
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("process", choices=["worker", "beat"])

    def handle(self, *, process: str, **_options: object) -> None:
        try:
            if process == "worker":
                is_alive = _worker_is_alive()
            else:
                is_alive = (ago := sent_seconds_ago()) is not None and ago <= GONE_AFTER_S
        except (DatabaseError, RedisError) as error:
            self.stderr.write(f"it can't be asked: {type(error).__name__}")
            sys.exit(1)
        self.stdout.write("alive" if is_alive else "no sign of life")
        if not is_alive:
            sys.exit(1)


def _worker_is_alive() -> bool:
    """Whether a worker of this machine, which in a container is the container, gave a sign in the last 30 seconds."""
    signs = WorkerHeartbeat.objects.filter(name__startswith=f"{socket.gethostname()}:")
    return signs.filter(seen_at__gte=Now() - SILENT_FOR).exists()
