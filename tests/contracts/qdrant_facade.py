"""Qdrant's REST over several shards of the real engine (qdrant-edge), and what can go wrong on the way to it.

No replication, no Raft: what a cluster does beyond its shards can't be tried with it. ``facade.script`` is a list of
faults for the next requests, one each; after them it answers well. What a fault holds back `release` does.
"""

from __future__ import annotations

import heapq
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import qdrant_edge as edge

LATE_S = 1.5
# Of all shards a collection has so many, whatever is asked for.
SHARDS = 3


class Fault(StrEnum):
    AWAY = "away"  # the connection breaks off, nothing is done
    LATE = "late"  # the answer comes after the caller's patience
    WRONG = "wrong"  # an answer of another kind
    FAILED = "failed"  # HTTP 500, nothing is done
    HALF = "half"  # HTTP 500, done in the first shard alone
    LOST = "lost"  # acknowledged, and not done
    TWICE = "twice"  # done twice
    HELD = "held"  # acknowledged, and done when `release` is called


class Facade(ThreadingHTTPServer):
    """``requests`` are the paths that came, ``is_down`` breaks off every one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = Path(tempfile.mkdtemp(prefix="qdrant-facade-"))
        self.collections: dict[str, list[edge.EdgeShard]] = {}
        self.script: list[Fault] = []
        self.requests: list[str] = []
        self.keys: set[str | None] = set()
        self.is_down = False
        self.lock = threading.RLock()
        self._held: list[Callable[[], object]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def release(self) -> None:
        """Do what was held back."""
        held, self._held = self._held, []
        for work in held:
            work()

    def hold(self, work: Callable[[], object]) -> None:
        self._held.append(work)

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers hang up on what is late."""

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        for shards in self.collections.values():
            for shard in shards:
                shard.close()
        shutil.rmtree(self.folder)

    def optimise(self) -> None:
        """Build what a server builds beside searches."""
        for shards in self.collections.values():
            for shard in shards:
                shard.optimize()


@contextmanager
def qdrant_facade() -> Iterator[Facade]:
    facade = Facade()
    threading.Thread(target=facade.serve_forever, daemon=True).start()
    try:
        yield facade
    finally:
        facade.stop()


class _Handler(BaseHTTPRequestHandler):
    server: Facade
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        path = self.path.partition("?")[0]
        server = self.server
        with server.lock:
            server.requests.append(f"{self.command} {path}")
            server.keys.add(self.headers.get("Authorization"))
            fault = server.script.pop(0) if server.script else None
        if server.is_down or fault is Fault.AWAY:
            self.close_connection = True
            return
        if fault is Fault.LATE:
            time.sleep(LATE_S)
        self._send(*self._answered(path, body, fault))

    def _answered(self, path: str, body: dict[str, Any], fault: Fault | None) -> tuple[int, Any]:
        if fault is Fault.WRONG:
            return 200, {"result": {"points": [{"id": "x"}]}, "status": "ok"}
        try:
            result = self._do(path, body, fault)
        except KeyError as missing:
            return 404, {"status": {"error": f"Not found: {missing}"}}
        if fault in (Fault.FAILED, Fault.HALF):
            return 500, {"status": {"error": fault.value}}
        return 200, {"result": result, "status": "ok", "time": 0.0}

    do_GET = do_PUT = do_POST = do_DELETE = _answer

    def _do(self, path: str, body: dict[str, Any], fault: Fault | None) -> Any:
        def work() -> Any:
            with self.server.lock:
                return _Request(self.server, self.command, path, body, is_half=fault is Fault.HALF).do()

        if fault in (Fault.FAILED, Fault.LOST):
            return _DONE
        if fault is Fault.HELD:
            self.server.hold(work)
            return _DONE
        if fault is Fault.TWICE:
            work()
        return work()

    def _send(self, status: int, facts: Any) -> None:
        body = json.dumps(facts).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_DONE = {"operation_id": 1, "status": "completed"}


