"""Measure what the audit trail costs: a line of a read, and sealing and verifying many lines.

``python -m benchmarks.audit_trail`` writes single lines with and without waiting for the disk, asks REST calls that
read with and without their line, turn about, and prints medians and 95 % in ms; then it seals and verifies ``--lines``
lines (100,000). It uses an embedded PostgreSQL in a scratch folder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Figures = dict[str, list[float]]


def main() -> None:
    """Start a scratch hub and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit_trail", description=__doc__)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=400, help="calls of each kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
        Path(scratch).chmod(0o711)
        os.environ |= {"HUB_RATE_LIMIT_PER_MINUTE": "1000000", "ALLOWED_HOSTS": "testserver", "LOG_LEVEL": "ERROR"}
        os.environ |= {"HUB_DATA_DIR": scratch, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "hub.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        _lines(arguments.rounds)
        _calls(arguments.rounds, Path(scratch))
        _seals(arguments.lines)


def _show(figures: Figures) -> None:
    for name, times in figures.items():
        times.sort()
        middle, most = statistics.median(times), times[int(len(times) * 0.95)]
        print(f"{name:44} median {middle * 1000:7.3f} ms   95 % {most * 1000:7.3f} ms")


def _timed(times: list[float], work: Callable[[], object]) -> None:
    started = time.perf_counter()
    work()
    times.append(time.perf_counter() - started)


@contextmanager
def _waiting(waits: bool) -> Iterator[None]:
    from django.conf import settings
    from django.test import override_settings

    with override_settings(CONFIG=settings.CONFIG.model_copy(update={"hub_audit_wait_for_disk": waits})):
        yield


def _lines(rounds: int) -> None:
    from hub.access.principals import local_operator
    from hub.access.services import record_event

    figures: Figures = {"a line, waiting for the disk": [], "a line, not waiting": []}
    for _ in range(rounds):
        for (_name, times), waits in zip(figures.items(), (True, False), strict=True):
            with _waiting(waits):
                _timed(times, lambda: record_event(local_operator(), "DOCUMENT_READ", "document:doc_1", part="text"))
    _show(figures)


def _calls(rounds: int, folder: Path) -> None:
    """Calls through Django's test client. "none" takes the writing of the line out."""
    from unittest.mock import patch

    from django.contrib.auth.models import User
    from django.test import Client

    from hub.access.principals import ALL_SCOPES, local_operator
    from hub.access.services import create_token
    from knowledge.models import Chunk
    from tests.factories import upload_text, work_through

    text = "# 設計書\n\n" + "".join(f"## {n}. 性能{n}\n\n応答時間は{n}秒以内とする。\n\n" for n in range(60))
    document = work_through(upload_text(local_operator(), folder, text).document)
    chunk = Chunk.objects.earliest("pk").public_id
    admin = User.objects.create_superuser("bench")
    _row, token = create_token(principal=local_operator(), user=admin, name="bench", scopes=ALL_SCOPES)
    client, headers = Client(), {"Authorization": f"Bearer {token}"}
    asks: dict[str, Callable[[], object]] = {
        "GET /chunks/{id}": lambda: client.get(f"/api/v1/chunks/{chunk}", headers=headers),
        "GET /documents/{id}/content": lambda: client.get(
            f"/api/v1/documents/{document.public_id}/content", headers=headers
        ),
        "POST /search": lambda: client.post(
            "/api/v1/search", {"query": "応答時間の目標"}, content_type="application/json", headers=headers
        ),
    }
    for name, ask in asks.items():
        figures: Figures = {f"{name}: {kind}": [] for kind in ("no line", "a line, waiting", "a line, not waiting")}
        none, waiting, not_waiting = figures.values()
        for _ in range(20):
            answer: Any = ask()
            assert answer.status_code == 200, answer.content
        for _ in range(rounds):
            with patch("hub.access.services.write_line"):
                _timed(none, ask)
            with _waiting(True):
                _timed(waiting, ask)
            with _waiting(False):
                _timed(not_waiting, ask)
        added = {
            f"{name}: added by waiting": [b - a for a, b in zip(none, waiting, strict=True)],
            f"{name}: added without": [b - a for a, b in zip(none, not_waiting, strict=True)],
        }
        _show(figures | added)


def _seals(count: int) -> None:
    from django.db import connection, transaction

    from hub.access.audit_seals import seal_lines
    from hub.access.audit_verification import verify_trail
    from hub.access.principals import local_operator
    from hub.access.services import record_event

    started = time.perf_counter()
    with transaction.atomic():
        for number in range(count):
            record_event(local_operator(), "SEARCH", f"document:doc_{number}", mode="hybrid", results=10, number=number)
    wrote = time.perf_counter() - started
    started = time.perf_counter()
    seals = seal_lines()
    sealed = time.perf_counter() - started
    started = time.perf_counter()
    found = verify_trail()
    verified = time.perf_counter() - started
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_total_relation_size('access_auditevent'), pg_total_relation_size('access_auditsealedlines')"
        )
        lines_size, seals_size = cursor.fetchone()
    print(f"{found.lines} lines: written at once in {wrote:.1f} s, sealed in {sealed:.1f} s ({len(seals)} seals)")
    print(f"verified in {verified:.1f} s, whole: {found.is_whole}")
    print(
        f"a line takes {lines_size / found.lines:.0f} bytes with its indexes, in seals {seals_size / found.lines:.0f}"
    )


if __name__ == "__main__":
    main()
