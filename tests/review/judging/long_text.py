"""A document too long for one request."""

from __future__ import annotations

CHAPTERS = 8
RECOVERY = "復旧は運用担当が30分以内に行う。"


def long_text(*, edited: int = 0, planted: str = "") -> str:
    """A design of eight chapters of 500 characters each; the recovery procedure is in the last but one."""
    chapters = []
    for n in range(1, CHAPTERS + 1):
        lines = [f"業務{n}の手続{k}では、利用者の情報を登録し、変更し、削除し、履歴に残す。" for k in range(1, 13)]
        own = [f"業務{n}の締切を{edited}日とする。"] if n == edited else []
        own += [RECOVERY] if n == CHAPTERS - 1 else []
        own += [planted] if planted and n == 2 else []
        chapters.append("\n\n".join([f"## {n} 業務{n}", *lines, *own]))
    return "# 窓口システム基本設計書\n\n" + "\n\n".join(chapters) + "\n"
