"""The suite runs against the real parts: embedded PostgreSQL with pgvector and embedded Valkey in a scratch folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from hub.core.servers import ensure_queue

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the soaks, kills and scale tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long: run with make test-long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _own_language() -> Iterator[None]:
    """What a test's client or command spoke last is not to reach the next test."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def queue() -> None:
    """A running Valkey."""
    ensure_queue()


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real documents, or a skip that says so."""
    folder = Path(os.environ.get("HUB_TEST_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}; set HUB_TEST_DATA")
    return folder