class _Request:
    def __init__(self, server: Facade, method: str, path: str, body: dict[str, Any], *, is_half: bool) -> None:
        self._server = server
        self._method = method
        _root, self._name, *rest = path.strip("/").split("/")
        self._rest = "/".join(rest)
        self._body = body
        self._is_half = is_half

    def do(self) -> Any:
        if self._rest == "exists":
            return {"exists": self._name in self._server.collections}
        if not self._rest and self._method == "PUT":
            return self._make()
        if not self._rest and self._method == "DELETE":
            return self._drop()
        shards = self._server.collections[self._name]
        writes = {"index": self._index, "points": self._upsert, "points/delete": self._delete}
        if self._rest in writes or self._rest == "points/payload":
            for place, shard in enumerate(shards[:1] if self._is_half else shards):
                writes.get(self._rest, self._tag)(shard, place)
            return _DONE
        return getattr(self, f"_{self._rest.replace('/', '_') or 'facts'}")(shards)

    def _make(self) -> bool:
        config = edge.EdgeConfig(
            vectors={
                name: edge.EdgeVectorParams(
                    size=one["size"],
                    distance=edge.Distance.Cosine,
                    datatype=edge.VectorStorageDatatype.Float16,
                )
                for name, one in self._body["vectors"].items()
            },
            sparse_vectors={name: edge.EdgeSparseVectorParams() for name in self._body["sparse_vectors"]},
        )
        shards = []
        for place in range(SHARDS):
            folder = self._server.folder / self._name / str(place)
            folder.mkdir(parents=True)
            shards.append(edge.EdgeShard.create(str(folder), config))
        self._server.collections[self._name] = shards
        return True

    def _drop(self) -> bool:
        for shard in self._server.collections.pop(self._name):
            shard.close()
        shutil.rmtree(self._server.folder / self._name)
        return True

    def _index(self, shard: edge.EdgeShard, _place: int) -> None:
        shard.update(edge.UpdateOperation.create_field_index(self._body["field_name"], edge.PayloadSchemaType.Integer))

    def _upsert(self, shard: edge.EdgeShard, place: int) -> None:
        points = [
            edge.Point(id=one["id"], vector=_vectors(one["vector"]), payload=one["payload"])
            for one in self._body["points"]
            if one["id"] % SHARDS == place
        ]
        if points:
            shard.update(edge.UpdateOperation.upsert_points(points))

    def _delete(self, shard: edge.EdgeShard, place: int) -> None:
        own = [number for number in self._body["points"] if number % SHARDS == place]
        if own:
            shard.update(edge.UpdateOperation.delete_points(own))

    def _tag(self, shard: edge.EdgeShard, _place: int) -> None:
        shard.update(edge.UpdateOperation.set_payload_by_filter(_filter(self._body["filter"]), self._body["payload"]))

    def _facts(self, shards: list[edge.EdgeShard]) -> Any:
        points = sum(shard.count(edge.CountRequest(exact=True)) for shard in shards)
        return {"status": "green", "points_count": points, "config": {"params": {"replication_factor": 1}}}

    def _cluster(self, shards: list[edge.EdgeShard]) -> Any:
        local = [{"shard_id": place, "state": "Active"} for place in range(len(shards))]
        return {"local_shards": local, "remote_shards": []}

    def _points_count(self, shards: list[edge.EdgeShard]) -> Any:
        asked = edge.CountRequest(exact=True, filter=_filter(self._body["filter"]))
        return {"count": sum(shard.count(asked) for shard in shards)}

    def _points_scroll(self, shards: list[edge.EdgeShard]) -> Any:
        asked = edge.ScrollRequest(
            offset=self._body["offset"], limit=self._body["limit"], with_payload=False, with_vector=False
        )
        found = heapq.merge(*([record.id for record in shard.scroll(asked)[0]] for shard in shards))
        return {"points": [{"id": number} for number in list(found)[: self._body["limit"]]]}

    def _points_query_batch(self, shards: list[edge.EdgeShard]) -> Any:
        return [{"points": _queried(shards, one)} for one in self._body["searches"]]


def _queried(shards: list[edge.EdgeShard], asked: dict[str, Any]) -> list[dict[str, Any]]:
    nearest, params = asked["query"]["nearest"], asked.get("params", {})
    vector = edge.SparseVector(nearest["indices"], nearest["values"]) if isinstance(nearest, dict) else nearest
    request = edge.QueryRequest(
        limit=asked["limit"],
        query=edge.Query.Nearest(vector, using=asked["using"]),
        filter=_filter(asked["filter"]),
        params=edge.SearchParams(hnsw_ef=params.get("hnsw_ef"), exact=bool(params.get("exact"))),
    )
    found = (point for shard in shards for point in shard.query(request))
    best = heapq.nlargest(asked["limit"], found, key=lambda point: point.score)
    return [{"id": point.id, "version": 0, "score": point.score} for point in best]


def _vectors(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: edge.SparseVector(one["indices"], one["values"]) if isinstance(one, dict) else one
        for name, one in given.items()
    }


def _filter(given: dict[str, Any]) -> edge.Filter:
    return edge.Filter(must=[_condition(one) for one in given["must"]])


def _condition(one: dict[str, Any]) -> Any:
    if "has_id" in one:
        return edge.HasIdCondition(set(one["has_id"]))
    if "range" in one:
        return edge.FieldCondition(one["key"], range=edge.RangeFloat(**one["range"]))
    match = one["match"]
    return edge.FieldCondition(
        one["key"], match=edge.MatchAny(match["any"]) if "any" in match else edge.MatchValue(match["value"])
    )
