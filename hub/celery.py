"""The Celery application: what a worker and beat load."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import threading
import warnings
from collections.abc import Callable
from typing import Any

from celery import Celery, Task
from celery.exceptions import SecurityWarning
from celery.schedules import crontab
from celery.signals import (
    beat_init,
    setup_logging,
    task_postrun,
    worker_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutting_down,
)
from django.db import DatabaseError, IntegrityError, close_old_connections

import hub.core.task_calls  # noqa: F401 (listens to every task)
from hub.core.processes import WORK, collect_seldom

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
# Django's checks are of the code, which the suite makes; they load every page, of which workers and beat show none.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

HEARTBEAT_S = 3.0

# As root in a container this is said at every start; tasks are JSON only, which is what the warning is about.
warnings.filterwarnings("ignore", category=SecurityWarning)

# While the rest is loaded. Nothing is kept from being looked at: the test runner imports this, too.
gc.set_threshold(*WORK)

app = Celery("hub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Work that is out of date is discarded by the worker's clock, so none is sooner than machines' clocks may be apart.
app.conf.beat_schedule = {
    "sweep-documents": {"task": "knowledge.sweep", "schedule": 5.0, "options": {"expires": 60}},
    "sweep-reviews": {"task": "review.sweep", "schedule": 5.0, "options": {"expires": 60}},
    "reopen-waivers": {"task": "review.reopen_waivers", "schedule": 300.0, "options": {"expires": 300}},
    "lexical-index": {"task": "knowledge.keep_lexical_index", "schedule": 30.0, "options": {"expires": 60}},
    "sweep-evaluations": {"task": "review.sweep_evaluations", "schedule": 30.0, "options": {"expires": 60}},
    "nightly-evaluations": {"task": "review.nightly", "schedule": crontab(hour=2, minute=30)},
    "scan-sources": {"task": "knowledge.scan_due_sources", "schedule": 60.0, "options": {"expires": 60}},
    "graph-masters": {"task": "knowledge.sync_graph_masters", "schedule": 60.0, "options": {"expires": 60}},
    "retention": {"task": "knowledge.enforce_retention", "schedule": 3600.0, "options": {"expires": 3600}},
    "tidy": {"task": "knowledge.tidy", "schedule": 86400.0, "options": {"expires": 3600}},
    "sample": {"task": "knowledge.sample", "schedule": 60.0, "options": {"expires": 60}},
    "alerts": {"task": "hub.alerts", "schedule": 30.0, "options": {"expires": 60}},
    "sweep-temporary-files": {"task": "hub.sweep_temporary_files", "schedule": 60.0, "options": {"expires": 60}},
    "seal-audit": {"task": "hub.seal_audit", "schedule": 30.0, "options": {"expires": 60}},
    "verify-audit": {"task": "hub.verify_audit", "schedule": crontab(hour=3, minute=30)},
    "reconcile-index": {"task": "knowledge.reconcile_index", "schedule": crontab(hour=4, minute=10)},
    "backup": {"task": "hub.backup", "schedule": 300.0, "options": {"expires": 300}},
    "prune": {"task": "hub.prune", "schedule": 3600.0, "options": {"expires": 3600}},
}

_stopping = threading.Event()


@app.task(name="hub.prune")
def prune() -> dict[str, int]:
    """Remove what is no longer needed: old idempotency keys, words of deleted documents.

    Gives how many of these ``failed``; none keeps the others from theirs.
    """
    from django.utils import timezone  # Django is not set up yet when this module is imported

    from hub.access.session_store import SessionStore
    from hub.access.sessions import prune_credentials
    from hub.core.scheduled_rows import for_each_row
    from hub.rest.idempotency import prune_idempotency_records
    from knowledge.generations.sending import prune_changes
    from knowledge.index.postings import clear_deleted_postings, prune_terms
    from knowledge.questions import prune_questions, prune_requests

    def prune_unused_terms() -> None:
        with contextlib.suppress(IntegrityError):  # a worker has just begun to use one: next time
            prune_terms()

    parts: dict[str, Callable[[], object]] = {
        "idempotency keys": lambda: prune_idempotency_records(timezone.now()),
        "postings": clear_deleted_postings,
        "words": prune_unused_terms,
        "changes of the index": prune_changes,
        "sessions": SessionStore.clear_expired,
        "provider credentials": lambda: prune_credentials(timezone.now()),
        "questions": lambda: prune_questions(timezone.now()),
        "requests": lambda: prune_requests(timezone.now()),
    }
    outcome = for_each_row("hub.prune", parts, lambda part: parts[part](), name=str)
    return {"failed": len(outcome.failed)}


@app.task(name="hub.sweep_temporary_files")
def sweep_temporary_files() -> int:
    """Remove the temporary files of dead processes; gives the number of their folders."""
    from django.conf import settings  # Django is not set up yet when this module is imported

    from hub.core.temporary import sweep

    return sweep() + sweep(settings.HUB_DATA_DIR / "tmp")


@worker_init.connect
@beat_init.connect
def _sweep_at_start(**_signal: object) -> None:
    sweep_temporary_files()


@app.task(name="hub.seal_audit")
def seal_audit() -> None:
    """Seal the lines of the audit trail that are complete, and note the newest seal outside of the database."""
    from hub.audit.checks import seal_and_note  # Django is not set up yet when this module is imported

    seal_and_note()


@app.task(name="hub.verify_audit", time_limit=6 * 3600)
def verify_audit() -> None:
    """Remove lines of the audit trail whose time is over, and verify the rest; the alerts say what is wrong."""
    from hub.audit.checks import remove_what_is_expired, verify_and_alert

    try:
        remove_what_is_expired()
    finally:
        verify_and_alert()


@app.task(name="hub.backup", time_limit=24 * 3600)
def backup() -> bool:
    """Make the day's backup into HUB_BACKUP_DIR when it is due; gives whether it did."""
    from hub.backups.runs import back_up_when_due  # Django is not set up yet when this module is imported

    return back_up_when_due()


