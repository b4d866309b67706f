"""Every action that the program writes to the audit trail, and every kind of thing that it is about, has a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.apps import apps
from django.contrib import admin

from hub.access.versions import Version
from hub.audit.actions import ACTION_NAMES, KIND_NAMES, action_name
from knowledge.admin.graph import GraphTypeAdmin

ROOT = Path(__file__).resolve().parents[3]


@cache
def written() -> list[ast.Call]:
    """The calls that write to the audit trail."""
    return list(_written())


def _written() -> Iterator[ast.Call]:
    for package in ("hub", "knowledge", "review", "mcp_bridge"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and len(node.args) > 1:
                    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    if called in {"record_event", "write_line"}:
                        yield node


def beginning(node: ast.expr) -> str:
    """The text that an argument begins with, "" where that is no constant."""
    if isinstance(node, ast.Subscript):
        return beginning(node.value)
    first = node.values[0] if isinstance(node, ast.JoinedStr) else node
    return str(first.value) if isinstance(first, ast.Constant) else ""


def test_every_action_has_a_name() -> None:
    actions = {str(call.args[1].value) for call in written() if isinstance(call.args[1], ast.Constant)}
    assert len(actions) > 50
    assert actions - ACTION_NAMES.keys() == set()


def test_every_kind_of_thing_that_a_line_is_about_has_a_name() -> None:
    resources = {beginning(call.args[2]) for call in written() if len(call.args) > 2}
    kinds = {kind for kind, colon, _name in (one.partition(":") for one in resources) if colon}
    assert len(kinds) > 15
    versions = {one.AUDITED_AS for one in apps.get_models() if issubclass(one, Version)}
    assert len(versions) > 4
    graph_types = {one.opts.model_name for one in admin.site._registry.values() if isinstance(one, GraphTypeAdmin)}
    assert (kinds | versions | graph_types) - KIND_NAMES.keys() == set()


def test_an_action_of_an_earlier_version_is_shown_by_its_code() -> None:
    assert action_name("DOCUMENT_READ") == "文書を閲覧"
    assert action_name("ANCIENT") == "ANCIENT"
