"""query_knowledge_graph: one function behind REST, MCP and admin."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.audit_lines import query_facts
from hub.access.principals import ALL_SCOPES, Classification, Principal, Scope
from hub.access.services import record_event
from hub.access.turns import Turns
from hub.core.errors import HubError, InvalidInput, Unavailable
from hub.core.processes import PerProcess
from knowledge.graph.cypher.frames import NO_GRAPH
from knowledge.graph.cypher.guard import guarded
from knowledge.graph.cypher.process import GRACE_S, Pauses, ProcessEnded, QueryProcess, SharedLock, busy
from knowledge.graph.cypher.projection import Copies, CopyKey
from knowledge.graph.cypher.translate import Translated, translate
from knowledge.graph.reading import name_key
from knowledge.models import EdgeType, NodeType

MAX_TIMEOUT_MS = 60_000
MAX_ROWS = 5_000
MAX_WORK_UNITS = 20_000_000
MAX_PARAMETERS = 100
# As many as the process works on at a time (child.THREADS), each of another caller; of one caller, so many may wait.
MOST_AT_ONCE = 4
MOST_WAITING = 3
TURN_S = 5.0
# What a query may take that is tried again, for others that were hit with it wait for its end.
ALONE_S = 10.0
# A copy may be dropped for another caller's before it is asked.
_COPY_TRIES = 2
_turns = PerProcess(lambda: Turns(most=MOST_AT_ONCE, most_waiting=MOST_WAITING, wait_s=TURN_S))


class QueryTimeout(HubError):
    """A query took longer than it was given."""

    code = "query_timeout"
    status = 422
    title = _("Query took too long")


class QueryCrash(HubError):
    """A query ended the process that ran it while there was no other: it is the query's doing."""

    code = "query_crashed"
    status = 422
    title = _("Query used too much memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherQuery:
    """What a caller asks. ``row_limit`` is the most records in the answer."""

    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout_ms: int = 30_000
    row_limit: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherResult:
    """The records; ``is_complete`` is false when the row limit or the output budget cut them."""

    records: tuple[Mapping[str, Any], ...]
    columns: tuple[str, ...]
    is_complete: bool
    execution_time_ms: float
    backend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuery:
    """A query that the guard let through, in the engine's words, with its parameters by their short names."""

    translated: Translated
    parameters: Mapping[str, Any]
    timeout_ms: int
    row_limit: int


class CypherBackend(Protocol):
    """Who runs queries. The guard has been passed; a backend still opens everything for reading only."""

    name: str

    def run(self, principal: Principal, query: PreparedQuery) -> tuple[list[dict[str, Any]], bool]:
        """Give the records and whether they are complete. Raises InvalidInput, QueryTimeout, Unavailable."""


def query_knowledge_graph(principal: Principal, query: CypherQuery) -> CypherResult:
    """Run a read-only openCypher query over what the caller may search.

    Types may be named in Japanese. With NEO4J_URL, callers who see everything are answered by Neo4j; nobody else is,
    since it knows no permissions of ours.

    :raises Forbidden: the scope search is missing. :raises InvalidInput: what is wrong with the query, or is refused.
    :raises QueryTimeout: it took too long. :raises LimitExceeded: the graph is too large.
    :raises QueryCrash: it ended the process. :raises RateLimited: the caller has more queries at work than may be, or
    has just ended the process. :raises Unavailable: the process or Neo4j does not answer now, or is busy.
    """
    principal.require(Scope.SEARCH)
    prepared = _prepared(query)
    backend = _backend_for(principal)
    with _turns.get().taken_by(principal):
        started = time.monotonic()
        records, is_complete = backend.run(principal, prepared)
    facts = {**query_facts(query.text), "mode": "cypher", "backend": backend.name, "results": len(records)}
    record_event(principal, "SEARCH", "graph", **facts)
    shown = [{prepared.translated.written(name): value for name, value in record.items()} for record in records]
    return CypherResult(
        records=tuple(shown),
        columns=tuple(shown[0]) if shown else (),
        is_complete=is_complete,
        execution_time_ms=round((time.monotonic() - started) * 1000, 1),
        backend=backend.name,
    )


def _prepared(query: CypherQuery) -> PreparedQuery:
    for name, value, lowest, highest in (
        ("timeout_ms", query.timeout_ms, 10, MAX_TIMEOUT_MS),
        ("row_limit", query.row_limit, 1, MAX_ROWS),
    ):
        if not lowest <= value <= highest:
            raise InvalidInput(_("{field}: give {lowest} to {limit}."), field=name, lowest=lowest, limit=highest)
    if len(query.parameters) > MAX_PARAMETERS:
        raise InvalidInput(_("{field}: give at most {limit}."), field="parameters", limit=MAX_PARAMETERS)
    translated = translate(guarded(query.text), _labels())
    missing = [name for name in translated.parameters.values() if name not in query.parameters]
    if missing:
        raise InvalidInput(
            _("cypher_query uses ${name}, which parameters lacks."), code="missing_parameter", name=missing[0]
        )
    parameters = {short: query.parameters[name] for short, name in translated.parameters.items()}
    return PreparedQuery(
        translated=translated, parameters=parameters, timeout_ms=query.timeout_ms, row_limit=query.row_limit
    )


def _labels() -> dict[str, str]:
    """Codes of node and edge types by the keys of all that they are called."""
    labels: dict[str, str] = {}
    for node_type in NodeType.objects.order_by("code"):
        for name in (node_type.name_ja, *node_type.aliases):
            labels.setdefault(name_key(name), node_type.code)
    for edge_type in EdgeType.objects.order_by("code"):
        labels.setdefault(name_key(edge_type.name_ja), edge_type.code)
    return {name: code for name, code in labels.items() if not name.isascii()}


def _backend_for(principal: Principal) -> CypherBackend:
    sees_all = principal.is_superuser and principal.ceiling >= Classification.C3 and principal.scopes >= ALL_SCOPES
    if settings.CONFIG.neo4j_url and sees_all:
        return _neo4j_backend()
    return projection_backend()


def _neo4j_backend() -> CypherBackend:
    try:
        from knowledge.graph.cypher.neo4j import Neo4jBackend  # its driver is optional
    except ImportError as error:
        raise Unavailable(
            _("NEO4J_URL is set and its driver is not installed. Run: pip install -r requirements/neo4j.txt"),
            code="neo4j_unavailable",
        ) from error
    return Neo4jBackend()


@cache
def projection_backend() -> ProjectionBackend:
    """This process's copies of the graph; the process behind them starts with the first query."""
    return ProjectionBackend()


class ProjectionBackend:
    """Queries over a copy of what the caller may see, in a process of its own."""

    name = "projection"

    def __init__(self) -> None:
        self.copies = Copies(QueryProcess())
        self.lock = SharedLock()
        self.pauses = Pauses()

    def run(self, principal: Principal, query: PreparedQuery) -> tuple[list[dict[str, Any]], bool]:
        """Bring the caller's copy up to date, then ask it.

        A query that ended the process by itself is not tried again, and its caller pauses. One that was hit while it
        ran beside others is tried once more, alone.
        """
        self.pauses.refuse(principal)
        wait_s = query.timeout_ms / 1000
        try:
            with self.lock.shared(wait_s=wait_s):
                return self._once(principal, query, limit_s=wait_s)
        except ProcessEnded as error:
            if error.was_alone:
                raise self._crashed(principal) from error
        return self._again(principal, query, wait_s=wait_s)

    def _again(self, principal: Principal, query: PreparedQuery, *, wait_s: float) -> tuple[list[dict[str, Any]], bool]:
        try:
            with self.lock.alone(wait_s=wait_s):
                return self._once(principal, query, limit_s=min(wait_s, ALONE_S))
        except QueryTimeout:
            if wait_s > ALONE_S:
                raise busy() from None
            raise
        except ProcessEnded as error:
            raise (self._crashed(principal) if error.was_alone else busy()) from error

    def _once(self, principal: Principal, query: PreparedQuery, *, limit_s: float) -> tuple[list[dict[str, Any]], bool]:
        key = CopyKey.of(principal)
        request = _request(key, query, timeout_ms=round(limit_s * 1000))
        for _try in range(_COPY_TRIES):
            generation = self.copies.ensure(key)
            try:
                said = self.copies.process.ask(request, timeout_s=limit_s + GRACE_S, generation=generation)
            except TimeoutError:
                raise _too_long(query) from None
            if said.get("error") != NO_GRAPH:
                return _answer(said, query)
        raise Unavailable(_("Too many different callers query the graph now. Try again."), code="graph_busy")

    def _crashed(self, principal: Principal) -> QueryCrash:
        self.pauses.begin(principal)
        return QueryCrash(
            _(
                "The query ended the process that runs queries, most likely for want of memory. Narrow it "
                "with labels, ids or LIMIT, or bound *-patterns."
            )
        )


def _request(key: CopyKey, query: PreparedQuery, *, timeout_ms: int) -> dict[str, Any]:
    return {
        "do": "query",
        "graph": key.name,
        "query": query.translated.query,
        "parameters": dict(query.parameters),
        "timeout_ms": timeout_ms,
        "row_limit": query.row_limit,
        "max_work_units": MAX_WORK_UNITS,
        "max_characters": settings.CONFIG.hub_output_budget_chars,
    }


def _answer(said: Mapping[str, Any], query: PreparedQuery) -> tuple[list[dict[str, Any]], bool]:
    if "error" not in said:
        return list(said["records"]), not said["is_cut"]
    if said["error"] == "CypherTimeoutError":
        raise _too_long(query)
    raise InvalidInput(
        _("cypher_query: {reason}"),
        code="invalid_cypher",
        reason=query.translated.written(said["message"]) or said["error"],
    )


def _too_long(query: PreparedQuery) -> QueryTimeout:
    return QueryTimeout(
        _(
            "The query took longer than {timeout} ms and was stopped. Narrow it with labels, ids or LIMIT, bound "
            "*-patterns, or raise timeout_ms."
        ),
        timeout=query.timeout_ms,
    )


def counts_of(records: object) -> dict[str, int]:
    """Count the nodes, relationships and properties that an answer holds."""
    counts = {"nodes_returned": 0, "relationships_returned": 0, "properties_returned": 0}
    waiting = [records]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if {"id", "labels", "properties"} <= set(value):
                counts["nodes_returned"] += 1
                counts["properties_returned"] += len(value["properties"])
                continue
            if {"id", "start", "end", "type", "properties"} <= set(value):
                counts["relationships_returned"] += 1
                counts["properties_returned"] += len(value["properties"])
                continue
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        else:
            counts["properties_returned"] += 1
    return counts
