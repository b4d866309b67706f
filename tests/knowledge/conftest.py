from __future__ import annotations

from pathlib import Path

import pytest

from hub.access.principals import local_operator
from knowledge.models import Document, Source
from tests.factories import upload_text, work_through
from tests.knowledge.documents.contract import TEXT
from tests.knowledge.documents.source_support import watch


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "共有"
    (root / "規程").mkdir(parents=True)
    (root / "規程" / "文書管理.md").write_text("# 文書管理規程\n\n文書は 5 年間保存する。\n", encoding="utf-8")
    (root / "用語.md").write_text("# 用語\n\nサーバーとは計算機をいう。\n", encoding="utf-8")
    (root / "議事録.txt").write_text("出席者は田中と鈴木である。\n", encoding="utf-8")
    return root


@pytest.fixture
def source(folder) -> Source:
    return watch(folder)


@pytest.fixture
def document(tmp_path) -> Document:
    return work_through(upload_text(local_operator(), tmp_path, TEXT, name="契約書.md").document)
