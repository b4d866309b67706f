"""What this process counts of itself, and what all processes count together; ``/metrics`` shows both.

Labels come from closed sets (routes, tools, codes), never from what a caller sent. Workers and stdio servers have no
``/metrics`` of their own: what they count is kept as sums in one hash of Valkey/Redis, to which each process adds once
a second. Nothing rests on these sums, they start again from 0 with an emptied Valkey (as counters may), a process that
is killed takes its last second with it, and work never fails or waits for them.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import redis
from django.conf import settings
from prometheus_client import Counter, Gauge
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from hub.core.valkey import client_of

REQUESTS = Counter("hub_http_requests", "HTTP requests answered, MCP included.", ["method", "route", "status"])
TOOL_CALLS = Counter("hub_mcp_tool_calls", "MCP tool calls by outcome: ok, refused, error.", ["tool", "outcome"])
OPEN_MCP = Gauge("hub_mcp_open_requests", "MCP requests under way over HTTP, open streams included.", ["server"])
WAITING_REQUESTS = Gauge("hub_http_waiting_requests", "HTTP requests that wait for a thread (HUB_REQUEST_THREADS).")
REFUSED_CONNECTIONS = Counter("hub_refused_connections", "Connections refused, by the limit.", ["limit"])
ERRORS = Counter("hub_errors", "Errors told to callers.", ["door", "code"])

UNKNOWN = "(unknown)"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
READINESS = "readyz"  # says 503 of a part that is away, however often it is asked

logger = logging.getLogger(__name__)

KEY = "hub:measures"
WRITE_EVERY_S = 1.0
PAUSE_AFTER_FAILURE_S = 10.0  # a Valkey that hangs (its socket timeout is 1 s) must not hold up /metrics every time
INFINITY = "+Inf"
SUM = "sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A counter, or with ``bounds`` (upper bounds, ascending) a histogram. ``name`` is without ``_total``."""

    name: str
    text: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...] = ()

    def parts(self, value: float) -> Iterator[tuple[str, float]]:
        """The sums that ``value`` goes into, and what to add to each."""
        yield SUM, value
        if self.bounds:
            yield next((str(bound) for bound in self.bounds if value <= bound), INFINITY), 1

    def metric(self, sums: Mapping[tuple[str, ...], Mapping[str, float]]) -> Metric:
        """Write the family in Prometheus' form; ``sums`` by label values and part."""
        if not self.bounds:
            counter = CounterMetricFamily(self.name, self.text, labels=self.labels)
            for values in sorted(sums):
                counter.add_metric(values, sums[values].get(SUM, 0.0))
            return counter
        histogram = HistogramMetricFamily(self.name, self.text, labels=self.labels)
        names = [*map(str, self.bounds), INFINITY]
        for values in sorted(sums):
            counts = accumulate(sums[values].get(name, 0.0) for name in names)
            buckets = list(zip(names, counts, strict=True))
            histogram.add_metric(values, buckets=buckets, sum_value=sums[values].get(SUM, 0.0))
        return histogram


STAGE_SECONDS = Family(
    name="hub_ingestion_stage_seconds",
    text="Runs of an ingestion stage; embedding runs in slices.",
    labels=("stage", "outcome"),
    bounds=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
)
SEARCH_SECONDS = Family(
    name="hub_search_seconds",
    text="Searches by step: total, the legs (embed, vector, lexical), fuse, rerank, load.",
    labels=("step",),
    bounds=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)
SEARCH_FAILURES = Family(
    name="hub_search_failures",
    text="Searches that went on without a part: vector, lexical, phrases, synonyms, reranker; all: that failed.",
    labels=("part",),
)
LLM_SECONDS = Family(
    name="hub_llm_request_seconds",
    text="Requests to language models; outcome is ok or the error's code.",
    labels=("provider", "model", "outcome"),
    bounds=(0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0),
)
LLM_TOKENS = Family(name="hub_llm_tokens", text="Tokens of language models.", labels=("provider", "model", "direction"))
LLM_COST = Family(
    name="hub_llm_cost_usd", text="US dollars spent on models that have a price.", labels=("provider", "model")
)
ANSWERS = Family(
    name="hub_answers",
    text="Questions that were answered from documents; outcome: answered, no_evidence.",
    labels=("outcome",),
)
STDIO_CALLS = Family(
    name="hub_mcp_stdio_tool_calls",
    text="MCP tool calls over stdio by outcome: ok, refused, error.",
    labels=("tool", "outcome"),
)
STDIO_ERRORS = Family(name="hub_mcp_stdio_errors", text="Errors told to MCP callers over stdio.", labels=("code",))
MCP_FAILURES = Family(
    name="hub_mcp_failures",
    text="MCP requests that failed for a reason inside the hub, over both transports.",
    labels=("code",),
)
HTTP_ANSWERS = Family(
    name="hub_http_answers",
    text="HTTP requests; outcome: answered, to callers with a sign-in or token, or failed with a status from 500 on.",
    labels=("outcome",),
)
BUDGET_REFUSALS = Family(
    name="hub_llm_budget_refusals",
    text="Requests to language models that were not sent, since they could pass the budget: tokens, cost.",
    labels=("limit",),
)
REPLICA_READS = Family(
    name="hub_replica_reads",
    text="Reads tried at a replica: answered; failed, so that the primary was asked; left for the primary to refuse.",
    labels=("replica", "outcome"),
)
FAMILIES = (
    STAGE_SECONDS,
    SEARCH_SECONDS,
    SEARCH_FAILURES,
    LLM_SECONDS,
    LLM_TOKENS,
    LLM_COST,
    ANSWERS,
    STDIO_CALLS,
    STDIO_ERRORS,
    MCP_FAILURES,
    HTTP_ANSWERS,
    BUDGET_REFUSALS,
    REPLICA_READS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value to add; ``labels`` stand in the order of the family's."""

    family: Family
    labels: tuple[str, ...]
    value: float


class _Store:
    """Adds sums up in this process and writes them once a second, in a thread of its own. Safe for threads.

    What was counted while Valkey was away, or since the last writing when the process is killed, is lost.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything, as a forked process must: its parent writes what was counted before."""
        self._sums: dict[tuple[str, ...], float] = defaultdict(float)
        self._lock = threading.Lock()
        self._has_some = threading.Event()
        self._writer: threading.Thread | None = None
        self._resume_at = 0.0
        self._is_away = False

    def add(self, points: Iterable[Point]) -> None:
        """Count; a few microseconds, whatever Valkey does."""
        with self._lock:
            for point in points:
                for part, value in point.family.parts(point.value):
                    self._sums[(point.family.name, part, *point.labels)] += value
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_on, name="shared-measures", daemon=True)
                self._writer.start()
        self._has_some.set()

    def flush(self) -> None:
        """Write what was counted until now."""
        with self._lock:
            sums, self._sums = self._sums, defaultdict(float)
            self._has_some.clear()
        if not sums or time.monotonic() < self._resume_at:
            return
        try:
            with _client().pipeline(transaction=False) as pipeline:
                for names, value in sums.items():
                    pipeline.hincrbyfloat(KEY, json.dumps(names), value)
                pipeline.execute()
        except redis.RedisError as error:
            self._resume_at = time.monotonic() + PAUSE_AFTER_FAILURE_S
            if not self._is_away:  # once, and not again every few seconds
                logger.info("measures are not counted until Valkey answers again: %s", error)
            self._is_away = True
        else:
            self._is_away = False

    def resume(self) -> None:
        """Write again at once: Valkey has answered somebody."""
        self._resume_at = 0.0

    def _write_on(self) -> None:
        while True:
            self._has_some.wait()
            time.sleep(WRITE_EVERY_S)
            self.flush()


