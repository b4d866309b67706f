from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.hub_process import HubProcess, start_hub


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One running hub for all flows that leave it in order."""
    running = start_hub(Path(tmp_path_factory.mktemp("hub")) / "data")
    yield running
    if running.process.poll() is None:
        running.stop()
