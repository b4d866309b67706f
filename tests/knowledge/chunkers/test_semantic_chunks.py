"""The semantic strategy with the model that the hub ships."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.models import Chunk, DocumentStatus
from knowledge.types.chunks import ChunkOptions, ChunkStrategy
from tests.factories import upload_text, work_through

pytestmark = pytest.mark.django_db

RESERVATIONS = (
    "会議室の予約は窓口とウェブサイトで受け付ける。予約の変更は利用日の前日まで認める。"
    "予約を取り消した利用者には手数料を返金する。予約が重なった場合は抽選とする。予約の結果は電子メールで知らせる。"
)
BACKUPS = (
    "データベースのバックアップは毎日深夜に取得する。バックアップの媒体は遠隔地の倉庫に保管する。"
    "障害時はバックアップから四時間以内に復元する。復元の訓練は年に二回行う。古いバックアップは一年後に廃棄する。"
)


def test_a_section_is_cut_where_its_subject_changes(tmp_path):
    options = ChunkOptions(strategy=ChunkStrategy.SEMANTIC, size=200, overlap=20)
    text = f"# 運用\n\n{RESERVATIONS}{BACKUPS}\n"
    document = work_through(upload_text(local_operator(), tmp_path, text, chunk_options=options).document)
    assert document.latest_version.status == DocumentStatus.READY
    contents = list(Chunk.objects.order_by("index").values_list("content", flat=True))
    assert contents == [f"# 運用\n\n{RESERVATIONS}", BACKUPS]
