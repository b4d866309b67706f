"""The process that runs queries: ``python -m knowledge.graph.cypher.child``. It knows no database and no secret.

It gets tables of nodes and edges on stdin, keeps graphs of them by name, and answers queries on stdout. Before the
first query it gives up the right to open files: whatever a query may talk the engine into, there is nothing to read.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import resource
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import kglite
import pandas as pd

from knowledge.graph.cypher.frames import NO_GRAPH, read_frame, write_frame

THREADS = 4
NODE_COLUMNS = ["id", "type", "name", "code", "properties"]
EDGE_COLUMNS = ["source", "source_type", "type", "target", "target_type", "properties"]


class Graphs:
    """The graphs by name: the one that changes, and the frozen one that queries see."""

    def __init__(self) -> None:
        self._kept: dict[str, kglite.KnowledgeGraph] = {}
        self.frozen: dict[str, kglite.FrozenGraph] = {}

    def load(self, name: str, tables: list[bytes], *, is_new: bool) -> dict[str, Any]:
        """Build a graph, or bring one up to date: removed nodes, removed edges, nodes, edges."""
        graph = kglite.KnowledgeGraph() if is_new or name not in self._kept else self._kept[name]
        gone_nodes, gone_edges, nodes, edges = tables
        _remove(graph, json.loads(gone_nodes), json.loads(gone_edges))
        _add_nodes(graph, _table(nodes, NODE_COLUMNS))
        _add_edges(graph, _table(edges, EDGE_COLUMNS))
        self._kept[name], self.frozen[name] = graph, graph.freeze()
        return {"nodes": self.frozen[name].node_count()}

    def drop(self, name: str) -> dict[str, Any]:
        self._kept.pop(name, None)
        self.frozen.pop(name, None)
        return {}


def _table(csv: bytes, columns: list[str]) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(csv), names=columns, dtype=str, keep_default_na=False, encoding="utf-8")


def _remove(graph: kglite.KnowledgeGraph, nodes: list[str], edges: list[list[str]]) -> None:
    if nodes:
        graph.cypher("UNWIND $ids AS gone MATCH (n {id: gone}) DETACH DELETE n", params={"ids": nodes})
    for source, edge_type, target in edges:
        graph.cypher(
            f"MATCH (a {{id: $source}})-[r:{edge_type}]->(b {{id: $target}}) DELETE r",
            params={"source": source, "target": target},
        )


def _add_nodes(graph: kglite.KnowledgeGraph, table: pd.DataFrame) -> None:
    for node_type, rows in table.groupby("type", sort=True):
        frame = _with_properties(rows[["id", "name", "code"]], rows["properties"])
        graph.add_nodes(frame, node_type, "id", "name", conflict_handling="replace", nullable_int_downcast=True)


def _add_edges(graph: kglite.KnowledgeGraph, table: pd.DataFrame) -> None:
    for (source_type, edge_type, target_type), rows in table.groupby(["source_type", "type", "target_type"], sort=True):
        frame = _with_properties(rows[["source", "target"]], rows["properties"])
        more = [name for name in frame.columns if name not in ("source", "target")]
        graph.add_connections(frame, edge_type, source_type, "source", target_type, "target", columns=more or None)


def _with_properties(rows: pd.DataFrame, properties: pd.Series[str]) -> pd.DataFrame:
    """Spread simple properties into columns; those that hold lists or maps stay out, and the engine's own names."""
    read = [json.loads(text) if text not in ("", "{}") else {} for text in properties]
    names = sorted({name for row in read for name in row} - set(rows.columns) - {"type", "title"})
    spread = {name: [_simple(row.get(name)) for row in read] for name in names}
    return pd.concat([rows.reset_index(drop=True), pd.DataFrame(spread)], axis=1)


def _simple(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) else None


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
