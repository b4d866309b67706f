"""The table of findings in docs/security.md names tests that are there."""

from __future__ import annotations

import re

from tests.conftest import REPOSITORY

_NAMED = re.compile(r"(?P<path>tests/[\w/]+\.py)?`?::(?P<name>test_\w+)|(?P<file>tests/[\w/]+\.py)")


def test_every_test_that_the_table_names_exists():
    missing = []
    path = ""
    for match in _NAMED.finditer((REPOSITORY / "docs" / "security.md").read_text(encoding="utf-8")):
        path = match["path"] or match["file"] or path
        file = REPOSITORY / path
        name = match["name"]
        if not file.is_file() or (name and f"def {name}(" not in file.read_text(encoding="utf-8")):
            missing.append(f"{path}::{name or ''}")
    assert missing == []
