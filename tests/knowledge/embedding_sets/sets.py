"""Two documents, and the steps of an embedding set's life."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hub.access.principals import local_operator
from knowledge.consistency import check_consistency
from knowledge.embedding_sets import builds, sets, switching
from knowledge.embedding_sets.sets import SetDraft
from knowledge.index.active_embedder import chunks_of
from knowledge.models import Chunk, ChunkVector, Document, EmbeddingSet
from knowledge.search.hybrid import search
from knowledge.types.chunks import ChunkOptions
from knowledge.types.search import SearchQuery
from tests.factories import upload_text, work_through

ME = local_operator()
SMALL = ChunkOptions(size=60, overlap=0)
DOCUMENTS = {
    "性能.md": "# 性能設計\n\n## 応答時間\n\n画面の応答時間は通常時3秒以内とする。帳票の出力は10秒以内とする。"
    "夜間の一括処理は6時までに終える。\n\n## 移行\n\n旧システムの台帳を三回に分けて移す。移行のたびに件数と合計を"
    "照らし合わせる。食い違いがあれば移行を取りやめる。移行の責任者は情報システム部長とする。",
    "認証.md": "# 認証設計\n\n## 利用者の認証\n\n利用者の認証には多要素認証を用いる。合言葉は12文字以上とする。"
    "五回続けて誤った利用者は締め出す。\n\n## 記録\n\n操作の記録は一年間保存する。記録は改ざんを検知できること。",
}
QUESTION = "認証に失敗した利用者はどうなるか"


def add(folder: Path, name: str, text: str, **more: Any) -> Document:
    document = work_through(upload_text(ME, folder, text, name=name, **more).document)
    assert document.latest_version.status == "ready"
    return document


def add_corpus(folder: Path) -> None:
    for name, text in DOCUMENTS.items():
        add(folder, name, text)


def make(name: str, backend: str = "bundled-fp32", **more: Any) -> EmbeddingSet:
    return sets.create_set(principal=ME, draft=SetDraft(name=name, backend=backend, **more))


def build(name: str) -> EmbeddingSet:
    made = sets.start_build(principal=ME, name=name)
    while builds.build_slice(made.pk):
        pass
    made.refresh_from_db()
    return made


def switch(name: str) -> EmbeddingSet:
    return switching.switch_to(principal=ME, name=name)


def vectors_of(embedding_set: EmbeddingSet) -> set[str]:
    return set(ChunkVector.objects.filter(embedding_set=embedding_set).values_list("chunk__public_id", flat=True))


def needed_by(embedding_set: EmbeddingSet) -> set[str]:
    return set(Chunk.objects.filter(chunks_of(embedding_set)).values_list("public_id", flat=True))


def inconsistencies() -> set[str]:
    """What doctor would say; files of earlier tests, whose rows were flushed, aside."""
    return {found.code for found in check_consistency() if not found.is_note} - {"blobs_without_rows"}


def answer(embedding_set: EmbeddingSet | None = None, **more: Any) -> tuple:
    """All that a search says, without its timings."""
    result = search(ME, SearchQuery(text=QUESTION, **more), embedding_set=embedding_set)
    hits = tuple((hit.chunk_id, hit.score, hit.content, hit.is_context) for hit in result.hits)
    return hits, tuple(notice.code for notice in result.notices), result.total_found
