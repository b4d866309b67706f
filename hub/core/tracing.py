"""Traces for an OpenTelemetry collector: what one call led to, over processes, and how long each part took.

Off unless :func:`trace_to` is called, and then nothing of OpenTelemetry is imported. Spans say ids, codes, counts and
durations, never texts: of a string only what has the form of an id is kept, of an error its code alone.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from hub.core.processes import PerProcess

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Link
    from opentelemetry.trace import Span as SdkSpan

Fact = bool | int | float | str
PARENT_HEADER = "traceparent"  # of W3C's Trace Context
NO_ID = "(no id)"
_ID = re.compile(r"[!-~]{0,200}", re.ASCII)
# What waits when a process ends is sent in two batches at most: a collector that hangs holds it up for six seconds.
SEND_TIMEOUT_S = 2.0
MOST_WAITING = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where spans are sent: the base URL of OTLP over HTTP, headers of each request, the share of traces."""

    url: str
    headers: Mapping[str, str]
    share: float
    service: str
    version: str


class Span(Protocol):
    """A part of a call under way."""

    def note(self, facts: Mapping[str, Fact]) -> None:
        """Add what is known by now."""

    def rename(self, name: str) -> None:
        """Give it the name that is known by now."""


class _Off:
    def note(self, facts: Mapping[str, Fact]) -> None:
        """Keep nothing."""

    def rename(self, name: str) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True)
class _On:
    span: SdkSpan

    def note(self, facts: Mapping[str, Fact]) -> None:
        self.span.set_attributes(_without_texts(facts))

    def rename(self, name: str) -> None:
        self.span.update_name(name)


_OFF = _Off()
_collector: Collector | None = None


def can_trace() -> bool:
    """Whether requirements/otel.txt is installed."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def trace_to(collector: Collector | None) -> None:
    """Send the spans of this process, and of those that it forks, to a collector; None switches them off."""
    global _collector
    stop()
    _collector = collector


def _provider() -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    if _collector is None:
        raise RuntimeError("There is nowhere to send spans to: call trace_to first.")
    names = {
        "service.name": _collector.service,
        "service.version": _collector.version,
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    }
    # By the trace's id alone, which is the hub's own: all processes decide the same, and no caller decides it.
    sampler = TraceIdRatioBased(_collector.share)
    provider = TracerProvider(resource=Resource.create(names), sampler=sampler, shutdown_on_exit=False)
    url = f"{_collector.url.rstrip('/')}/v1/traces"
    exporter = OTLPSpanExporter(endpoint=url, headers=dict(_collector.headers), timeout=SEND_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=MOST_WAITING))
    return provider


_providers = PerProcess(_provider)


@atexit.register
def stop() -> None:
    """Send what waits, as the end of a process does; what can't be sent in time is lost."""
    for provider in _providers.take():
        provider.shutdown()


@contextmanager
def span(
    name: str, facts: Mapping[str, Fact] | None = None, *, parent: str | None = None, caller: str | None = None
) -> Iterator[Span]:
    """Trace what is done in the block, as a part of what is traced around it.

    ``parent`` is the :func:`traceparent` of another process of the hub, which this is a part of. ``caller`` is the
    traceparent that a client of the hub sent: the span begins a trace of its own with a link to it, since the id of a
    trace decides whether it is sampled. An unreadable one is ignored. An exception of the block is recorded by its
    code, or the name of its class, and raised again.
    """
    if _collector is None:
        yield _OFF
        return
    from opentelemetry.trace import StatusCode

    started = (
        _providers.get()
        .get_tracer("hub")
        .start_as_current_span(
            name,
            context=_context_of(parent) if parent else None,
            links=_links_to(caller) if caller else None,
            attributes=_without_texts(facts or {}),
            record_exception=False,
            set_status_on_exception=False,
        )
    )
    with started as own:
        try:
            yield _On(own)
        except BaseException as error:
            own.set_status(StatusCode.ERROR, _code_of(error))
            raise


def add_span(name: str, facts: Mapping[str, Fact], *, started_ns: int, ended_ns: int, code: str = "") -> None:
    """Add a part that is over, and was measured elsewhere, to what is traced now; ``code`` says how it failed."""
    if _collector is None:
        return
    from opentelemetry.trace import StatusCode

    tracer = _providers.get().get_tracer("hub")
    own = tracer.start_span(name, attributes=_without_texts(facts), start_time=started_ns)
    if code:
        own.set_status(StatusCode.ERROR, code)
    own.end(ended_ns)


def traceparent() -> str | None:
    """What is traced now, in the form of W3C's Trace Context, for another process; None while nothing is."""
    if _collector is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(PARENT_HEADER)


def _context_of(parent: str) -> Context:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({PARENT_HEADER: parent})


def _links_to(caller: str) -> list[Link]:
    from opentelemetry.trace import Link, get_current_span

    named = get_current_span(_context_of(caller)).get_span_context()
    return [Link(named)] if named.is_valid else []


def _without_texts(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    return {name: NO_ID if isinstance(fact, str) and not _ID.fullmatch(fact) else fact for name, fact in facts.items()}


def _code_of(error: BaseException) -> str:
    """The stable code of an error that has one, as errors of the hub and of parsers do."""
    codes = [getattr(error, name, None) for name in ("error_code", "code")]
    return next((code for code in codes if isinstance(code, str)), type(error).__name__)
