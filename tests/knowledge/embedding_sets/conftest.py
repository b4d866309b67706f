from __future__ import annotations

from pathlib import Path

import pytest

from tests.knowledge.embedding_sets.sets import add_corpus


@pytest.fixture
def corpus(db: None, tmp_path: Path) -> None:
    add_corpus(tmp_path)
