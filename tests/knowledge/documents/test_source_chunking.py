"""Documents of a watched source are cut as the source says, unless a person said otherwise."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.documents import sources
from knowledge.documents.reading import count_documents
from knowledge.documents.reindexing import reindex_document
from knowledge.models import Document, DocumentVersion
from knowledge.types.chunks import ChunkOptions
from tests.knowledge.documents.source_support import run, watch, work_off

pytestmark = pytest.mark.django_db

SMALL = ChunkOptions(size=120, overlap=10)
LARGE = ChunkOptions(size=400, overlap=40)


def test_a_changed_chunk_policy_cuts_again_and_search_keeps_the_old_passages_until_then(folder):
    source = watch(folder, chunk_options=SMALL)
    run(source)
    work_off()
    sources.update_source(principal=local_operator(), name=source.name, chunk_options=LARGE)
    assert run(source) == (0, 3, 0, 0, 0)
    assert count_documents(local_operator())[0] == 3
    document = Document.objects.get(path="用語.md")
    assert (document.latest_version.number, document.current_version.number) == (2, 1)
    assert document.latest_version.policy.size == 400
    assert document.latest_version.blob_id == document.current_version.blob_id
    assert run(source) == (0, 0, 3, 0, 0)


def test_what_was_never_read_is_cut_otherwise_without_a_next_version(folder):
    source = watch(folder, chunk_options=SMALL)
    run(source)
    sources.update_source(principal=local_operator(), name=source.name, chunk_options=LARGE)
    assert run(source) == (0, 3, 0, 0, 0)
    latest = Document.objects.get(path="用語.md").latest_version
    assert (latest.number, latest.policy.size) == (1, 400)


def test_a_source_that_goes_back_to_the_default_chunking_is_cut_by_it(folder):
    source = watch(folder, chunk_options=SMALL)
    run(source)
    work_off()
    sources.update_source(principal=local_operator(), name=source.name, chunk_options=None)
    assert run(source) == (0, 3, 0, 0, 0)
    assert not DocumentVersion.objects.get(document__path="用語.md", number=2).has_own_policy
    assert run(source) == (0, 0, 3, 0, 0)


def test_a_document_whose_chunking_a_person_chose_keeps_it(folder):
    source = watch(folder, chunk_options=SMALL)
    run(source)
    chosen = Document.objects.get(path="用語.md")
    reindex_document(
        principal=local_operator(), document_id=chosen.public_id, chunk_options=ChunkOptions(size=300, overlap=0)
    )
    sources.update_source(principal=local_operator(), name=source.name, chunk_options=LARGE)
    assert run(source) == (0, 2, 1, 0, 0)
    (folder / "用語.md").write_text("# 用語\n\n改めた。\n", encoding="utf-8")
    assert run(source) == (0, 1, 2, 0, 0)
    chosen.refresh_from_db()
    assert chosen.latest_version.policy.size == 300
