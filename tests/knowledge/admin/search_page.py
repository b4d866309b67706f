"""A small library to search from the admin, and how its page is asked."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from tests.knowledge.search.shelf import Library, Passage

QUESTION = "画面の応答時間"
DESIGN = (
    Passage(
        text="### 2.1 応答時間\n\n画面の応答時間は通常時3秒以内とする。帳票は10秒以内とする。",
        section_path=("受発注システム 基本設計書", "2. 性能要件", "2.1 応答時間"),
    ),
    Passage(
        text="## 3. セキュリティ\n\n利用者の認証には多要素認証を用いる。",
        section_path=("受発注システム 基本設計書", "3. セキュリティ"),
    ),
)
OPERATION = "## 1. 監視\n\n応答時間を5分おきに監視し、3秒を超えたら運用担当へ知らせる。FR-001 による。"


def fill(library: Library) -> None:
    """Put a design and an operation manual in."""
    library.add("基本設計書.md", DESIGN, document_type_id="basic_design")
    library.add("運用設計書.md", [OPERATION], document_type_id="detailed_design", metadata={"年度": 7, "局": "総務"})


def ask(client: Client, **asked: Any) -> dict[str, Any]:
    """Search on the page and give what it shows."""
    response = client.get(reverse("admin:hub_search"), {"q": QUESTION, **asked})
    assert response.status_code == 200
    context: dict[str, Any] = response.context_data
    return context


def best(client: Client) -> Any:
    """The first hit."""
    return ask(client)["shown"].hits[0].hit
