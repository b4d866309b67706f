import json
from pathlib import Path

import pytest

from knowledge.embedders.bundled.backend import BundledEmbedder, load_tokenizer
from knowledge.embedders.bundled.tokenizer import Tokenizer


@pytest.fixture(scope="session")
def japanese_passages(test_data: Path) -> list[str]:
    lines = (test_data / "retrieval" / "jsquad_ja" / "corpus.jsonl").read_text().splitlines()
    return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="session")
def real_texts(test_data: Path, japanese_passages: list[str]) -> list[str]:
    """About 500 passages, questions and Markdown blocks, blocks of tables and code among them."""
    lines = (test_data / "retrieval" / "jaquad_ja" / "queries.jsonl").read_text().splitlines()
    queries = [json.loads(line)["text"] for line in lines]
    documents = sorted((test_data / "review" / "documents").glob("*.md"))
    blocks = [block for path in documents for block in path.read_text().split("\n\n") if block.strip()]
    return japanese_passages[::8] + queries[::18] + blocks[:: max(1, len(blocks) // 200)]


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return load_tokenizer()


@pytest.fixture(scope="session")
def graph_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture(scope="session")
def int8(graph_cache: Path) -> BundledEmbedder:
    return BundledEmbedder(cache_dir=graph_cache)


@pytest.fixture(scope="session")
def fp32(graph_cache: Path) -> BundledEmbedder:
    return BundledEmbedder(cache_dir=graph_cache, precision="fp32")
