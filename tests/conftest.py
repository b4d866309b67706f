"""The suite runs against the real parts: embedded PostgreSQL with pgvector and embedded Valkey in a scratch folder."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Set before Django reads its settings: nothing of a developer's own hub is touched.
if "DATABASE_URL" not in os.environ or "HUB_DATA_DIR" not in os.environ:
    _scratch = tempfile.mkdtemp(prefix="hub-tests-")
    os.environ["HUB_DATA_DIR"] = _scratch
    atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
os.environ.setdefault("HUB_PORT", "8999")
os.environ.setdefault("HUB_RATE_LIMIT_PER_MINUTE", "100000")

import pytest  # noqa: E402

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


@pytest.fixture(scope="session")
def queue() -> None:
    """A running Valkey."""
    from hub.core.servers import ensure_queue

    ensure_queue()


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real documents, or a skip that says so."""
    folder = Path(os.environ.get("HUB_TEST_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}; set HUB_TEST_DATA")
    return folder
