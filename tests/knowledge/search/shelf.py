"""Builds small libraries of passages, indexed as ingestion does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from hub.access.principals import Classification, Principal, Role, Scope
from knowledge.index.active_embedder import active_embedding_set, get_embedder
from knowledge.index.postings import write_postings
from knowledge.index.vectors import write_vectors
from knowledge.models import (
    Blob,
    Chunk,
    Collection,
    CollectionGrant,
    Document,
    DocumentType,
    DocumentVersion,
    VersionContent,
)


@dataclass(frozen=True, kw_only=True)
class Passage:
    text: str
    section_path: tuple[str, ...] = ()
    language: str | None = "ja"
    overlap: int = 0


@dataclass(kw_only=True)
class Library:
    """One collection and what was put into it."""

    slug: str = "design"
    made: dict[str, Document] = field(default_factory=dict)

    @property
    def collection(self) -> Collection:
        return Collection.objects.get_or_create(slug=self.slug, defaults={"name": self.slug})[0]

    def add(self, path: str, passages: Sequence[Passage | str], **fields: Any) -> list[Chunk]:
        """Make a document with one version that is searchable; gives its chunks in order."""
        DocumentType.objects.get_or_create(code="other", defaults={"name_ja": "その他", "name_en": "Other"})
        document = Document.objects.create(
            collection=self.collection, path=path, title=fields.pop("title", path), **fields
        )
        self.made[path] = document
        return self.add_version(document, passages)

    def add_version(self, document: Document, passages: Sequence[Passage | str]) -> list[Chunk]:
        version = self.make_version(document, passages)
        chunks = list(version.chunks.order_by("index"))
        index_chunks(chunks, title=document.title, path=document.path)
        document.current_version = document.latest_version = version
        document.save()
        return chunks

    def make_version(self, document: Document, passages: Sequence[Passage | str]) -> DocumentVersion:
        blob, _made = Blob.objects.get_or_create(sha256="0" * 64, defaults={"size_bytes": 1})
        version = DocumentVersion.objects.create(
            document=document,
            number=document.versions.count() + 1,
            blob=blob,
            filename=document.path,
            policy=active_embedding_set().policy,
        )
        markdown = ""
        for index, given in enumerate(passages):
            passage = Passage(text=given) if isinstance(given, str) else given
            start = len(markdown) - passage.overlap
            markdown += passage.text[passage.overlap :]
            Chunk.objects.create(
                public_id=f"chk_{version.pk}_{index}",
                version=version,
                policy=version.policy,
                index=index,
                content=passage.text,
                section_path=list(passage.section_path),
                start_offset=start,
                end_offset=len(markdown),
                token_count=len(passage.text),
                language=passage.language,
            )
        VersionContent.objects.create(version=version, markdown=markdown)
        return version


def index_chunks(chunks: Sequence[Chunk], *, title: str, path: str = "") -> None:
    texts = ["\n".join([title, *chunk.section_path, chunk.content]) for chunk in chunks]
    write_vectors(active_embedding_set(), [chunk.pk for chunk in chunks], get_embedder().embed_passages(texts))
    write_postings(chunks, title=title, path=path)


def person(
    name: str,
    *,
    granted: Collection | None = None,
    role: str = Role.READER,
    scopes: frozenset[Scope] = frozenset({Scope.READ, Scope.SEARCH}),
    ceiling: Classification = Classification.C2,
) -> Principal:
    user = User.objects.create_user(name)
    if granted:
        CollectionGrant.objects.create(collection=granted, user=user, role=role)
    return Principal(name=name, user_id=user.pk, scopes=scopes, ceiling=ceiling)
