"""Compare three stores for search by words: own postings, GIN over term arrays with numpy's BM25, and tantivy.

``python -m benchmarks.lexical_stores --keep FOLDER [--passages 1000000]`` fills an empty hub in FOLDER (embedded
PostgreSQL) with the passages of the question sets and others mixed of their terms, the same in every store, and
measures: what each store's lists lack of the exact ones, nDCG@10 and recall@10 of the sets' questions among all
passages, latency with one client and with eight, for a caller who sees everything and a reader of half of the
collections, bulk loading and size, and the cost of deleting and writing documents. ``build`` and ``measure`` alone do
half of it; ``--stores`` takes some of them. What is timed is the lexical leg: from a question's terms to the best 200
permitted passages. Writing changes the filled hub, so it is measured last, by ``write``.

tantivy is no dependency of the hub: ``pip install --target LIB tantivy==0.27.0`` and put LIB on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.scratch import add_data_argument, scratch_hub

if TYPE_CHECKING:
    from benchmarks.lexical.stores import NewDocument, Numbers, Store
    from benchmarks.retrieval.question_sets import Question, QuestionSet
    from hub.access.principals import Principal
    from knowledge.index.analysis import QueryTerms
    from knowledge.index.postings import AnalysedChunk
    from knowledge.models import EmbeddingSet

COMMANDS = ("all", "build", "measure", "write")
STORES = ("own", "gin", "tantivy")
BUDGETS = (2_000, 10_000)
CLIENTS = 8
TOP = 10
COLLECTIONS = 20
WRITTEN_DOCUMENTS = 20


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lexical_stores", description=__doc__)
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="all")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, required=True, help="folder of the hub, measured again when filled")
    parser.add_argument("--stores", default=",".join(STORES))
    parser.add_argument("--questions", type=int, default=100, help="of each set")
    add_data_argument(parser)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    with scratch_hub(arguments.keep):
        from benchmarks.retrieval.question_sets import read_sets
        from knowledge.index.active_embedder import active_embedding_set

        sets, embedding_set = read_sets(arguments.data), active_embedding_set()
        chosen = arguments.stores.split(",")
        if arguments.command in ("all", "build"):
            build(sets, embedding_set, arguments.passages, chosen, arguments.keep)
        if arguments.command in ("all", "measure"):
            measure(sets, embedding_set, arguments.questions, chosen, arguments.keep)
        if arguments.command in ("all", "write"):
            measure_writing(sets, embedding_set, chosen, arguments.keep)


def build(sets: Sequence[QuestionSet], embedding_set: EmbeddingSet, passages: int, chosen: list[str], keep: Path):
    """Fill the chosen stores with the same passages, and print how long each took and how large it is."""
    from django.db import connection

    from benchmarks.lexical.corpus import Corpus
    from benchmarks.lexical.term_arrays import TermArrays
    from benchmarks.retrieval.bulk import without_references

    keys = _passages(passages, embedding_set)
    corpus = Corpus(sets)
    corpus.owner_of = _owners()
    stores = _stores(embedding_set, chosen, keep, keys)
    for store in stores:
        if isinstance(store, TermArrays):
            store.make()
    seconds = dict.fromkeys([store.name for store in stores], 0.0)
    with without_references():
        for batch in corpus.batches(passages):
            for store in stores:
                with _timed(seconds, store.name):
                    store.add(batch, corpus)
            print(f"  {time.strftime('%H:%M:%S')} {batch.first + batch.size - 1:,} passages", flush=True)
    for store in stores:
        with _timed(seconds, f"{store.name}, at the end"):
            store.finish(corpus)
        print(f"{store.name}: {seconds}", flush=True)
        sizes = ", ".join(f"{name} {size:.0f}" for name, size in store.sizes_mib().items())
        print(f"{store.name}: MiB {sizes}", flush=True)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    (keep / "numbers.json").write_text(json.dumps(corpus.number_of))


def measure(sets: Sequence[QuestionSet], embedding_set: EmbeddingSet, count: int, chosen: list[str], keep: Path):
    """Print quality and latency of each store."""
    from benchmarks.retrieval.scale import backend_seconds
    from knowledge.index.analysis import analyse_query
    from knowledge.index.warm_up import warm_up

    following: int | None = 0
    while following is not None:
        following = warm_up(following, seconds=60)
    number_of = json.loads((keep / "numbers.json").read_text())
    questions = [question for one in sets for question in one.sample(count)]
    terms = [analyse_query(question.text) for question in questions]
    others = [analyse_query(q.text) for one in sets for q in one.sample(2 * count)[count:]]
    stores = _stores(embedding_set, chosen, keep, [])
    titles = f"{'':30}{'caller':>10}{'lacks':>8}{'nDCG@10':>9}{'recall':>8}"
    print(f"{titles}{'p50':>8}{'p95':>8} ms 1{'p50':>8}{'p95':>8} ms {CLIENTS}  processor ms, mean")
    for name, principal in _callers().items():
        exact = [exact_scores(one, embedding_set, principal) for one in terms]
        for store in stores:
            for one in others:
                _asked(store, one, principal)
            spent = time.process_time() + backend_seconds()
            answers = [_asked(store, one, principal) for one in terms]
            spent = (time.process_time() + backend_seconds() - spent) * 1000 / len(terms)
            many = _asked_by_many(store, terms, principal)
            lists = [found for found, _ms in answers]
            lacking = sum(_lacking(found, truth) for found, truth in zip(lists, exact, strict=True)) / len(lists)
            quality = _quality(lists, questions, number_of)
            times = _percentiles([ms for _found, ms in answers]) + _percentiles(many)
            told = "".join(f"{ms:8.1f}" for ms in times[:2]) + "     " + "".join(f"{ms:8.1f}" for ms in times[2:])
            line = f"{store.name:30}{name:>10}{lacking:8.3f}{quality[0]:9.3f}{quality[1]:8.3f}{told}{spent:12.1f}"
            print(f"{line} load {os.getloadavg()[0]:.1f}", flush=True)


def exact_scores(terms: QueryTerms, embedding_set: EmbeddingSet, principal: Principal) -> Mapping[int, float]:
    """Sum everything: the scores of all passages that the caller may see, of the best hundred."""
    import numpy as np

    from benchmarks.lexical.stores import permitted_to
    from knowledge.search.bm25 import all_scores
    from knowledge.search.database import one_snapshot
    from knowledge.search.weighing import visible_pieces, weigh_terms

    with one_snapshot():
        weighed = weigh_terms(terms, embedding_set, visible=permitted_to(principal, embedding_set).visible)
        scores = all_scores(weighed, visible_pieces(weighed))
    best = np.argsort(-scores.total, kind="stable")[:100]
    return dict(zip(scores.ordinals[best].tolist(), scores.total[best].tolist(), strict=True))


def _lacking(found: Numbers, exact: Mapping[int, float]) -> float:
    """Return which part of the first ten has a lower score than the tenth of the exact list."""
    wanted = min(TOP, len(exact))
    if not wanted:
        return 0.0
    least = list(exact.values())[wanted - 1] - 1e-9
    return 1 - sum(exact.get(number, 0.0) >= least for number in found[:TOP].tolist()) / wanted


def _quality(
    lists: Sequence[Numbers], questions: Sequence[Question], number_of: Mapping[str, int]
) -> tuple[float, float]:
    from benchmarks.retrieval.quality import evaluate

    quality = evaluate(
        [
            ([str(number) for number in found.tolist()], {str(number_of[name]) for name in question.gold})
            for found, question in zip(lists, questions, strict=True)
        ],
        k=TOP,
    )
    return quality.ndcg, quality.recall


def _asked(store: Store, terms: QueryTerms, principal: Principal) -> tuple[Numbers, float]:
    from knowledge.search.database import one_snapshot

    started = time.perf_counter()
    with one_snapshot():
        found = store.ask(terms, principal)
    return found, (time.perf_counter() - started) * 1000


def _asked_by_many(store: Store, terms: Sequence[QueryTerms], principal: Principal) -> list[float]:
    from django.db import connection

    with ThreadPoolExecutor(max_workers=CLIENTS) as pool:
        list(pool.map(lambda one: _asked(store, one, principal), terms[:CLIENTS]))  # connections
        times = [ms for _found, ms in pool.map(lambda one: _asked(store, one, principal), terms)]
        list(pool.map(lambda _n: (time.sleep(0.05), connection.close()), range(CLIENTS)))
    return times


def _percentiles(times: Sequence[float]) -> list[float]:
    import numpy as np

    return np.percentile(times, [50, 95]).tolist()


def measure_writing(sets: Sequence[QuestionSet], embedding_set: EmbeddingSet, chosen: list[str], keep: Path):
    """Delete documents of fifty passages and write others in their place, and print milliseconds for a passage."""
    import numpy as np

    from benchmarks.lexical.stores import NewDocument
    from benchmarks.retrieval.synthetic import CHUNKS_PER_DOCUMENT, TermSource
    from knowledge.index.postings import AnalysedChunk
    from knowledge.models import Chunk

    source = TermSource(sets, np.random.default_rng(9))
    owners = _owners()
    keys = list(Chunk.objects.order_by("pk").values_list("pk", flat=True))
    first = len(keys) // 2 // CHUNKS_PER_DOCUMENT * CHUNKS_PER_DOCUMENT
    documents = []
    for start in range(first, first + WRITTEN_DOCUMENTS * CHUNKS_PER_DOCUMENT, CHUNKS_PER_DOCUMENT):
        chunks = [
            AnalysedChunk(chunk_id=key, terms=source.draw(), fingerprint=key)
            for key in keys[start : start + CHUNKS_PER_DOCUMENT]
        ]
        version, collection, _chunk = owners[start + 1]
        documents.append(NewDocument(version_id=version, collection_id=collection, chunks=chunks))
    for store in _stores(embedding_set, chosen, keep, keys)[: len(STORES)]:
        steps: list[tuple[str, Callable[[NewDocument], None]]] = [("delete", store.delete), ("write", store.write)]
        for name, step in steps:
            times = []
            for document in documents:
                started = time.perf_counter()
                step(document)
                times.append((time.perf_counter() - started) * 1000 / CHUNKS_PER_DOCUMENT)
            started = time.perf_counter()
            store.settle()
            later = (time.perf_counter() - started) * 1000 / CHUNKS_PER_DOCUMENT / WRITTEN_DOCUMENTS
            p50, p95 = _percentiles(times)
            print(f"{store.name:30}{name:8} ms a passage: p50 {p50:.2f}, p95 {p95:.2f}, later {later:.2f}", flush=True)
        _print_rollback(store, documents[0])


class _RolledBackError(Exception):
    pass


def _print_rollback(store: Store, document: NewDocument) -> None:
    """Write a document in a transaction that fails, and print by which of its words it is found."""
    from django.db import transaction

    from hub.access.principals import local_operator
    from knowledge.index.analysis import QueryTerms

    def rewrite(word: str) -> None:
        store.delete(document)
        store.write(replace(document, chunks=[_with_word(document.chunks[0], word)]))

    rewrite("前からある語")
    try:
        with transaction.atomic():
            rewrite("取り消された語")
            raise _RolledBackError
    except _RolledBackError:
        pass
    found = [
        _asked(store, QueryTerms(words={word: 1.0}, bigrams={}), local_operator())[0].size
        for word in ("前からある語", "取り消された語")
    ]
    print(f"{store.name:30}after a rollback: {found[0]} of 1 passages found as before, {found[1]} of 0 as rolled back")


def _with_word(chunk: AnalysedChunk, word: str) -> AnalysedChunk:
    words = chunk.terms.words.copy()
    words[word] += 1
    return replace(chunk, terms=replace(chunk.terms, words=words))


def _stores(embedding_set: EmbeddingSet, chosen: Sequence[str], keep: Path, keys: Sequence[int]) -> list[Store]:
    """Make the chosen stores; while asking GIN has one for each number of candidates."""
    from benchmarks.lexical.stores import OwnPostings
    from benchmarks.lexical.term_arrays import TermArrays

    stores: list[Store] = []
    budgets = BUDGETS if not keys else BUDGETS[1:2]
    if "own" in chosen:
        stores.append(OwnPostings(embedding_set, keys))
    if "gin" in chosen:
        stores += [TermArrays(embedding_set, keys, budget) for budget in budgets]
    if "tantivy" in chosen:
        from benchmarks.lexical.tantivy_index import TantivyIndex

        stores.append(TantivyIndex(embedding_set, keep / "tantivy"))
        if not keys and "gin" in chosen:
            stores.append(TantivyIndex(embedding_set, keep / "tantivy", TermArrays(embedding_set, keys, 0)))
    return stores


def _passages(count: int, embedding_set: EmbeddingSet) -> list[int]:
    """Make the rows of passages in documents of several collections, unless they are there; gives their keys."""
    from django.db.models.functions import Mod

    from benchmarks.retrieval.synthetic import make_chunks
    from knowledge.models import Chunk, Collection, Document

    keys = list(Chunk.objects.order_by("pk").values_list("pk", flat=True))
    if keys:
        return keys
    keys = make_chunks(count, embedding_set, "本文")
    for number in range(COLLECTIONS):
        collection = Collection.objects.create(slug=f"c{number}", name=f"c{number}")
        Document.objects.annotate(rest=Mod("pk", COLLECTIONS)).filter(rest=number).update(collection=collection)
    return keys


def _owners() -> dict[int, tuple[int, int, int]]:
    """Return of each passage, by its number from 1: version, collection, key."""
    from knowledge.models import Chunk

    rows = Chunk.objects.order_by("pk").values_list("version_id", "version__document__collection_id", "pk")
    return dict(enumerate(rows.iterator(), 1))


def _callers() -> dict[str, Principal]:
    """Return one who sees everything, and a reader of every second collection."""
    from django.contrib.auth import get_user_model

    from hub.access.principals import Classification, Principal, Scope, local_operator
    from knowledge.models import Collection, CollectionGrant

    user, _made = get_user_model().objects.get_or_create(username="reader")
    for collection in Collection.objects.filter(slug__in=[f"c{number}" for number in range(0, COLLECTIONS, 2)]):
        CollectionGrant.objects.get_or_create(collection=collection, user=user)
    scopes = frozenset({Scope.READ, Scope.SEARCH})
    reader = Principal(name="reader", user_id=user.pk, scopes=scopes, ceiling=Classification.C2)
    return {"operator": local_operator(), "reader": reader}


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[name] = round(seconds.get(name, 0.0) + time.perf_counter() - started, 1)


if __name__ == "__main__":
    sys.exit(main())
