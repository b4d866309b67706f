from __future__ import annotations

from collections.abc import Iterator

import pytest

from knowledge.index.engine import get_engine
from knowledge.models import IndexGeneration
from tests.contracts.engine_shelf import DESIGN, MEETING, filled
from tests.contracts.model_server import ModelServer, model_server
from tests.contracts.qdrant_facade import Facade, qdrant_facade
from tests.knowledge.search.shelf import Library


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server of hosted models, and credentials to ask it with."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with model_server() as running:
        yield running


@pytest.fixture(scope="session")
def facade() -> Iterator[Facade]:
    with qdrant_facade() as running:
        yield running


@pytest.fixture
def engine_set(facade: Facade, settings) -> Iterator[None]:
    """Qdrant is set, and nothing is in it yet."""
    changes = {"search_index": "qdrant", "qdrant_url": facade.url, "qdrant_timeout_s": 1.0}
    settings.CONFIG = settings.CONFIG.model_copy(update=changes)
    yield
    facade.script.clear()
    facade.is_down = False
    facade.release()
    engine = get_engine()
    for name in list(facade.collections):
        engine.drop(name)
    engine.close()


@pytest.fixture
def library(db: None) -> Library:
    made = Library()
    made.add("設計書.md", DESIGN)
    other = Library(slug="meetings")
    other.add("議事録.md", MEETING)
    made.made |= other.made
    return made


@pytest.fixture
def generation(engine_set: None, library: Library) -> IndexGeneration:
    return filled()
