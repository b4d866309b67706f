"""The process that runs queries: ``python -m knowledge.graph.cypher.child``. It knows no database and no secret.

It gets tables of nodes and edges on stdin, keeps graphs of them by name, and answers queries on stdout. Before the
first query it gives up the right to open files: whatever a query may talk the engine into, there is nothing to read.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import resource
import sys
import threading
import warnings
from collections.abc import Container, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import kglite

from knowledge.graph.cypher.frames import NO_GRAPH, read_frame, write_frame

THREADS = 4
ROWS_AT_ONCE = 10_000


class Graphs:
    """The graphs by name: the one that changes, and the frozen one that queries see."""

    def __init__(self) -> None:
        self._kept: dict[str, kglite.KnowledgeGraph] = {}
        self.frozen: dict[str, kglite.FrozenGraph] = {}

    def load(self, name: str, tables: list[bytes], *, is_new: bool) -> dict[str, Any]:
        """Build a graph, or bring one up to date: removed nodes, removed edges, nodes, edges."""
        kept = None if is_new else self._kept.get(name)
        graph = kglite.KnowledgeGraph() if kept is None else kept
        gone_nodes, gone_edges, nodes, edges = tables
        _remove(graph, json.loads(gone_nodes), json.loads(gone_edges))
        for rows in _slices(nodes):
            graph.extend(kglite.from_records(_nodes(rows)), conflict_handling="replace")
        for rows in _slices(edges):
            _add_edges(graph, rows, how="CREATE" if kept is None else "MERGE")
        self._kept[name], self.frozen[name] = graph, graph.freeze()
        return {"nodes": self.frozen[name].node_count()}

    def drop(self, name: str) -> dict[str, Any]:
        self._kept.pop(name, None)
        self.frozen.pop(name, None)
        return {}


def _slices(table: bytes) -> Iterator[list[list[str]]]:
    """Read the rows of a CSV table, some at a time: the engine takes them in a much larger form."""
    csv.field_size_limit(len(table) + 1)
    rows = csv.reader(io.StringIO(table.decode(), newline=""))
    while found := list(islice(rows, ROWS_AT_ONCE)):
        yield found


def _remove(graph: kglite.KnowledgeGraph, nodes: list[str], edges: list[list[str]]) -> None:
    if nodes:
        graph.cypher("UNWIND $ids AS gone MATCH (n {id: gone}) DETACH DELETE n", params={"ids": nodes})
    for source, edge_type, target in edges:
        graph.cypher(
            f"MATCH (a {{id: $source}})-[r:{edge_type}]->(b {{id: $target}}) DELETE r",
            params={"source": source, "target": target},
        )


def _nodes(rows: Iterable[list[str]]) -> dict[str, Any]:
    """Nodes (id, type, name, code, properties) by their type, as the engine reads them."""
    records: dict[str, list[dict[str, object]]] = {}
    for key, node_type, name, code, properties in rows:
        own: dict[str, object] = {"id": key, "name": name, "code": code}
        records.setdefault(node_type, []).append(_simple_properties(properties, without=own) | own)
    ends = {"id_field": "id", "title_field": "name"}
    return {"nodes": [{"type": node_type, **ends, "records": found} for node_type, found in sorted(records.items())]}


def _add_edges(graph: kglite.KnowledgeGraph, rows: Iterable[list[str]], *, how: str) -> None:
    """CREATE edges (source, its type, type, target, its type, properties), or MERGE them with those that are there."""
    records: dict[tuple[str, str, str], list[dict[str, object]]] = {}
    for source, source_type, edge_type, target, target_type, properties in rows:
        ends: dict[str, object] = {"source": source, "target": target}
        row = ends | {"properties": _simple_properties(properties, without=ends)}
        records.setdefault((source_type, edge_type, target_type), []).append(row)
    for (source_type, edge_type, target_type), found in sorted(records.items()):
        graph.cypher(
            f"UNWIND $rows AS row MATCH (a:{source_type} {{id: row.source}}), (b:{target_type} {{id: row.target}}) "
            f"{how} (a)-[r:{edge_type}]->(b) SET r += row.properties",
            params={"rows": found},
        )


def _simple_properties(text: str, *, without: Container[str]) -> dict[str, object]:
    """Read properties; lists and maps are None, and some names stay out: the engine's own, and those of ``without``."""
    if text in ("", "{}"):
        return {}
    read = json.loads(text).items()
    return {
        name: value if isinstance(value, str | int | float | bool) else None
        for name, value in read
        if name not in without and name not in ("type", "title")
    }


