from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.flows.hub_process import HubProcess, start_hub
from tests.migrated import start_from_migrated


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One running hub for all flows that leave it in order."""
    with _running(Path(tmp_path_factory.mktemp("hub")) / "data") as running:
        yield running


@pytest.fixture
def own_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub without the sample for one test, which may do to it what it likes."""
    with running_hub(tmp_path_factory) as running:
        yield running


@contextmanager
def running_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub without the sample that runs inside the block."""
    data_dir = Path(tmp_path_factory.mktemp("own")) / "data"
    start_from_migrated(data_dir)
    with _running(data_dir, "--no-sample") as running:
        yield running


@contextmanager
def _running(data_dir: Path, *options: str) -> Iterator[HubProcess]:
    running = start_hub(data_dir, *options)
    yield running
    if running.process.poll() is None:
        running.stop()
