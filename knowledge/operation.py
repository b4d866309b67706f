"""How the hub fares over time: samples that beat takes each minute, and what follows from them."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

import redis
from django.db.models import Count, F, Func, IntegerField, Max, Min, Q, Sum

from hub.access.principals import HubRight, Principal
from hub.core.disk_room import rooms
from hub.core.measures import ANSWERS, INFINITY, LLM_COST, SEARCH_SECONDS, counts_by_bound, total
from hub.core.texts import UNSTORABLE
from knowledge.models import Blob, Document, DocumentStatus, DocumentVersion, OperationSample
from knowledge.models.documents import IN_WORK

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
RATE_OVER = timedelta(minutes=15)
GROWTH_OVER = timedelta(days=7)
# What a hub takes in during its first hours says nothing of its days.
LEAST_GROWTH_OVER = timedelta(days=1)
MOST_POINTS = 150
MOST_REASONS = 8
# The sums of a sample; the second and third are outcomes of the measure ANSWERS, too.
COST, ANSWERED, NO_EVIDENCE = "cost_usd", "answered", "no_evidence"


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
            **_measured(),
        },
    )
    return is_new


def _ended(since: datetime, until: datetime) -> dict[str, int]:
    """How many versions became ready, and how many failed, in ``[since, until)``. One query."""
    ended = DocumentVersion.objects.filter(finished_at__gte=since, finished_at__lt=until)
    failed = Q(status__in=(DocumentStatus.FAILED, DocumentStatus.NEEDS_OCR))
    return ended.aggregate(finished=Count("pk", filter=~failed), failed=Count("pk", filter=failed))


def _measured() -> dict[str, dict[str, float]]:
    """What all processes counted so far, for a sample; empty while it can't be read."""
    try:
        sums = {COST: total(LLM_COST), ANSWERED: total(ANSWERS, ANSWERED), NO_EVIDENCE: total(ANSWERS, NO_EVIDENCE)}
        return {"searches": counts_by_bound(SEARCH_SECONDS, "total"), "sums": sums}
    except redis.RedisError as error:
        logger.warning("what is measured can not be read for this minute: %s", error)
        return {"searches": {}, "sums": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Some minutes of the operation. Rates are for each minute of it; seconds and costs as in :class:`Operation`."""

    until: datetime
    waiting: int
    """The most that waited at one minute."""
    finished_per_minute: float
    failed_per_minute: float
    stored_bytes: int
    free_bytes: int | None
    searches_per_minute: float
    p50: float | None
    p95: float | None
    cost_usd: float
    no_evidence_per_minute: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What those who run the hub look at. Durations are seconds, None where nothing is known."""

    intervals: Sequence[Interval]
    """Of the last ``hours``: about MOST_POINTS of equal length, oldest first, without those that have no sample."""
    interval_minutes: int
    """The length of an interval; each ends at a multiple of it since 1970."""
    waiting: int
    per_minute: float
    """Documents that ended in the last RATE_OVER, for each minute."""
    minutes_left: float | None
    """Until nothing waits any more, at that rate."""
    free_bytes: int | None
    growth_per_day: float | None
    """Bytes that were stored for each day since the oldest sample of GROWTH_OVER; None before LEAST_GROWTH_OVER."""
    growth_days: float | None
    """Over how many days the growth was measured; None as the growth is."""
    days_left: float | None
    """Days until the disk is full at that growth; None where the growth is unknown or not above 0."""
    searches: int
    p50: float | None
    """Half of the searches took at most so long: the upper bound of a step of the measures, infinite above the last."""
    p95: float | None
    questions: int
    no_evidence: int
    """Of the questions: those that no document answered."""
    cost_usd: float


def operation(principal: Principal, *, now: datetime, hours: int) -> Operation:
    """Sum the samples up, and what waits now. Raises Forbidden for who does not run the hub. Five queries."""
    principal.require_hub(HubRight.OPERATION)
    length = math.ceil(hours * 60 / MOST_POINTS)
    first, intervals = _intervals(now - timedelta(hours=hours), length)
    newest = intervals[-1][1] if intervals else None
    waiting = DocumentVersion.objects.filter(status__in=IN_WORK).count()
    ended = _ended(now - RATE_OVER, now)
    rate = (ended["finished"] + ended["failed"]) / (RATE_OVER.total_seconds() / 60)
    oldest = OperationSample.objects.filter(at__gte=now - GROWTH_OVER).order_by("at").first()
    growth, over = _per_day(oldest, newest)
    free = newest.free_bytes if newest else None
    counts, sums = _counted(first, newest) if first and newest else ({}, {})
    no_evidence = int(sums.get(NO_EVIDENCE, 0))
    return Operation(
        intervals=[interval for interval, _sample in intervals],
        interval_minutes=length,
        waiting=waiting,
        per_minute=rate,
        minutes_left=waiting / rate if waiting and rate else None,
        free_bytes=free,
        growth_per_day=growth,
        growth_days=over,
        days_left=free / growth if free is not None and growth and growth > 0 else None,
        searches=int(sum(counts.values())),
        p50=quantile(counts, 0.5),
        p95=quantile(counts, 0.95),
        questions=int(sums.get(ANSWERED, 0)) + no_evidence,
        no_evidence=no_evidence,
        cost_usd=sums.get(COST, 0.0),
    )


def _intervals(since: datetime, minutes: int) -> tuple[OperationSample | None, list[tuple[Interval, OperationSample]]]:
    """The first sample since a moment, and each interval of so many minutes with its last sample. Two queries."""
    minute = Func(F("at"), template="(EXTRACT(EPOCH FROM %(expressions)s)::bigint / 60)", output_field=IntegerField())
    by_interval = OperationSample.objects.filter(at__gte=since).annotate(interval=minute / minutes).order_by("interval")
    sums = {name: Sum(name) for name in ("finished", "failed")}
    found = list(
        by_interval.values("interval").annotate(
            begun=Min("at"), last=Max("at"), samples=Count("pk"), most=Max("waiting"), **sums
        )
    )
    wanted = [one["last"] for one in found] + [one["begun"] for one in found[:1]]
    samples = {one.at: one for one in OperationSample.objects.filter(at__in=wanted)}
    intervals, before = [], samples[found[0]["begun"]] if found else None
    for one in found:
        sample = samples[one["last"]]
        intervals.append((_interval(one, before or sample, sample), sample))
        before = sample
    return (samples[found[0]["begun"]] if found else None), intervals


def _interval(sums: Mapping[str, Any], before: OperationSample, sample: OperationSample) -> Interval:
    """What was between two samples; ``sums`` add up all of them."""
    counts, more = _counted(before, sample)
    minutes = max((sample.at - before.at).total_seconds() / 60, 1)
    return Interval(
        until=sample.at,
        waiting=sums["most"],
        finished_per_minute=sums["finished"] / sums["samples"],
        failed_per_minute=sums["failed"] / sums["samples"],
        stored_bytes=sample.stored_bytes,
        free_bytes=sample.free_bytes,
        searches_per_minute=sum(counts.values()) / minutes,
        p50=quantile(counts, 0.5),
        p95=quantile(counts, 0.95),
        cost_usd=more.get(COST, 0.0),
        no_evidence_per_minute=more.get(NO_EVIDENCE, 0) / minutes,
    )


def _per_day(oldest: OperationSample | None, newest: OperationSample | None) -> tuple[float, float] | tuple[None, None]:
    """How many bytes more were stored a day between two samples, and over how many days; None where too few."""
    if oldest is None or newest is None or newest.at - oldest.at < LEAST_GROWTH_OVER:
        return None, None
    days = (newest.at - oldest.at) / timedelta(days=1)
    return (newest.stored_bytes - oldest.stored_bytes) / days, days


def _counted(before: OperationSample, after: OperationSample) -> tuple[dict[str, float], dict[str, float]]:
    """The searches by how long they took, and the sums, of the time between two samples.

    Nothing while one of them could not be read: it has neither. A hub that nobody has searched has sums, of zero.
    """
    was_read = all(one.searches or one.sums for one in (before, after))
    searches = _between(before.searches, after.searches) if was_read else {}
    return searches, _between(before.sums, after.sums) if before.sums and after.sums else {}


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
