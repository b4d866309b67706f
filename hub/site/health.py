"""/healthz (this process is alive), /readyz (everything it needs answers) and /metrics in Prometheus' text format.

The measures are the counters of this process, and what PostgreSQL says of all of them.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db.models import Count, DurationField, ExpressionWrapper, F, Min, QuerySet, Sum
from django.db.models.functions import Coalesce, Now
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import split_domain_port
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily

from hub.backups.runs import last_good
from hub.core.beat_signs import silent_seconds
from hub.core.client_address import address_of
from hub.core.disk_room import rooms
from hub.core.errors import Forbidden, HubError, Unauthenticated
from hub.core.measures import SharedMeasures
from hub.core.replicas import replica_states
from hub.rest.problems import problem_response
from hub.rest.readiness import BASE_CHECKS, run_checks
from knowledge.checks import READINESS_CHECKS
from knowledge.documents.workers import ALIVE_WITHIN
from knowledge.generations.generations import Lag, lags
from knowledge.index.changes import has_engine
from knowledge.models import DocumentStatus, DocumentVersion, IndexGeneration, WorkerHeartbeat
from knowledge.models.documents import ARRIVED_AT, IN_WORK
from review.models import Review
from review.models.reviews import UNFINISHED, ReviewStatus

logger = logging.getLogger(__name__)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process can answer at all."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer {name: {status, detail}} for database, queue, storage and model: 200 when all are ok, else 503."""
    is_ready, report = run_checks([*BASE_CHECKS, *READINESS_CHECKS])
    response = JsonResponse(report, status=200 if is_ready else 503, json_dumps_params={"ensure_ascii": False})
    if not is_ready:
        response["Retry-After"] = "5"
    return response


