"""Alerts through ALERT_URLS: once when trouble begins, once when it is over.

The web process looks itself, since a dead worker can't say that it is dead; beat's task looks too, should the web be
away. What was said is kept in the cache, so that it is said once, however many processes look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import redis
from apprise import Apprise
from django.conf import settings
from django.core.cache import cache
from django.db import Error as DatabaseError
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.template.defaultfilters import filesizeformat
from django.utils import formats, timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.access.principals import Principal
from hub.backups.runs import backup_state
from hub.core.beat_signs import GONE_AFTER_S, silent_seconds
from hub.core.disk_room import rooms
from hub.core.replicas import ReplicaProblem, replica_states
from hub.core.scheduled_rows import FailingTask, failing_tasks
from hub.site.counted_troubles import counted_troubles
from knowledge.documents.sources import visible_sources
from knowledge.documents.workers import worker_is_alive, wrong_clocks
from knowledge.generations.generations import LATE_S, lags
from knowledge.models import DocumentVersion, Source
from knowledge.models.documents import ARRIVED_AT, IN_WORK, DocumentStatus
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
LATE_AFTER = timedelta(minutes=30)
SOURCES_AT_MOST = 20
AUDIT = "hub.verify_audit"
DISK = "storage:"  # before the folder
DATABASE, QUEUE = "database", "queue"
_AWAY = {
    DATABASE: gettext_lazy("PostgreSQL does not answer: %(reason)s. See DATABASE_URL and the server's log."),
    QUEUE: gettext_lazy("The queue (Valkey or Redis) does not answer: %(reason)s. See REDIS_URL."),
}
_STATE, _LOCK = "alerts:said", "alerts:looking"
_LOCK_S = 60


@dataclass(slots=True)
class _Said:
    """What was said and is not over, as this process knows it, and whether the cache has it too."""

    troubles: dict[str, str] = field(default_factory=dict)
    is_kept: bool = True


_said = _Said()


def troubles(reader: Principal | None = None) -> dict[str, str]:
    """Name what is wrong now: {key: one sentence in the active language}. Nine queries at most and one for workers.

    To a ``reader`` sources and rows are named only as far as they may see them; without one, for ALERT_URLS, all are.
    A server that is away is one of them, and what only it could say is left out. It remembers how many requests had
    failed, to see at the next look how many more there are.
    """
    found = _disks()
    failing_work = partial(_failing_work, reader)
    of_database = (_work, _index_lag, _backup, _search_engine, _replicas, failing_work)
    for server, parts in ((DATABASE, of_database), (QUEUE, (counted_troubles, _beat))):
        try:
            for part in parts:
                found |= part()
        except (DatabaseError, redis.RedisError) as error:
            logger.warning("alerts: %s is away: %s", server, error)
            found[server] = _AWAY[server] % {"reason": str(error).strip().partition("\n")[0]}
    return found


def _disks() -> dict[str, str]:
    return {
        f"{DISK}{room.folder}": _("The disk of %(folder)s is nearly full: %(room)s are free.")
        % {"folder": room.folder, "room": filesizeformat(room.free_bytes)}
        for room in rooms()
        if room.is_nearly_full
    }


def _work() -> dict[str, str]:
    """Work that waits for a worker, for days, or that mostly fails; workers with a wrong clock."""
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
    if wrong := wrong_clocks():
        said = _("Clocks of workers are wrong, so that they discard scheduled work: %(workers)s.")
        found["clock"] = said % {"workers": ", ".join(f"{name} ({by:+.0f} s)" for name, by in wrong.items())}
    waiting = pending_removals(broken_off_since=WAITS_TOO_LONG).filter(since__lt=Now() - WAITS_TOO_LONG).count()
    if waiting:
        found["bytes_waiting"] = _(
            "%(count)d stored files of deleted documents wait to be removed for days; see `manage.py doctor`."
        ) % {"count": waiting}
    return found


def _index_lag() -> dict[str, str]:
    """Documents that wait to become searchable; those whose pages are read by OCR take their time."""
    late = Now() - LATE_AFTER
    waiting = DocumentVersion.objects.alias(arrived_at=ARRIVED_AT).filter(status__in=IN_WORK, arrived_at__lt=late)
    waiting = waiting.exclude(status=DocumentStatus.READING)
    if not (count := waiting.count()):
        return {}
    said = _("%(count)d documents have waited for more than %(minutes)d minutes to become searchable.")
    return {"index_lag": said % {"count": count, "minutes": LATE_AFTER.total_seconds() // 60}}


def _beat() -> dict[str, str]:
    if silent_seconds() <= GONE_AFTER_S:
        return {}
    said = _("Scheduled work stands still: beat has sent nothing for %(seconds)d seconds.")
    return {"beat": said % {"seconds": GONE_AFTER_S}}


def _backup() -> dict[str, str]:
    late = backup_state().late_since
    if not late:
        return {}
    moment = formats.date_format(timezone.localtime(late), "DATETIME_FORMAT")
    return {"backup": _("No good backup since %(moment)s; see `manage.py doctor`.") % {"moment": moment}}


def _search_engine() -> dict[str, str]:
    behind = max((lag.seconds for lag in lags().values()), default=0.0)
    if behind <= LATE_S:
        return {}
    said = _(
        "The search engine has not been told of changes for %(minutes)d minutes; see `manage.py search_index list`."
    )
    return {"search_engine": said % {"minutes": behind // 60}}


_NOT_SERVING = {
    ReplicaProblem.AWAY: gettext_lazy("The database replica %(number)s does not answer; the primary serves its reads."),
    ReplicaProblem.BEHIND: gettext_lazy(
        "The database replica %(number)s is too far behind (HUB_REPLICA_MAX_LAG_S); the primary serves its reads."
    ),
    ReplicaProblem.PROMOTED: gettext_lazy(
        "The database replica %(number)s takes writes itself now: it was promoted. See DATABASE_REPLICA_URLS."
    ),
}


def _replicas() -> dict[str, str]:
    return {
        f"replica:{state.alias}": _NOT_SERVING[state.problem] % {"number": state.number}
        for state in replica_states()
        if state.problem
    }


def _failing_work(reader: Principal | None) -> dict[str, str]:
    """Scheduled work that went past errors, and sources whose last scan failed."""
    sees_all = reader is None or reader.sees_everything
    found = {f"failing:{one.task}": _failing_task(one, with_rows=sees_all) for one in failing_tasks()}
    failed = Source.objects.filter(enabled=True, report__state="failed")
    named = failed if reader is None else visible_sources(reader).filter(pk__in=failed)
    for name in named.order_by("name").values_list("name", flat=True)[:SOURCES_AT_MOST]:
        found[f"source:{name}"] = _("The last scan of the source %(name)s failed; its report says why.") % {
            "name": name
        }
    if not sees_all and (others := failed.exclude(pk__in=named.values("pk")).count()):
        said = _("The last scan of %(count)d sources of collections that you do not curate failed.")
        found["sources"] = said % {"count": others}
    return found


def _failing_task(failing: FailingTask, *, with_rows: bool) -> str:
    """Say what a task failed at; its rows may name collections and documents."""
    if failing.task == AUDIT:
        said = _("The audit trail is not as it was written: %(problem)s. See `manage.py audit verify`.")
        return said % {"problem": "; ".join(failing.rows)}
    facts = {"task": failing.task, "count": failing.count}
    if not with_rows:
        return _("%(task)s failed at %(count)d rows and went on. The log says which, and why.") % facts
    said = _("%(task)s failed at %(count)d rows and went on: %(rows)s. The log says why.")
    return said % {**facts, "rows": ", ".join(failing.rows)}


def look() -> None:
    """Send what is new and what is over; nothing while another process looks. What can't be sent is tried again.

    While the cache is away, each process that looks goes by what it knows itself was said.
    """
    if not settings.CONFIG.alert_urls:
        return
    try:
        if not cache.add(_LOCK, True, _LOCK_S):
            return
    except redis.RedisError:
        _say_changes()
        return
    # A cache that goes away from here on is noticed at the next look; the lock ends by itself.
    with suppress(redis.RedisError):
        if _said.is_kept:
            _said.troubles = cache.get(_STATE) or {}
        _say_changes()
        if not _said.is_kept:
            cache.set(_STATE, _said.troubles, None)
            _said.is_kept = True
        cache.delete(_LOCK)


def _say_changes() -> None:
    """Send what began and what ended since it was last said."""
    said = _said.troubles
    with translation.override(settings.LANGUAGE_CODE):
        now = troubles()
        # What a server that is away would say is neither new nor over.
        is_blind = not now.keys().isdisjoint(_AWAY)
        new = [key for key in now if key not in said]
        ended = [key for key in said if key not in now and (not is_blind or key in _AWAY or key.startswith(DISK))]
        over = [_("Over: {trouble}").format(trouble=said[key]) for key in ended]
        if (new or ended) and _send([*(now[key] for key in new), *over], is_trouble=bool(new)):
            _said.troubles = {key: text for key, text in (now | said).items() if key not in ended}
            _said.is_kept = False


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
        except Exception:
            logger.exception("alerts: a look failed")  # the next one may go well
        await asyncio.sleep(LOOK_EVERY_S)
