from __future__ import annotations

import pytest

from knowledge.graph.cypher.query import projection_backend
from knowledge.graph.masters import sync_masters
from tests.knowledge.graph.support import add, settle
from tests.knowledge.graph.texts import DESIGN, REQUIREMENTS, TESTS


@pytest.fixture(scope="module", autouse=True)
def process():
    """The process is this module's; each test's database is its own, so copies are never kept between tests."""
    yield
    projection_backend().copies.forget()


@pytest.fixture(autouse=True)
def fresh_copies():
    projection_backend().copies._kept.clear()


@pytest.fixture
def project(tmp_path):
    sync_masters()
    found = {
        "requirements": add(tmp_path, REQUIREMENTS, name="要件定義書.md", document_type="requirements"),
        "design": add(tmp_path, DESIGN, name="基本設計書.md", document_type="basic_design"),
        "tests": add(tmp_path, TESTS, name="テスト計画書.md", document_type="test_plan"),
    }
    settle()
    return found