@app.task(name="hub.alerts")
def alerts() -> None:
    """Say through ALERT_URLS what is wrong; the web process does the same, see hub.site.alerts."""
    from hub.site.alerts import look  # Django is not set up yet when this module is imported

    look()


@task_postrun.connect
def _keep_failed_runs(sender: Task[Any, Any], state: str | None = None, **_signal: object) -> None:
    """Have the alerts know of scheduled work that failed as a whole, until it goes well."""
    from hub.core.scheduled_rows import keep_failures  # Django is not set up yet when this module is imported

    if state in {"SUCCESS", "FAILURE"} and any(e["task"] == sender.name for e in app.conf.beat_schedule.values()):
        keep_failures(f"{sender.name} (a whole run)", ["all of it"] if state == "FAILURE" else [])


@setup_logging.connect
def _log_as_the_hub_does(**_signal: object) -> None:
    """Keep Celery from handlers of its own: its lines go where LOGGING says, in the form of LOG_FORMAT."""


@worker_init.connect
@beat_init.connect
def _have_a_queue(**_signal: object) -> None:
    from hub.core.valkey import ensure_queue

    ensure_queue()


@beat_init.connect
def _keep_schedule_private(**_signal: object) -> None:
    """Close the files of a schedule that a hub of before left open to others; new ones are made so."""
    from django.conf import settings

    for path in settings.HUB_DATA_DIR.glob("beat-schedule*"):
        path.chmod(0o600)


@worker_init.connect
def _collect_seldom(**_signal: object) -> None:
    collect_seldom()


@worker_ready.connect
def _start_heartbeat(**_signal: object) -> None:
    threading.Thread(target=_heartbeat, name="heartbeat", daemon=True).start()


@worker_ready.connect
def _warm_up_search(**_signal: object) -> None:
    """Have the search index read into memory: after a start of the machine it is on disk."""
    app.send_task("knowledge.warm_up_search", expires=60)


@worker_shutting_down.connect
def _stop_heartbeat(**_signal: object) -> None:
    _stopping.set()


@worker_process_shutdown.connect
def _write_measures(**_signal: object) -> None:
    from hub.core.measures import flush  # Django is not set up yet when this module is imported
    from hub.core.tracing import stop

    flush()
    stop()


def _heartbeat() -> None:
    """Tell every few seconds that this worker lives, so that others do not do its work."""
    from knowledge.documents.workers import beat, forget

    name = f"{socket.gethostname()}:{os.getpid()}"
    while not _stopping.is_set():
        _quietly(beat, name)
        _stopping.wait(HEARTBEAT_S)
    _quietly(forget, name)


def _quietly(act: Callable[[str], None], name: str) -> None:
    """A database that is away now is asked again in a few seconds; the worker's tasks report it."""
    try:
        close_old_connections()
        act(name)
    except DatabaseError:
        close_old_connections()
