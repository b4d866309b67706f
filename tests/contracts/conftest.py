from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contracts.model_server import ModelServer, model_server


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server of hosted models, and credentials to ask it with."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with model_server() as running:
        yield running
