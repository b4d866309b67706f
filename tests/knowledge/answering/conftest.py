"""A small library to ask, and a language model that says what a test makes it say."""

from __future__ import annotations

import json

import pytest

from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.knowledge.search.shelf import Library

PASSAGES = (
    "本システムは利用者の認証に多要素認証を用いる。認証に5回続けて失敗した利用者は30分間ログインできない。",
    "応答時間は通常時3秒以内とする。繁忙期でも5秒を超えないこと。\n\n- 検索画面は2秒以内に表示する。",
    "バックアップは毎日深夜2時に取得し、30日間保管する。復旧目標時間は4時間とする。",
)
QUESTION = "応答時間は何秒以内か"


@pytest.fixture
def library(db) -> Library:
    made = Library()
    made.add("基本設計書.md", PASSAGES, title="図書館システム基本設計書")
    return made


def says(*sentences: tuple[str, list[str]]) -> str:
    """What a model answers: texts with the ids of the passages that they cite."""
    listed = [{"text": text, "citations": citations} for text, citations in sentences]
    return json.dumps({"sentences": listed}, ensure_ascii=False)
