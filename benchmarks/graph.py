"""Measure the knowledge graph at scale: `python -m benchmarks.graph --nodes 100000 --edges 500000` (HUB_DATA_DIR!).

Fills a collection of its own with random nodes and edges, walks and queries it, and removes it again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import time
from collections.abc import Callable
from functools import partial

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
SLUG = "benchmark-graph"
WORDS = ("検索", "貸出", "予約", "返却", "認証", "帳票", "連携", "監視")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--walks", type=int, default=100)
    options = parser.parse_args()
    django.setup()
    from django.core.management import call_command

    from knowledge.models import Collection

    call_command("migrate", verbosity=0)
    Collection.objects.filter(slug=SLUG).delete()
    collection = Collection.objects.create(slug=SLUG, name="計測")
    try:
        fill(collection.pk, options.nodes, options.edges)
        print(json.dumps(measure(collection.pk, options.nodes, options.walks), indent=2))
    finally:
        remove(collection.pk)


def fill(space: int, nodes: int, edges: int) -> None:
    """COPY random nodes of five types and edges between them, the shipped types' way."""
    from django.db import connection

    from knowledge.graph.contribute import lock_space

    lock_space_now(lock_space, space)
    chance = random.Random(3)
    types = ("Document", "Section", "Section", "Requirement", "Requirement")
    with connection.cursor() as cursor:
        columns = (
            "public_id, type_id, collection_id, key, name, code, aliases, keys, properties, classification, revision"
        )
        with cursor.copy(f"COPY knowledge_graphnode ({columns}) FROM STDIN") as copy:
            for number in range(nodes):
                name = f"{WORDS[number % len(WORDS)]}-{number}"
                row = (f"bench_{number}", types[number % 5], space, name, name, name, "{}", f"{{{name}}}", "{}", 1, 1)
                copy.write_row(row)
        cursor.execute("SELECT id FROM knowledge_graphnode WHERE collection_id = %s ORDER BY id", [space])
        ids = [pk for (pk,) in cursor.fetchall()]
        pairs = {(chance.choice(ids), chance.choice(ids)) for _ in range(edges)}
        columns = "source_id, type_id, target_id, collection_id, properties, classification, revision"
        with cursor.copy(f"COPY knowledge_graphedge ({columns}) FROM STDIN") as copy:
            for source, target in pairs:
                copy.write_row((source, chance.choice(("REFERENCES", "TRACES_TO")), target, space, "{}", 1, 1))
        cursor.execute("ANALYZE knowledge_graphnode")
        cursor.execute("ANALYZE knowledge_graphedge")


def measure(space: int, nodes: int, walks: int) -> dict[str, object]:
    from hub.access.principals import local_operator
    from knowledge.graph.contribute import lock_space
    from knowledge.graph.cypher.query import CypherQuery, projection_backend, query_knowledge_graph
    from knowledge.graph.search import GraphQuery, graph_search
    from knowledge.graph.walk import Direction
    from knowledge.models import GraphNode

    who, chance = local_operator(), random.Random(5)
    found: dict[str, object] = {}
    for depth in (2, 3):
        for limit in (50, 500):
            times = []
            for _ in range(walks):
                entity = f"bench_{chance.randrange(nodes)}"
                query = GraphQuery(entity=entity, max_depth=depth, limit=limit, direction=Direction.BOTH)
                times.append(timed(partial(graph_search, who, query)))
            found[f"graph_search depth {depth} limit {limit} ms"] = summary(times)
    count = CypherQuery(text="MATCH (n:Requirement) RETURN count(n)")
    found["cypher: first query, with the full copy, ms"] = round(timed(lambda: query_knowledge_graph(who, count)))
    found["cypher: count, ms"] = summary([timed(lambda: query_knowledge_graph(who, count)) for _ in range(10)])
    revision = lock_space_now(lock_space, space)
    GraphNode.objects.filter(public_id="bench_3").update(name="変更", revision=revision)
    found["cypher: query after one change, ms"] = round(timed(lambda: query_knowledge_graph(who, count)))
    child = projection_backend().copies.process._child
    with open(f"/proc/{child.pid}/status", encoding="ascii") as status:  # noqa: PTH123
        found["query process, MB"] = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))
    found["this process, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    projection_backend().copies.forget()
    return found


def lock_space_now(lock_space: Callable[[int], int], space: int) -> int:
    from django.db import transaction

    with transaction.atomic():
        return lock_space(space)


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {"p50": round(statistics.median(times), 1), "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 1)}


def remove(space: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM knowledge_graphedge WHERE collection_id = %s", [space])
        cursor.execute("DELETE FROM knowledge_graphnode WHERE collection_id = %s", [space])
        cursor.execute("DELETE FROM knowledge_graphrevision WHERE space = %s", [space])
        cursor.execute("DELETE FROM knowledge_collection WHERE id = %s", [space])


if __name__ == "__main__":
    main()
