"""A small library to ask, and a language model that says what a test makes it say."""

from __future__ import annotations

import json
from typing import Any

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


def says(*sentences: tuple[str, str, str]) -> str:
    """What a model answers: texts, each with the id of a passage and the words of it that it quotes."""
    listed = [{"text": text, "citations": [{"passage": label, "quote": quote}]} for text, label, quote in sentences]
    return json.dumps({"sentences": listed}, ensure_ascii=False)


def label_before(asked: dict[str, Any], words: str) -> str:
    """The id of the first passage of a prompt that has some words."""
    shown = str(asked["messages"][-1]["content"])
    place = shown.rindex('id="', 0, shown.index(words)) + len('id="')
    return shown[place : shown.index('"', place)]
