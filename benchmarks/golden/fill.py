"""A hub with real documents in it: taken in through REST, with the queue's work done in this process."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models.signals import pre_save

from benchmarks.golden.rest import Caller
from benchmarks.golden.stable import Stable
from hub.celery import app
from hub.core.valkey import ensure_queue
from knowledge.models import Collection, CollectionGrant, Document, DocumentVersion

DESIGNS, REST = "designs", "default"
# By what names say; only types that a shipped check list is for.
_TYPES = ((r"要件定義", "requirements"), (r"テスト", "test_plan"), (r"機能設計|DB設計|テーブル定義", "detailed_design"))
_OTHERWISE = "basic_design"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A document in the hub; ``path`` is its name in the record."""

    path: str
    document_id: str
    collection: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A hub with documents, two people who call it, and what names its ids; ``reader`` sees the designs alone."""

    admin: Caller
    reader: Caller
    documents: list[Taken]
    names: Stable

    def called(self, part: str) -> Taken | None:
        """The first document whose path has ``part``."""
        return next((one for one in self.documents if part in one.path), None)


def work_here() -> None:
    """Do what is queued at once, in the thread that queues it; what fails there fails here."""
    app.conf.update(task_always_eager=True, task_eager_propagates=True)
    ensure_queue()


def same_ids() -> None:
    """Derive the ids of documents and versions from their places, for as long as this process runs.

    Ids are random otherwise, and decide where nothing else does: of two documents with one title, the graph takes the
    one with the lower id as what a text names (knowledge.graph.reading).
    """
    pre_save.connect(_derive_id, sender=Document)
    pre_save.connect(_derive_id, sender=DocumentVersion)


def _derive_id(instance: Document | DocumentVersion, **_signal: object) -> None:
    if not instance._state.adding:
        return
    if isinstance(instance, Document):
        prefix, place = "doc", f"{instance.collection.slug}/{instance.path}"
    else:
        prefix, place = "ver", f"{instance.document.public_id}/{instance.number}"
    instance.public_id = f"{prefix}_{hashlib.sha256(place.encode()).hexdigest()[:20]}"


def fill(data: Path, names: Stable, *, most: int | None) -> Filled:
    """Take in the documents of ``data``/review and ``data``/documents, ``most`` of each, and bring up the graph."""
    Collection.objects.get_or_create(slug=DESIGNS, defaults={"name": "設計書"})
    admin, reader = Caller("golden-admin", is_superuser=True), Caller("golden-reader")
    CollectionGrant.objects.create(collection=Collection.objects.get(slug=DESIGNS), user=reader.user, role="reviewer")
    folders = {DESIGNS: data / "review" / "documents", REST: data / "documents"}
    taken = [
        _taken_in(admin, path, collection) for collection, folder in folders.items() for path in _files(folder)[:most]
    ]
    for one in taken:
        names.learn(one.document_id, f"doc {one.path}")
    app.tasks["knowledge.sync_graph_masters"].apply()
    app.tasks["knowledge.sweep"].apply()
    for one in taken:
        for chunk in chunks_of(admin, one):
            names.learn(chunk["chunk_id"], f"chunk {one.path} {chunk['chunk_index']}")
    return Filled(admin=admin, reader=reader, documents=taken, names=names)


def chunks_of(caller: Caller, document: Taken) -> Iterator[dict[str, Any]]:
    """The passages of a document, in order."""
    return caller.rows(f"/documents/{document.document_id}/chunks", limit=200)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix not in {".jsonl", ""})


def _taken_in(admin: Caller, path: Path, collection: str) -> Taken:
    kind = next((code for pattern, code in _TYPES if re.search(pattern, path.name)), _OTHERWISE)
    with path.open("rb") as file:
        answer = admin.send_file("/documents", file=file, collection=collection, document_type=kind)
    return Taken(path=f"{collection}/{path.name}", document_id=answer["body"]["document_id"], collection=collection)