def answer(graphs: Graphs, request: dict[str, Any], tables: list[bytes]) -> dict[str, Any]:
    """Do what a request asks; what the engine refuses comes back as its words."""
    try:
        if request["do"] == "load":
            return graphs.load(request["graph"], tables, is_new=request["is_new"])
        if request["do"] == "drop":
            return graphs.drop(request["graph"])
        return _run(graphs, request)
    except kglite.KgError as error:
        return {"error": type(error).__name__, "message": str(error)[:2000]}
    except MemoryError:
        return {"error": "MemoryError", "message": ""}
    except Exception as error:  # noqa: BLE001 (whatever the engine raises is an answer: somebody waits for it)
        return {"error": type(error).__name__, "message": str(error)[:2000]}


def _run(graphs: Graphs, request: dict[str, Any]) -> dict[str, Any]:
    frozen = graphs.frozen.get(request["graph"])
    if frozen is None:
        return {"error": NO_GRAPH, "message": ""}
    view = frozen.cypher(
        request["query"],
        params=request["parameters"],
        timeout_ms=request["timeout_ms"],
        row_limit=request["row_limit"] + 1,
        max_work_units=request["max_work_units"],
    )
    rows = view.to_dicts()
    records, budget, is_cut = [], request["max_characters"], len(rows) > request["row_limit"]
    for row in rows[: request["row_limit"]]:
        record = {key: _plain(value) for key, value in row.items()}
        budget -= len(json.dumps(record, ensure_ascii=False))
        if budget < 0:
            is_cut = True
            break
        records.append(record)
    return {"records": records, "columns": list(view.columns), "is_cut": is_cut}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a query returns
    """A value as JSON has it. Nodes and relationships keep their shape and get the hub's ids."""
    if isinstance(value, dict):
        plain = {str(key): _plain(held) for key, held in value.items()}
        if set(plain) == {"id", "labels", "properties"}:
            plain["id"] = plain["properties"].get("id", plain["id"])
        return plain
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def bind_process(memory_bytes: int) -> None:
    """Give up what queries don't need: memory beyond a limit, writing files, core dumps."""
    for kind, limit in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _soft, hard = resource.getrlimit(kind)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))


def close_the_doors() -> None:
    """Give up opening files: no descriptor is left beyond those that are open now."""
    highest = max(int(name) for name in os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 16  # noqa: PTH112, PTH208
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, highest))


def main(memory_bytes: int) -> None:
    """Serve requests until stdin ends."""
    warnings.simplefilter("ignore")
    bind_process(memory_bytes)
    # The engine writes warnings to stdout and stderr as it likes: answers have a stream of their own.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb", buffering=1024 * 1024)
    graphs, writing = Graphs(), threading.Lock()
    _warm_up(graphs)
    close_the_doors()

    def work(request: dict[str, Any], tables: list[bytes]) -> None:
        said = answer(graphs, request, tables)
        with writing, contextlib.suppress(BrokenPipeError):
            write_frame(answers, {"id": request["id"], **said})

    with ThreadPoolExecutor(THREADS) as threads:
        while (frame := read_frame(requests)) is not None:
            request, tables = frame
            # Loading changes what queries see: in order, here. Queries run side by side.
            work(request, tables) if request["do"] != "query" else threads.submit(work, request, tables)


def _warm_up(graphs: Graphs) -> None:
    """Load what libraries load late, while files can still be opened."""
    nodes = b'a,Document,n,c,"{""x"": 1}"\nb,Document,n,c,{}\n'
    graphs.load("", [b"[]", b"[]", nodes, b"a,Document,REFERENCES,b,Document,{}\n"], is_new=True)
    graphs.load("", [b'["b"]', b"[]", b"", b""], is_new=False)
    _run(
        graphs,
        {
            "graph": "",
            "query": "MATCH (n) WHERE n.name =~ '.*' RETURN n, toUpper(n.name) AS u ORDER BY u",
            "parameters": {},
            "timeout_ms": 1000,
            "row_limit": 1,
            "max_work_units": 1000,
            "max_characters": 1000,
        },
    )
    graphs.drop("")


if __name__ == "__main__":
    main(int(sys.argv[1]))
