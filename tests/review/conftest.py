"""One reviewed document for a whole module of tests: made once, in a transaction that is taken back at its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from hub.access.principals import local_operator
from review.models import Review
from review.runs import execution
from review.runs.reviews import get_review, start_review
from tests.factories import upload_text, work_through

DESIGN = """# 図書予約システム 基本設計書

- 版数: 1.2

## 変更履歴

| 版数 | 日付 | 内容 |
|---|---|---|
| 1.1 | 2026-09-14 | 通知方式の変更 |

## 1. 目的

本書は、予約システムの基本設計を定める。

## 3. 機能

| 要件ID | 機能 |
|---|---|
| FR-001 | <script>alert("検索")</script> |

検索（FR-001）は <b>FR-006</b> の設定に従う。必要に応じて適切に対応する。
"""


def review_text(folder: Path, text: str, **upload: str) -> Review:
    """Take a basic design in, review it, and give the review as the services find it."""
    operator = local_operator()
    document = work_through(upload_text(operator, folder, text, document_type="basic_design", **upload).document)
    started = start_review(principal=operator, document_id=document.public_id)
    execution.execute(started.pk)
    return get_review(operator, started.public_id)


@pytest.fixture(scope="module")
def reviewed_once(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The id of a review of DESIGN; each test's changes are taken back after it."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield review_text(tmp_path_factory.mktemp("design"), DESIGN).public_id
        transaction.set_rollback(True)


@pytest.fixture
def review(reviewed_once: str, db: None) -> Review:
    return get_review(local_operator(), reviewed_once)
