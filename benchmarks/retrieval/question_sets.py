"""Question sets, and loading one into the database as ingestion would: a paragraph is one chunk."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from knowledge.index.active_embedder import active_embedding_set, get_embedder
from knowledge.index.morphemes import is_english
from knowledge.index.postings import write_postings
from knowledge.index.vectors import write_vectors
from knowledge.models import Blob, Chunk, Collection, Document, DocumentType, DocumentVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A passage; ``section_path`` and ``context_prefix`` are those of a passage of a document that was parsed."""

    id: str
    title: str
    text: str
    section_path: tuple[str, ...] = ()
    context_prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``answers`` are the texts that answer it in its gold passages; none where the set does not name them."""

    id: str
    text: str
    gold: frozenset[str]
    answers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    name: str
    corpus: list[Paragraph]
    questions: list[Question]

    @property
    def is_english(self) -> bool:
        """Whether most of its first questions are in English."""
        first = self.questions[:20]
        return 2 * sum(is_english(one.text) for one in first) > len(first)

    def sample(self, count: int) -> list[Question]:
        """Take questions at random, always the same ones."""
        return random.Random(0).sample(self.questions, min(count, len(self.questions)))


def passage_id(source: str, number: int) -> str:
    """Name a passage of a file or an article, whatever that is called, in the 40 characters that an id may have."""
    return f"{hashlib.sha256(source.encode()).hexdigest()[:24]}-{number}"


def read_sets(folder: Path) -> list[QuestionSet]:
    """Read every set (corpus.jsonl, queries.jsonl, qrels.tsv) in the folders below."""
    return [_read_set(path.parent) for path in sorted(folder.glob("*/corpus.jsonl"))]


def _read_set(folder: Path) -> QuestionSet:
    gold: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, corpus_id, score = line.split("\t")
        if int(score) > 0:
            gold.setdefault(query_id, set()).add(corpus_id)
    return QuestionSet(
        name=folder.name,
        corpus=[
            Paragraph(id=row["id"], title=row["title"], text=row["text"]) for row in _rows(folder / "corpus.jsonl")
        ],
        questions=[
            Question(id=row["id"], text=row["text"], gold=frozenset(gold[row["id"]]))
            for row in _rows(folder / "queries.jsonl")
        ],
    )


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load_set(question_set: QuestionSet, cache: Path, *, part_of: QuestionSet | None = None) -> None:
    """Replace what is in the database by one set, indexed and analysed; the vectors of a part are the whole set's."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE knowledge_document, knowledge_lexicalterm, knowledge_lexicalsegment, "
            "knowledge_lexicalstatistics CASCADE"
        )
    collection, _made = Collection.objects.get_or_create(slug="benchmark", defaults={"name": "benchmark"})
    DocumentType.objects.get_or_create(code="other", defaults={"name_ja": "その他", "name_en": "Other"})
    whole = part_of or question_set
    vectors = dict(zip([p.id for p in whole.corpus], _vectors(whole, cache), strict=True))
    ordered = sorted(question_set.corpus, key=lambda paragraph: paragraph.title)
    for title, paragraphs in groupby(ordered, key=lambda paragraph: paragraph.title):
        _add_document(collection, title, list(paragraphs), vectors)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _add_document(
    collection: Collection, title: str, paragraphs: list[Paragraph], vectors: dict[str, NDArray[np.float32]]
) -> None:
    embedding_set = active_embedding_set()
    document = Document.objects.create(collection=collection, path=title, title=title)
    blob, _made = Blob.objects.get_or_create(sha256="0" * 64, defaults={"size_bytes": 0})
    version = DocumentVersion.objects.create(
        document=document, number=1, blob=blob, filename=title, policy=embedding_set.policy
    )
    chunks = Chunk.objects.bulk_create(
        Chunk(
            public_id=paragraph.id,
            version=version,
            policy=embedding_set.policy,
            index=index,
            content=paragraph.text,
            section_path=list(paragraph.section_path),
            context_prefix=paragraph.context_prefix,
            start_offset=0,
            end_offset=len(paragraph.text),
            token_count=0,
        )
        for index, paragraph in enumerate(paragraphs)
    )
    write_vectors(embedding_set, [c.pk for c in chunks], np.array([vectors[c.public_id] for c in chunks]))
    write_postings(chunks, title=title)
    Document.objects.filter(pk=document.pk).update(current_version=version)


def _vectors(question_set: QuestionSet, cache: Path) -> NDArray[np.float32]:
    texts = [f"{one.title}\n{one.context_prefix}{one.text}" for one in question_set.corpus]
    fingerprint = active_embedding_set().fingerprint
    key = hashlib.sha256("\0".join([fingerprint, *texts]).encode()).hexdigest()[:24]
    path = cache / f"{key}.npy"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        embedder = get_embedder()
        # A paragraph beyond the model's window stands with its beginning; ingestion would have made two chunks.
        np.save(path, np.concatenate([embedder.embed_passages([_fitting(text)]) for text in texts]))
    vectors: NDArray[np.float32] = np.load(path)
    return vectors


def _fitting(text: str) -> str:
    embedder = get_embedder()
    while embedder.count_tokens(text) > embedder.max_tokens:
        text = text[: int(len(text) * 0.95)]
    return text
