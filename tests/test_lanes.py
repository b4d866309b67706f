"""The fast lane leaves out what is there to be left out, and holds the rest."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from tests.conftest import REPOSITORY
from tests.lanes import SLOW, is_slow

FILES = [path.relative_to(REPOSITORY).as_posix() for path in sorted((REPOSITORY / "tests").rglob("test_*.py"))]


@pytest.mark.parametrize("pattern", SLOW)
def test_what_is_left_out_is_there(pattern: str) -> None:
    assert any(fnmatch(path, pattern) for path in FILES)


def test_rules_and_readers_of_text_are_in_the_fast_lane() -> None:
    for folder in ("tests/review/rules/", "tests/knowledge/text/", "tests/knowledge/search/"):
        assert not all(is_slow(path) for path in FILES if path.startswith(folder))
