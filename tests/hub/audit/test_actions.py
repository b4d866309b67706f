"""Every action that the program writes to the audit trail has a name that people read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hub.audit.actions import ACTION_NAMES, action_name

ROOT = Path(__file__).resolve().parents[3]


def written() -> Iterator[str]:
    """The actions that calls of ``record_event`` and ``write_line`` name as they are."""
    for package in ("hub", "knowledge", "review", "mcp_bridge"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and len(node.args) > 1:
                    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    action = node.args[1]
                    if called in {"record_event", "write_line"} and isinstance(action, ast.Constant):
                        yield str(action.value)


def test_every_action_has_a_name() -> None:
    actions = set(written())
    assert len(actions) > 50
    assert actions - ACTION_NAMES.keys() == set()


def test_an_action_of_an_earlier_version_is_shown_by_its_code() -> None:
    assert action_name("DOCUMENT_READ") == "文書を閲覧"
    assert action_name("ANCIENT") == "ANCIENT"
