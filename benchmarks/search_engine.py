"""Measure searches that ask a search engine beside those that ask PostgreSQL, in turn, in one run.

``python -m benchmarks.search_engine`` fills a scratch hub with ``--chunks`` synthetic passages as ``benchmarks.search
scale`` does, writes the same terms and vectors to Qdrant's own engine in three shards (in a process of its own, behind
REST, as in ``tests/contracts/qdrant_facade.py``), and asks the same questions of both. It says nothing of a cluster.
With ``--keep FOLDER`` the hub stays there; the engine is filled each time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.scratch import add_data_argument, scratch_hub

AT_ONCE = 500
RECALL_AT = 10


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_engine", description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000, help="passages (default 100,000)")
    parser.add_argument("--keep", type=Path, help="folder of the hub, measured again when filled")
    add_data_argument(parser)
    return parser.parse_args()


def main() -> None:
    """Start a scratch hub and an engine, and measure."""
    asked = parse_arguments()
    with _engine() as far:
        engine = {"SEARCH_INDEX": "qdrant", "QDRANT_URL": far.recv(), "QDRANT_TIMEOUT_S": "60"}
        with scratch_hub(asked.keep, HUB_RATE_LIMIT_PER_MINUTE="1000000", **engine) as folder:
            _run(asked.data, asked.chunks, folder, far)


@contextmanager
def _engine() -> Iterator[Connection]:
    """Run the façade in another process; what is sent to it makes it build what a server builds beside searches."""
    here, there = get_context("spawn").Pipe()
    child = get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    child.start()
    yield here
    child.terminate()
    child.join()


def _serve(asked: Connection) -> None:
    from tests.contracts.qdrant_facade import qdrant_facade

    with qdrant_facade() as facade:
        asked.send(facade.url)
        while True:
            asked.recv()
            facade.optimise()
            asked.send("done")


def _run(data: Path, chunks: int, folder: Path, far: Connection) -> None:
    import numpy as np

    from benchmarks.retrieval.prepared import questions_of_filled
    from hub.access.principals import local_operator
    from knowledge.generations.generations import create_generation
    from knowledge.index.active_embedder import active_embedding_set
    from knowledge.models import EmbeddingSet
    from knowledge.search.hybrid import search
    from knowledge.types.search import SearchMode, SearchQuery

    questions, embedding_set = questions_of_filled(data, chunks, folder), active_embedding_set()
    generation = create_generation(principal=local_operator(), shards=3, copies=1)
    _fill(generation)
    started = time.perf_counter()
    far.send("optimise")
    far.recv()
    print(f"optimising: {time.perf_counter() - started:.1f} s, load {os.getloadavg()[0]:.1f}")

    def ask(text: str, mode: SearchMode, generation_id: int | None) -> tuple[list[str], float]:
        EmbeddingSet.objects.filter(pk=embedding_set.pk).update(generation=generation_id)
        begun = time.perf_counter()
        hits = search(local_operator(), SearchQuery(text=text, mode=mode, limit=RECALL_AT)).hits
        return [hit.chunk_id for hit in hits], (time.perf_counter() - begun) * 1000

    print(f"{'':10}{'PostgreSQL p50':>16}{'p95':>8}{'engine p50':>13}{'p95':>8} ms{'same 10':>9}{'recall@10':>11}")
    for mode in SearchMode:
        for text in questions:  # neither is to be asked a question for the first time
            ask(text, mode, None)
            ask(text, mode, generation.pk)
        pairs = [(ask(text, mode, None), ask(text, mode, generation.pk)) for text in questions]
        ours, theirs = (np.percentile([pair[side][1] for pair in pairs], [50, 95]) for side in (0, 1))
        same = np.mean([one[0] == other[0] for one, other in pairs])
        shared = np.mean([len(set(one[0]) & set(other[0])) / len(one[0]) for one, other in pairs if one[0]])
        times = f"{ours[0]:16.1f}{ours[1]:8.1f}{theirs[0]:13.1f}{theirs[1]:8.1f}"
        print(f"{mode.value:10}{times}   {same:9.2f}{shared:11.3f}", flush=True)


def _fill(generation: Any) -> None:
    """Write the synthetic terms as they are in the postings: the passages' texts do not have them."""
    import numpy as np

    from knowledge.generations.sending import layout_of
    from knowledge.index.engine import get_engine
    from knowledge.models import Chunk, ChunkVector
    from knowledge.types.engines import IndexedPassage, Tags

    engine = get_engine()
    engine.make(generation.collection, layout_of(generation))
    ordinals, term_ids, weights = _postings(generation)
    numbered = Chunk.objects.filter(lexical_entry__isnull=False).order_by("lexical_entry__ordinal")
    names = ("pk", "lexical_entry__ordinal", "version__document_id", "version__document__collection_id")
    rows, started = list(numbered.values_list(*names)), time.perf_counter()
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        vectors = dict(ChunkVector.objects.filter(chunk__in=[row[0] for row in some]).values_list("chunk_id", "vector"))
        batch = []
        for chunk_id, number, document_id, collection_id in some:
            own = slice(*np.searchsorted(ordinals, [number, number + 1]))
            batch.append(
                IndexedPassage(
                    number=number,
                    document_id=document_id,
                    tags=Tags(collection_id=collection_id, classification=2),
                    vector=np.array(vectors[chunk_id], np.float32),
                    term_ids=term_ids[own],
                    weights=weights[own],
                )
            )
        engine.write(generation.collection, batch)
    spent = time.perf_counter() - started
    print(f"engine: {len(rows):,} passages in {spent:.0f} s, {len(rows) / spent:.0f} a second", flush=True)


def _postings(generation: Any) -> tuple[Any, Any, Any]:
    """Return numbers, terms and weights of all postings, in columns by ascending number."""
    import numpy as np

    from knowledge.index.bm25_constants import CONSTANTS
    from knowledge.index.segments import unpack
    from knowledge.models import LexicalField, LexicalPosting, LexicalTerm

    fields = dict(LexicalTerm.objects.values_list("pk", "field"))
    lengths = {LexicalField.WORD.value: generation.word_length, LexicalField.BIGRAM.value: generation.bigram_length}
    ordinals, term_ids, weights = list[Any](), list[Any](), list[Any]()
    for term_id, packed in LexicalPosting.objects.values_list("term_id", "packed").iterator():
        rows, bm25 = unpack(bytes(packed)), CONSTANTS[fields[term_id]]
        tf = rows["tf"].astype(float)
        added = bm25.k1 * (1 - bm25.b) + bm25.k1 * bm25.b / lengths[fields[term_id]] * rows["length"]
        ordinals.append(rows["ordinal"].astype(np.int64))
        term_ids.append(np.full(len(rows), term_id, np.int64))
        weights.append((tf / (tf + added)).astype(np.float32))
    order = np.argsort(np.concatenate(ordinals), kind="stable")
    numbers, terms, worth = (np.concatenate(column)[order] for column in (ordinals, term_ids, weights))
    return numbers, terms, worth


if __name__ == "__main__":
    main()
