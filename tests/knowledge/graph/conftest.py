from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.graph.masters import sync_masters
from knowledge.models import Document
from tests.knowledge.graph.support import add, settle
from tests.knowledge.graph.texts import DESIGN, REQUIREMENTS, TESTS


@pytest.fixture
def project(db: None, tmp_path: Path) -> tuple[Document, Document, Document]:
    """Requirements, design and test plan of one project, with their graph and the masters'."""
    sync_masters()
    documents = (
        add(tmp_path, REQUIREMENTS, name="要件定義書.md", document_type="requirements"),
        add(tmp_path, DESIGN, name="基本設計書.md", document_type="basic_design"),
        add(tmp_path, TESTS, name="テスト計画書.md", document_type="test_plan"),
    )
    settle()
    return documents