_store = _Store()
os.register_at_fork(after_in_child=lambda: _store.reset())


def count(*points: Point) -> None:
    """Add to the sums of all processes, within a second; only a log line where Valkey is away."""
    _store.add(points)


def count_request(*, method: str, route: str | None, status: int, is_known: bool) -> None:
    """Count an answered request; ``route`` is the pattern, None where nothing is; ``is_known``: its caller.

    What strangers are answered, probes among it, is no part of the share that fails: anybody could make that small.
    """
    REQUESTS.labels(method if method in METHODS else UNKNOWN, route or UNKNOWN, str(status)).inc()
    if status >= 500 and route != READINESS:
        count(Point(family=HTTP_ANSWERS, labels=("failed",), value=1))
    elif status < 500 and route is not None and is_known:
        count(Point(family=HTTP_ANSWERS, labels=("answered",), value=1))


@atexit.register
def flush() -> None:
    """Write what this process counted until now, as the end of a process does."""
    _store.flush()


def total(family: Family, *labels: str) -> float:
    """Add a counter up over all processes, and over its labels but for the first ones that are given.

    Raises redis.RedisError when Valkey is away.
    """
    (found,) = totals((family, labels))
    return found


def totals(*asked: tuple[Family, tuple[str, ...]]) -> list[float]:
    """Return what `total` gives for each counter with its first labels, all from one reading.

    Raises redis.RedisError when Valkey is away.
    """
    stored = [(json.loads(field), float(value)) for field, value in _stored().items()]
    wanted = [[family.name, SUM, *labels] for family, labels in asked]
    return [sum(value for field, value in stored if field[: len(one)] == one) for one in wanted]


def counts_by_bound(family: Family, *labels: str) -> dict[str, float]:
    """How often each step of a histogram was hit, in all processes, by its upper bound in seconds.

    Raises redis.RedisError when Valkey is away.
    """
    counts = {}
    for field, value in _stored().items():
        name, part, *own = json.loads(field)
        if name == family.name and part != SUM and own == list(labels):
            counts[str(part)] = float(value)
    return counts


@contextmanager
def timed(family: Family, *labels: str) -> Iterator[None]:
    """Count the seconds until the block ends; the family's last label tells how: ok or failed."""
    started = time.perf_counter()
    outcome = "failed"
    try:
        yield
        outcome = "ok"
    finally:
        count(Point(family=family, labels=(*labels, outcome), value=time.perf_counter() - started))


class SharedMeasures:
    """The sums of all processes, for a registry of Prometheus."""

    def collect(self) -> Iterator[Metric]:
        """Give the families, and whether they could be read: without Valkey they are left out."""
        try:
            stored = _stored()
        except redis.RedisError as error:
            logger.warning("the measures of all processes can not be read: %s", error)
            yield _readable(0)
            return
        yield _readable(1)
        sums: dict[str, dict[tuple[str, ...], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        for field, value in stored.items():
            name, part, *labels = json.loads(field)
            sums[name][tuple(labels)][part] = float(value)
        for family in FAMILIES:
            yield family.metric(sums[family.name])


def _stored() -> dict[bytes | str, bytes | str]:
    """All sums, with those of this process until now. :raises redis.RedisError: Valkey is away."""
    flush()
    stored = _client().hgetall(KEY)
    _store.resume()
    return stored


def _readable(value: int) -> Metric:
    return GaugeMetricFamily("hub_shared_measures_up", "1 when the sums of all processes could be read.", value=value)


@cache
def _client() -> redis.Redis:
    return client_of(settings.REDIS_CLIENT_URL)
