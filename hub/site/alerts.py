"""Alerts through ALERT_URLS: once when trouble begins, once when it is over.

The web process looks itself, since a dead worker can't say that it is dead; beat's task looks too, should the web be
away. What was said is kept in the cache, so that it is said once, however many processes look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from time import time as clock

import redis
from apprise import Apprise
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.template.defaultfilters import filesizeformat
from django.utils import formats, timezone, translation
from django.utils.translation import gettext as _

from hub.backups.runs import backup_state
from hub.core.beat_signs import GONE_AFTER_S, seen_seconds_ago
from hub.core.disk_room import rooms
from hub.core.measures import MCP_FAILURES, total
from hub.core.scheduled_rows import failing_tasks
from knowledge.documents.workers import worker_is_alive
from knowledge.models import DocumentVersion, Source
from knowledge.models.documents import IN_WORK, DocumentStatus
from knowledge.storage import pending_removals
from mcp_bridge.threads import in_thread
from review.models import Review
from review.models.reviews import UNFINISHED

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 30.0
WORKER_GONE_AFTER = timedelta(seconds=60)
WAITS_TOO_LONG = timedelta(days=8)  # a day after `knowledge.tidy` should have removed them
STUCK_AFTER = timedelta(minutes=30)
FAILING_WITHIN = timedelta(minutes=15)
FAILING_FROM = 5  # failures, and at least half of what ended
MCP_FAILING_FROM = 5  # failures within FAILING_WITHIN; there should be none
SOURCES_AT_MOST = 20
AUDIT = "hub.verify_audit"
_STATE, _LOCK, _MCP_SUMS = "alerts:said", "alerts:looking", "alerts:mcp"
_LOCK_S = 60


def troubles() -> dict[str, str]:
    """Name what is wrong now: {key: one sentence in the active language}. Six queries at most and one for workers.

    It remembers how many MCP requests had failed, to see at the next look how many more there are.
    """
    found = {}
    old = DocumentVersion.objects.filter(status__in=IN_WORK, queued_at__lt=Now() - WORKER_GONE_AFTER).exists()
    old = old or Review.objects.filter(status__in=UNFINISHED, created_at__lt=Now() - WORKER_GONE_AFTER).exists()
    if old and not worker_is_alive():
        found["worker"] = _("Work is waiting and no worker is alive. Start one; see `manage.py doctor`.")
    unheld = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=Now())
    stuck = DocumentVersion.objects.filter(unheld, status__in=IN_WORK, queued_at__lt=Now() - STUCK_AFTER).count()
    if stuck:
        found["pipeline_stuck"] = _("The pipeline is stuck: nobody works on %(count)d documents.") % {"count": stuck}
    ended = DocumentVersion.objects.filter(finished_at__gte=Now() - FAILING_WITHIN).aggregate(
        total=Count("pk"), failed=Count("pk", filter=Q(status=DocumentStatus.FAILED))
    )
    if ended["failed"] >= FAILING_FROM and 2 * ended["failed"] >= ended["total"]:
        found["pipeline_failing"] = _("The pipeline is failing: %(failed)d of the last %(total)d documents.") % ended
    waiting = pending_removals(broken_off_since=WAITS_TOO_LONG).filter(since__lt=Now() - WAITS_TOO_LONG).count()
    if waiting:
        found["bytes_waiting"] = _(
            "%(count)d stored files of deleted documents wait to be removed for days; see `manage.py doctor`."
        ) % {"count": waiting}
    failures = _new_mcp_failures()
    if failures >= MCP_FAILING_FROM:
        found["mcp_failing"] = _(
            "MCP requests are failing for reasons inside the hub: %(count)d within 15 minutes. The log says why."
        ) % {"count": failures}
    for room in rooms():
        if room.is_nearly_full:
            found[f"storage:{room.folder}"] = _("The disk of %(folder)s is nearly full: %(room)s are free.") % {
                "folder": room.folder,
                "room": filesizeformat(room.free_bytes),
            }
    seen = seen_seconds_ago()
    if seen is not None and seen > GONE_AFTER_S:
        found["beat"] = _("Scheduled work stands still: beat has given no sign of life for %(seconds)d seconds.") % {
            "seconds": GONE_AFTER_S
        }
    if late := backup_state().late_since:
        found["backup"] = _("No good backup since %(moment)s; see `manage.py doctor`.") % {
            "moment": formats.date_format(timezone.localtime(late), "DATETIME_FORMAT")
        }
    return found | _failing_work()


def _failing_work() -> dict[str, str]:
    """Scheduled work that went past errors, and sources whose last scan failed."""
    failing = failing_tasks()
    found = {
        f"failing:{one.task}": _("The audit trail is not as it was written: %(problem)s. See `manage.py audit verify`.")
        % {"problem": "; ".join(one.rows)}
        for one in failing
        if one.task == AUDIT
    }
    found |= {
        f"failing:{one.task}": _("%(task)s failed at %(count)d rows and went on: %(rows)s. The log says why.")
        % {"task": one.task, "count": one.count, "rows": ", ".join(one.rows)}
        for one in failing
        if one.task != AUDIT
    }
    sources = Source.objects.filter(enabled=True, report__state="failed").order_by("name")
    for name in sources.values_list("name", flat=True)[:SOURCES_AT_MOST]:
        found[f"source:{name}"] = _("The last scan of the source %(name)s failed; its report says why.") % {
            "name": name
        }
    return found


def _new_mcp_failures() -> int:
    """How many requests over MCP failed since the oldest look of the last 15 minutes."""
    now, sum_now = clock(), int(total(MCP_FAILURES))
    since = now - FAILING_WITHIN.total_seconds()
    sums: list[tuple[float, int]] = cache.get(_MCP_SUMS) or []
    # A greater sum than there is now is one from before Valkey was emptied.
    recent = [(at, failures) for at, failures in sums if at >= since and failures <= sum_now]
    cache.set(_MCP_SUMS, [*recent, (now, sum_now)], int(FAILING_WITHIN.total_seconds()))
    return sum_now - min((failures for _at, failures in recent), default=sum_now)


def look() -> None:
    """Send what is new and what is over; nothing while another process looks. What can't be sent is tried again."""
    if not settings.CONFIG.alert_urls or not cache.add(_LOCK, True, _LOCK_S):
        return
    try:
        with translation.override(settings.LANGUAGE_CODE):
            said: dict[str, str] = cache.get(_STATE) or {}
            now = troubles()
            over = {key: _("Over: {trouble}").format(trouble=said[key]) for key in said.keys() - now.keys()}
            new = {key: now[key] for key in now.keys() - said.keys()}
            if (new or over) and not _send([*new.values(), *over.values()], is_trouble=bool(new)):
                return
            if new or over:
                cache.set(_STATE, {key: said.get(key, now[key]) for key in now}, None)
    finally:
        cache.delete(_LOCK)


def _send(lines: list[str], *, is_trouble: bool) -> bool:
    channels = Apprise()
    for url in settings.CONFIG.alert_urls:
        if not channels.add(url):
            logger.error("ALERT_URLS: a URL of scheme %s can't be used", url.partition(":")[0])
    sent = channels.notify(
        title=_("Knowledge hub at {url}").format(url=settings.CONFIG.public_url),
        body="\n".join(lines),
        notify_type="failure" if is_trouble else "success",
    )
    if not sent:
        logger.error("an alert could not be sent to every channel: %s", "; ".join(lines))
    return bool(sent)


@asynccontextmanager
async def watched() -> AsyncIterator[None]:
    """Look every 30 seconds inside the block, when ALERT_URLS is set."""
    task = asyncio.create_task(_watch(), name="alerts") if settings.CONFIG.alert_urls else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _watch() -> None:
    while True:
        try:
            await in_thread(look)
        except (DatabaseError, redis.RedisError) as error:
            logger.warning("alerts: database or cache is away: %s", error)
        await asyncio.sleep(LOOK_EVERY_S)