FORWARDED = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")
OWN_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer who brings HUB_METRICS_TOKEN; where there is none, callers on this machine while it is being tried out."""
    try:
        _check_reader(request)
    except HubError as error:
        return problem_response(request, error)
    registry = CollectorRegistry()
    registry.register(DatabaseMetrics())
    registry.register(BeatMetrics())
    registry.register(DiskMetrics())
    registry.register(SharedMeasures())
    return HttpResponse(generate_latest(REGISTRY) + generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _check_reader(request: HttpRequest) -> None:
    expected = settings.CONFIG.hub_metrics_token
    if not expected:
        if not _is_tried_out(request):
            raise Forbidden(
                _("Metrics need a token of their own: set HUB_METRICS_TOKEN, and send it as a bearer token.")
            )
        return
    scheme, _space, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(given.strip(), expected):
        raise Unauthenticated(_("Metrics need HUB_METRICS_TOKEN as Authorization: Bearer TOKEN."))


def _is_tried_out(request: HttpRequest) -> bool:
    """Whether somebody at this machine asks their own hub: nothing is for production, and nothing came by a proxy."""
    if settings.CONFIG.hub_env == "production" or not settings.EMBEDDED_DATABASE:
        return False
    if any(name in request.headers for name in FORWARDED):
        return False
    address = address_of(request.META.get("REMOTE_ADDR"))
    host = split_domain_port(request.get_host())[0]
    return address is not None and ipaddress.ip_address(address).is_loopback and host in OWN_NAMES


class DatabaseMetrics:
    """Queues, workers and durations, read when they are asked for: ten reads of indexed columns."""

    def collect(self) -> Iterator[Metric]:
        """Give the families in a fixed order, or none but ``hub_database_up`` 0 while PostgreSQL is away."""
        try:
            families = list(self._families())
        except DatabaseError as error:
            logger.warning("the measures of the database can't be read: %s", error)
            families = []
        yield GaugeMetricFamily(
            "hub_database_up", "1 when the measures of the database could be read.", value=int(bool(families))
        )
        yield from families

    def _families(self) -> Iterator[Metric]:
        documents = DocumentVersion.objects.filter(status__in=IN_WORK)
        reviews = Review.objects.filter(status__in=UNFINISHED)
        depth = GaugeMetricFamily("hub_queue_depth", "Work that is not finished.", labels=["queue", "status"])
        for queue, rows, statuses in (("documents", documents, IN_WORK), ("reviews", reviews, UNFINISHED)):
            counts = dict(rows.order_by().values_list("status").annotate(Count("pk")))
            for status in statuses:
                depth.add_metric([queue, status], counts.get(status, 0))
        yield depth
        oldest = GaugeMetricFamily("hub_queue_oldest_seconds", "Age of the oldest unfinished work.", labels=["queue"])
        oldest.add_metric(["documents"], _age(documents, "queued_at"))
        oldest.add_metric(["reviews"], _age(reviews, "created_at"))
        yield oldest
        lag = "Age of the oldest document version that waits to become searchable, since it arrived or was read anew."
        yield GaugeMetricFamily("hub_index_lag_seconds", lag, value=_age(documents, ARRIVED_AT))
        yield from _engine_lag()
        yield from _replicas()
        yield _failures()
        if good := last_good():
            what = "The moment that the newest good backup shows, in seconds since 1970."
            moment = good.taken_at.timestamp() if good.taken_at else 0.0
            yield GaugeMetricFamily("hub_backup_last_success_timestamp_seconds", what, value=moment)
        alive = WorkerHeartbeat.objects.filter(seen_at__gte=Now() - ALIVE_WITHIN).count()
        yield GaugeMetricFamily("hub_workers_alive", "Workers with a sign of life in the last 10 s.", value=alive)
        yield _durations(
            "hub_review", Review.objects.filter(status=ReviewStatus.COMPLETED), "started_at", "from start to completion"
        )
        versions = DocumentVersion.objects.annotate(arrived_at=ARRIVED_AT)
        yield _durations("hub_ingestion", versions, "arrived_at", "from arrival, or reading anew, to the end")


def _engine_lag() -> Iterator[Metric]:
    """How far the generations in a search engine are behind; without an engine, no value and no query."""
    rows = GaugeMetricFamily(
        "hub_search_engine_changes", "Changes that the search engine was not told of yet.", labels=["generation"]
    )
    seconds = GaugeMetricFamily("hub_search_engine_lag_seconds", "Age of the oldest of them.", labels=["generation"])
    if has_engine():
        behind = lags()
        for key in IndexGeneration.objects.order_by("pk").values_list("pk", flat=True):
            lag = behind.get(key, Lag())
            rows.add_metric([str(key)], lag.rows)
            seconds.add_metric([str(key)], lag.seconds)
    yield from (rows, seconds)


def _replicas() -> Iterator[Metric]:
    """Whether replicas serve, and how far they are behind; of one that does not answer, no lag."""
    serves = GaugeMetricFamily("hub_replica_up", "1 when the replica may serve reads.", labels=["replica"])
    lag_s = GaugeMetricFamily("hub_replica_lag_seconds", "Seconds that the replica is behind.", labels=["replica"])
    lag_bytes = GaugeMetricFamily("hub_replica_lag_bytes", "Bytes of log that it has to replay.", labels=["replica"])
    for state in replica_states():
        serves.add_metric([state.number], int(state.problem is None))
        if state.lag_s is not None:
            lag_s.add_metric([state.number], state.lag_s)
        if state.lag_bytes is not None:
            lag_bytes.add_metric([state.number], state.lag_bytes)
    yield from (serves, lag_s, lag_bytes)


class DiskMetrics:
    """The room on the disks that this process writes to."""

    def collect(self) -> Iterator[Metric]:
        """Give the two families, by folder."""
        free = GaugeMetricFamily("hub_disk_free_bytes", "Bytes that are free for the hub.", labels=["folder"])
        size = GaugeMetricFamily("hub_disk_size_bytes", "Bytes of the disk in all.", labels=["folder"])
        for room in rooms():
            free.add_metric([str(room.folder)], room.free_bytes)
            size.add_metric([str(room.folder)], room.size_bytes)
        yield free
        yield size


class BeatMetrics:
    """How long beat has sent no scheduled work."""

    def collect(self) -> Iterator[Metric]:
        """Give the one family, without a value while the queue, which keeps the moment, is away."""
        about = "Seconds since beat sent scheduled work, or since that was first missed."
        gauge = GaugeMetricFamily("hub_beat_seen_seconds", about, labels=[])
        try:
            gauge.add_metric([], silent_seconds())
        except redis.RedisError as error:
            logger.warning("beat's sign of life can't be read: %s", error)
        yield gauge


def _failures() -> Metric:
    gauge = GaugeMetricFamily("hub_documents_failed", "Document versions that failed, by reason.", labels=["code"])
    failed = DocumentVersion.objects.filter(status=DocumentStatus.FAILED).order_by()
    for code, number in failed.values_list("status_code").annotate(Count("pk")).order_by("status_code"):
        gauge.add_metric([code], number)
    return gauge


def _age(rows: QuerySet[DocumentVersion] | QuerySet[Review], field: str | Coalesce) -> float:
    first = rows.aggregate(first=Min(field))["first"]
    return max(0.0, (timezone.now() - first).total_seconds()) if first else 0.0


def _durations(name: str, rows: QuerySet[DocumentVersion] | QuerySet[Review], start: str, what: str) -> Metric:
    spent = ExpressionWrapper(F("finished_at") - F(start), output_field=DurationField())
    known = rows.filter(finished_at__isnull=False, **{f"{start}__isnull": False})
    total = known.aggregate(count=Count("pk"), seconds=Sum(spent))
    seconds = total["seconds"].total_seconds() if total["seconds"] else 0.0
    text = f"Seconds {what}, of everything in the database."
    return SummaryMetricFamily(f"{name}_seconds", text, count_value=total["count"], sum_value=seconds)
