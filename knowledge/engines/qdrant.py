"""Qdrant over its REST interface: `knowledge.ports.SearchEngine` in nine requests.

Written for Qdrant 1.15 and newer. Sources: api.qdrant.tech (points, query, collections), and qdrant.tech's
documentation, "Distributed deployment" (writes, consistency, shards). Idf is ours and comes with each question:
Qdrant's own is that of one shard. Texts never go to the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hub.core.model_servers import AnswerTooLong, ModelServer, RequestRefused, ServerAway
from knowledge.engines.errors import EngineError
from knowledge.types.engines import EngineHealth, IndexedPassage, Layout, Scored, Tags, WeighedTerms, Within

DENSE, TERMS = "dense", "terms"
COLLECTION, CLASSIFICATION, DOCUMENT = "collection", "classification", "document"
# Candidates that a walk through HNSW keeps: of 100,000 passages the ten nearest are then found without a miss.
EF_SEARCH = 256
HNSW_M, HNSW_EF_CONSTRUCTION = 16, 100
# Sums of the same float32 numbers in another order differ by some 2e-7: what is nearer than this is equal, and in order
# of its number, or pages would change from copy to copy.
DECIMALS = 6
# 10,000 hits are some 600 KB, 10,000 numbers 200 KB.
MOST_ANSWER_BYTES = 16 * 1024 * 1024
# A write waits until all copies have it, beside an optimiser that may be at work.
WRITE_TIMEOUT_FACTOR = 6
# Source: Qdrant's API, "Update collection cluster setup": the states of a copy of a shard.
ACTIVE = "Active"
_WRITTEN = "wait=true&ordering=strong"


class QdrantEngine:
    """`SearchEngine` at a URL; see there for what the methods promise. Nothing is opened before the first question."""

    def __init__(self, url: str, *, api_key: str = "", timeout_s: float) -> None:
        """A question may take ``timeout_s``, a write six times as long."""
        self._server = ModelServer(url, api_key=api_key, most_bytes=MOST_ANSWER_BYTES, reason_of=_reason)
        self._timeout_s = timeout_s

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._server.close()

    def make(self, collection: str, layout: Layout) -> None:
        told = self._ask("GET", f"/collections/{collection}/exists")
        with _readable():
            is_there = bool(told["exists"])
        if not is_there:
            self._write(
                "PUT",
                f"/collections/{collection}",
                {
                    "vectors": {DENSE: {"size": layout.dimension, "distance": "Cosine", "datatype": "float16"}},
                    "sparse_vectors": {TERMS: {}},
                    "hnsw_config": {"m": HNSW_M, "ef_construct": HNSW_EF_CONSTRUCTION},
                    "shard_number": layout.shards,
                    "replication_factor": layout.copies,
                    "write_consistency_factor": layout.copies,
                },
            )
        # Before the passages: a filter without its index reads every one of them.
        for name in (COLLECTION, CLASSIFICATION, DOCUMENT):
            self._write(
                "PUT",
                f"/collections/{collection}/index?wait=true",
                {"field_name": name, "field_schema": "integer"},
            )

    def drop(self, collection: str) -> None:
        try:
            self._write("DELETE", f"/collections/{collection}", None)
        except EngineError as error:
            if not error.is_missing:
                raise

    def write(self, collection: str, passages: Sequence[IndexedPassage]) -> None:
        points = [
            {"id": one.number, "vector": _vectors(one), "payload": _payload(one.tags) | {DOCUMENT: one.document_id}}
            for one in passages
        ]
        if points:
            self._write("PUT", f"/collections/{collection}/points?{_WRITTEN}", {"points": points})

    def retag(self, collection: str, document_id: int, tags: Tags) -> None:
        passages = {"must": [{"key": DOCUMENT, "match": {"value": document_id}}]}
        body = {"payload": _payload(tags), "filter": passages}
        self._write("POST", f"/collections/{collection}/points/payload?{_WRITTEN}", body)

    def delete(self, collection: str, numbers: Sequence[int]) -> None:
        if numbers:
            self._write("POST", f"/collections/{collection}/points/delete?{_WRITTEN}", {"points": list(numbers)})

    def search_dense(
        self, collection: str, vector: NDArray[np.float64], within: Within, *, limit: int, exact: bool = False
    ) -> Scored:
        params = {"exact": True} if exact else {"hnsw_ef": max(EF_SEARCH, limit)}
        asked = {"query": {"nearest": vector.tolist()}, "using": DENSE, "params": params}
        return self._query(collection, [asked], within, limit)[0]

    def search_sparse(
        self, collection: str, asked: Sequence[WeighedTerms], within: Within, *, limit: int
    ) -> list[Scored]:
        queries = [{"query": {"nearest": _sparse(one.term_ids, one.weights)}, "using": TERMS} for one in asked]
        return self._query(collection, queries, within, limit) if queries else []

    def count(self, collection: str, within: Within) -> int:
        body = {"exact": True, "filter": _filter(within)}
        told = self._ask("POST", f"/collections/{collection}/points/count", body)
        with _readable():
            return int(told["count"])

    def numbers(self, collection: str, *, after: int, limit: int) -> NDArray[np.int64]:
        body = {"offset": after + 1, "limit": limit, "with_payload": False, "with_vector": False}
        told = self._ask("POST", f"/collections/{collection}/points/scroll", body)
        with _readable():
            return np.array([point["id"] for point in told["points"]], np.int64)

    def health(self, collection: str) -> EngineHealth:
        told = self._ask("GET", f"/collections/{collection}")
        cluster = self._ask("GET", f"/collections/{collection}/cluster")
        with _readable():
            copies = int(told["config"]["params"].get("replication_factor") or 1)
            shards = [*cluster["local_shards"], *cluster["remote_shards"]]
            active = [shard["shard_id"] for shard in shards if shard["state"] == ACTIVE]
            thin = sum(active.count(shard_id) < copies for shard_id in {shard["shard_id"] for shard in shards})
            return EngineHealth(status=str(told["status"]), passages=int(told["points_count"] or 0), thin_shards=thin)

    def _query(self, collection: str, asked: Sequence[Mapping[str, Any]], within: Within, limit: int) -> list[Scored]:
        rest = {"filter": _filter(within), "limit": limit, "with_payload": False, "with_vector": False}
        searches = {"searches": [{**one, **rest} for one in asked]}
        answers = self._ask("POST", f"/collections/{collection}/points/query/batch", searches)
        with _readable():
            found = [_scored(answer["points"]) for answer in answers]
        if len(found) != len(asked):
            raise EngineError(f"Qdrant answered {len(found)} of {len(asked)} questions")
        return found

    def _write(self, method: str, path: str, body: Mapping[str, Any] | None) -> None:
        self._ask(method, path, body, timeout_s=WRITE_TIMEOUT_FACTOR * self._timeout_s)

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Any:  # noqa: ANN401 - what the engine answers
        try:
            response = self._server.ask(path, body, timeout_s=timeout_s or self._timeout_s, method=method)
        except ServerAway as error:
            raise EngineError(f"Qdrant did not answer: {error.failure}") from error
        except RequestRefused as error:
            is_missing = error.status == HTTPStatus.NOT_FOUND
            raise EngineError(f"Qdrant refused: HTTP {error.status} {error.reason}", is_missing=is_missing) from error
        except AnswerTooLong as error:
            raise EngineError(f"Qdrant's answer is longer than {MOST_ANSWER_BYTES} bytes") from error
        with _readable():
            return response.json()["result"]


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise EngineError(f"Qdrant's answer can't be read: {type(error).__name__}") from error


def _reason(body: Any) -> object:  # noqa: ANN401 - any JSON
    return body["status"]["error"]


def _sparse(term_ids: NDArray[np.int64], weights: NDArray[Any]) -> dict[str, Any]:
    return {"indices": term_ids.tolist(), "values": weights.tolist()}


def _vectors(passage: IndexedPassage) -> dict[str, Any]:
    vectors: dict[str, Any] = {} if passage.vector is None else {DENSE: passage.vector.tolist()}
    if passage.term_ids.size:
        vectors[TERMS] = _sparse(passage.term_ids, passage.weights)
    return vectors


def _payload(tags: Tags) -> dict[str, Any]:
    return {COLLECTION: tags.collection_id, CLASSIFICATION: tags.classification}


def _filter(within: Within) -> dict[str, Any]:
    must: list[dict[str, Any]] = []
    if within.collection_ids is not None:
        must.append({"key": COLLECTION, "match": {"any": list(within.collection_ids)}})
    if within.ceiling is not None:
        must.append({"key": CLASSIFICATION, "range": {"lte": within.ceiling}})
    if within.numbers is not None:
        must.append({"has_id": within.numbers.tolist()})
    return {"must": must}


def _scored(points: Sequence[Mapping[str, Any]]) -> Scored:
    numbers = np.array([point["id"] for point in points], np.int64)
    scores: NDArray[np.float64] = np.array([point["score"] for point in points], np.float64).round(DECIMALS)
    order = np.lexsort((numbers, -scores))
    return Scored(numbers=numbers[order], scores=scores[order])
