"""How the hub fares over time: samples that beat takes each minute, and what follows from them."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

import redis
from django.db.models import Count, F, Func, IntegerField, Q, Sum

from hub.access.principals import HubRight, Principal
from hub.core.disk_room import rooms
from hub.core.measures import INFINITY, SEARCH_SECONDS, counts_by_bound
from hub.core.texts import UNSTORABLE
from knowledge.models import Blob, Document, DocumentStatus, DocumentVersion, OperationSample
from knowledge.models.documents import IN_WORK

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
RATE_OVER = timedelta(minutes=15)
GROWTH_OVER = timedelta(days=7)
MOST_POINTS = 150
MOST_REASONS = 8


def take_sample(*, now: datetime) -> bool:
    """Keep what is to be seen at this minute, and remove what is older than KEPT; False when it is kept already."""
    at = now.replace(second=0, microsecond=0)
    OperationSample.objects.filter(at__lt=at - KEPT).delete()
    if OperationSample.objects.filter(at=at).exists():
        return False
    ended = _ended(at - timedelta(minutes=1), at)
    room = next(iter(rooms()), None)
    _sample, is_new = OperationSample.objects.get_or_create(
        at=at,
        defaults={
            "waiting": DocumentVersion.objects.filter(status__in=IN_WORK).count(),
            "finished": ended["finished"],
            "failed": ended["failed"],
            "stored_bytes": Blob.objects.aggregate(total=Sum("size_bytes"))["total"] or 0,
            "free_bytes": room.free_bytes if room else None,
            "searches": _searches(),
        },
    )
    return is_new


def _ended(since: datetime, until: datetime) -> dict[str, int]:
    """How many versions became ready, and how many failed, in ``[since, until)``. One query."""
    ended = DocumentVersion.objects.filter(finished_at__gte=since, finished_at__lt=until)
    failed = Q(status__in=(DocumentStatus.FAILED, DocumentStatus.NEEDS_OCR))
    return ended.aggregate(finished=Count("pk", filter=~failed), failed=Count("pk", filter=failed))


def _searches() -> dict[str, float]:
    try:
        return counts_by_bound(SEARCH_SECONDS, "total")
    except redis.RedisError as error:
        logger.warning("the measures of searches can not be read for this minute: %s", error)
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What those who run the hub look at. Durations are seconds, None where nothing is known."""

    samples: Sequence[OperationSample]
    """Of the last ``hours``: about MOST_POINTS, evenly apart, with the first and the last; the oldest first."""
    waiting: int
    per_minute: float
    """Documents that ended in the last RATE_OVER, for each minute."""
    minutes_left: float | None
    """Until nothing waits any more, at that rate."""
    free_bytes: int | None
    growth_per_day: float | None
    """Bytes that were stored for each day since the oldest sample of GROWTH_OVER."""
    days_left: float | None
    searches: int
    p50: float | None
    """Half of the searches took at most so long: the upper bound of a step of the measures, infinite above the last."""
    p95: float | None


def operation(principal: Principal, *, now: datetime, hours: int) -> Operation:
    """Sum the samples up, and what waits now. Raises Forbidden for who does not run the hub. Six queries."""
    principal.require_hub(HubRight.OPERATION)
    since = now - timedelta(hours=hours)
    step = math.ceil(hours * 60 / MOST_POINTS)
    minute = Func(F("at"), template="(EXTRACT(EPOCH FROM %(expressions)s)::bigint / 60)", output_field=IntegerField())
    period = OperationSample.objects.filter(at__gte=since)
    ends = [one.pk for one in (period.order_by("at").first(), period.order_by("-at").first()) if one]
    is_shown = Q(place=0) | Q(pk__in=ends)
    samples = list(period.annotate(minute=minute).annotate(place=F("minute") % step).filter(is_shown).order_by("at"))
    waiting = DocumentVersion.objects.filter(status__in=IN_WORK).count()
    ended = _ended(now - RATE_OVER, now)
    rate = (ended["finished"] + ended["failed"]) / (RATE_OVER.total_seconds() / 60)
    oldest = OperationSample.objects.filter(at__gte=now - GROWTH_OVER).order_by("at").first()
    newest = samples[-1] if samples else None
    growth = _per_day(oldest, newest)
    free = newest.free_bytes if newest else None
    counts = _between(samples[0].searches, samples[-1].searches) if samples else {}
    return Operation(
        samples=samples,
        waiting=waiting,
        per_minute=rate,
        minutes_left=waiting / rate if waiting and rate else None,
        free_bytes=free,
        growth_per_day=growth,
        days_left=free / growth if free is not None and growth and growth > 0 else None,
        searches=int(sum(counts.values())),
        p50=quantile(counts, 0.5),
        p95=quantile(counts, 0.95),
    )


def _per_day(oldest: OperationSample | None, newest: OperationSample | None) -> float | None:
    if oldest is None or newest is None or newest.at <= oldest.at:
        return None
    days = (newest.at - oldest.at).total_seconds() / timedelta(days=1).total_seconds()
    return (newest.stored_bytes - oldest.stored_bytes) / days


def _between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """What was counted between two sums; all of the later one when Valkey was emptied in between."""
    if any(after.get(bound, 0.0) < count for bound, count in before.items()):
        return dict(after)
    return {bound: count - before.get(bound, 0.0) for bound, count in after.items()}


def quantile(counts: Mapping[str, float], share: float) -> float | None:
    """The upper bound below which ``share`` of what was counted by bounds lies; None when nothing was.

    >>> quantile({"0.1": 90, "0.5": 9, "+Inf": 1}, 0.95)
    0.5
    """
    total = sum(counts.values())
    if not total:
        return None
    bounds = sorted(counts, key=_seconds)
    reached = accumulate(counts[bound] for bound in bounds)
    return next(_seconds(bound) for bound, number in zip(bounds, reached, strict=True) if number >= share * total)


def _seconds(bound: str) -> float:
    return float("inf") if bound == INFINITY else float(bound)


def failures_by_reason(principal: Principal) -> list[tuple[str, str, str, int]]:
    """Code, reason in Japanese and English, and number of the failed documents that the caller may read, most first.

    One query; MOST_REASONS at most.
    """
    failed = Document.objects.visible_to(principal).filter(
        retired_at__isnull=True, latest_version__status=DocumentStatus.FAILED
    )
    fields = [f"latest_version__{name}" for name in ("status_code", "status_reason_ja", "status_reason_en")]
    counted = failed.order_by().values_list(*fields).annotate(number=Count("pk"))
    return list(counted.order_by("-number", fields[0])[:MOST_REASONS])


def failed_documents(principal: Principal, status_code: str) -> list[str]:
    """The ids of the documents that the caller may read and that failed for a reason, the oldest first."""
    if UNSTORABLE.search(status_code):
        return []  # no reason has such a code
    failed = Document.objects.visible_to(principal).filter(
        retired_at__isnull=True, latest_version__status=DocumentStatus.FAILED, latest_version__status_code=status_code
    )
    return list(failed.order_by("pk").values_list("public_id", flat=True))
