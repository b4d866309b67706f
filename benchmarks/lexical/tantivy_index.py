"""tantivy beside PostgreSQL: it finds and ranks, PostgreSQL says what may be shown.

Its BM25 has constants of its own (k1 1.2, b 0.75) that can't be set. Boosts give each term the weight that it has in
the product.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tantivy

from benchmarks.lexical.corpus import Batch, Corpus
from benchmarks.lexical.stores import NewDocument, Numbers, permitted_to
from benchmarks.lexical.term_arrays import TermArrays
from hub.access.principals import Principal, Scope
from knowledge.index.analysis import QueryTerms
from knowledge.models import Collection, EmbeddingSet, LexicalField
from knowledge.search.candidates import read_candidates
from knowledge.search.recall import LEG_DEPTH
from knowledge.search.weighing import FieldTerm, KnownField, KnownTerm, weigh_field

FIELDS: Mapping[int, str] = {LexicalField.WORD.value: "words", LexicalField.BIGRAM.value: "bigrams"}
HEAP_BYTES = 512 * 1024**2


class TantivyIndex:
    """An index in a folder. With ``rows`` what it finds is scored again, exactly, from PostgreSQL's rows."""

    def __init__(self, embedding_set: EmbeddingSet, folder: Path, rows: TermArrays | None = None) -> None:
        self.name = "tantivy, scored again" if rows else "tantivy"
        self._set, self._folder, self._rows = embedding_set, folder, rows
        builder = tantivy.SchemaBuilder()
        for name in FIELDS.values():
            builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
        for name in ("number", "chunk", "version", "collection"):
            builder.add_unsigned_field(name, indexed=True, fast=True)
        folder.mkdir(parents=True, exist_ok=True)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, path=str(folder))
        self._writer: tantivy.IndexWriter | None = None

    def add(self, batch: Batch, corpus: Corpus) -> None:
        of_passage = {one.field: _texts(one.term_ids, one.places, one.tfs, batch.size, corpus) for one in batch.fields}
        for place in range(batch.size):
            number = batch.first + place
            version, collection, chunk = corpus.owner_of[number]
            self._add(
                number, chunk, version, collection, {name: of_passage[field][place] for field, name in FIELDS.items()}
            )

    def _add(self, number: int, chunk: int, version: int, collection: int, texts: Mapping[str, str]) -> None:
        owner = {"number": number, "chunk": chunk, "version": version, "collection": collection}
        # With the schema: a document that guesses numbers to be signed ends the writer's thread.
        self._opened().add_document(tantivy.Document.from_dict({**owner, **texts}, self._schema))

    def finish(self, corpus: Corpus) -> None:
        self._opened().commit()
        self._opened().wait_merging_threads()
        self._writer = None
        self._index.reload()

    def ask(self, terms: QueryTerms, principal: Principal) -> Numbers:
        searcher = self._index.searcher()
        weighed = _weighed(terms, searcher)
        if not weighed:
            return np.zeros(0, np.int64)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, self._term(one, searcher)) for one in weighed])
        if not principal.sees_everything:
            readable = list(Collection.objects.visible_to(principal, Scope.SEARCH).values_list("pk", flat=True))
            within = tantivy.Query.term_set_query(self._schema, "collection", readable)
            must = tantivy.Occur.Must
            query = tantivy.Query.boolean_query([(must, query), (must, tantivy.Query.const_score_query(within, 0.0))])
        hits = searcher.search(query, limit=LEG_DEPTH, count=False).hits
        found = np.array(searcher.fast_field_values("number", [address for _score, address in hits]), np.int64)
        if self._rows:
            given = found.tolist()
            return self._rows.best(self._rows.weighed(terms), "number = ANY(%s::integer[])", given, principal)
        permitted = read_candidates(found, permitted_to(principal, self._set), self._set, near=None)
        return found[np.isin(found, permitted.ordinals)]

    def _term(self, term: FieldTerm, searcher: tantivy.Searcher) -> tantivy.Query:
        query = tantivy.Query.term_query(self._schema, FIELDS[term.field], term.text, "freq")
        rarity = math.log(1 + (searcher.num_docs - term.chunks + 0.5) / (term.chunks + 0.5))
        return tantivy.Query.boost_query(query, term.share / rarity)

    def delete(self, document: NewDocument) -> None:
        self._opened().delete_documents_by_term("version", document.version_id)
        self._commit()

    def write(self, document: NewDocument) -> None:
        for one in document.chunks:
            texts = {
                "words": " ".join(one.terms.words.elements()),
                "bigrams": " ".join(one.terms.bigrams.elements()),
            }
            self._add(one.chunk_id, one.chunk_id, document.version_id, document.collection_id, texts)
        self._commit()

    def _commit(self) -> None:
        self._opened().commit()
        self._index.reload()

    def settle(self) -> None:
        """Wait for the merges that writing began."""
        self._opened().wait_merging_threads()
        self._writer = None

    def _opened(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1)
        return self._writer

    def sizes_mib(self) -> dict[str, float]:
        return {"folder": sum(path.stat().st_size for path in self._folder.iterdir()) / 1024**2}


def _texts(term_ids: Numbers, places: Numbers, tfs: Numbers, size: int, corpus: Corpus) -> list[str]:
    """Write each passage's terms, as often as it has them."""
    order = np.argsort(places, kind="stable")
    ids = np.repeat(term_ids[order], tfs[order]).tolist()
    ends = np.cumsum(np.bincount(places, weights=tfs, minlength=size).astype(int)).tolist()
    texts, start = [], 0
    for end in ends:
        texts.append(" ".join(map(corpus.texts.__getitem__, ids[start:end])))
        start = end
    return texts


def _weighed(terms: QueryTerms, searcher: tantivy.Searcher) -> list[FieldTerm]:
    """Weigh a question's terms as the product does, by how many passages of the index have them."""
    weighed: list[FieldTerm] = []
    for field, weights in ((LexicalField.WORD.value, terms.words), (LexicalField.BIGRAM.value, terms.bigrams)):
        counts = {text: searcher.doc_freq(FIELDS[field], text) for text in weights}
        known = [KnownTerm(term_id=0, text=text, chunks=chunks, pieces=()) for text, chunks in counts.items() if chunks]
        if known:
            of_field = KnownField(terms=known, chunks=searcher.num_docs, total_length=searcher.num_docs)
            weighed += weigh_field(field, weights, (), of_field, terms.codes)
    return weighed
