import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge.embedders.base import EmbedderUnavailable
from knowledge.embedders.bundled.backend import BundledEmbedder, GraphCache
from tests.conftest import REPOSITORY

EMBED = """
import logging, sys
from pathlib import Path
from knowledge.embedders import create_embedder
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
embedder = create_embedder("bundled", model=None, cache_dir=Path(sys.argv[1]))
print(embedder.embed_query("二つのプロセス").tobytes().hex())
"""


def fake_build(content: bytes):
    """A build that writes little, to test the cache apart from the model."""

    def build(path: Path) -> None:
        path.write_bytes(content)
        path.with_name(path.name + ".data").write_bytes(content * 2)

    return build


def refuse_to_build(path: Path) -> None:
    raise AssertionError(f"{path} is built although a good one exists")


def test_two_processes_starting_at_once_build_one_graph(tmp_path: Path) -> None:
    command = [sys.executable, "-c", EMBED, str(tmp_path)]
    workers = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    outputs = [worker.communicate(timeout=120)[0].splitlines() for worker in workers]

    assert [worker.returncode for worker in workers] == [0, 0]
    assert outputs[0][-1] == outputs[1][-1]
    built = [line for lines in outputs for line in lines if "building embedding graph" in line]
    assert len(built) == 1
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("suffix", [".onnx", ".onnx.data", ".json"])
def test_a_damaged_file_is_noticed_and_built_again(tmp_path: Path, suffix: str) -> None:
    GraphCache(tmp_path, stem="graph", build=fake_build(b"good")).path()
    (tmp_path / f"graph{suffix}").write_bytes(b"go")

    path = GraphCache(tmp_path, stem="graph", build=fake_build(b"again")).path()

    assert path.read_bytes() == b"again"


@pytest.mark.parametrize("suffix", [".onnx", ".onnx.data", ".json"])
def test_a_missing_file_is_built_again(tmp_path: Path, suffix: str) -> None:
    GraphCache(tmp_path, stem="graph", build=fake_build(b"good")).path()
    (tmp_path / f"graph{suffix}").unlink()

    assert GraphCache(tmp_path, stem="graph", build=fake_build(b"again")).path().read_bytes() == b"again"


def test_a_whole_graph_is_not_built_again(tmp_path: Path) -> None:
    GraphCache(tmp_path, stem="graph", build=fake_build(b"good")).path()

    assert GraphCache(tmp_path, stem="graph", build=refuse_to_build).path().read_bytes() == b"good"


def test_what_a_killed_build_left_behind_is_removed(tmp_path: Path) -> None:
    (tmp_path / "graph.partial").mkdir()
    (tmp_path / "graph.partial" / "graph.onnx").write_bytes(b"half")

    GraphCache(tmp_path, stem="graph", build=fake_build(b"good")).path()

    assert not (tmp_path / "graph.partial").exists()


def test_only_the_owner_may_read_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    GraphCache(folder, stem="graph", build=fake_build(b"good")).path()

    modes = {path.name: path.stat().st_mode & 0o077 for path in [folder, *folder.iterdir()]}

    assert set(modes.values()) == {0}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(EmbedderUnavailable, match=r"Cannot keep the embedding model in .*file/graphs"):
        GraphCache(tmp_path / "file" / "graphs", stem="graph", build=refuse_to_build).path()


def test_an_embedder_recovers_from_a_damaged_graph(tmp_path: Path, int8: BundledEmbedder) -> None:
    first = BundledEmbedder(cache_dir=tmp_path)
    expected = first.embed_query("壊れたキャッシュ")
    (data,) = tmp_path.glob("*.onnx.data")
    os.truncate(data, 1_000_000)

    recovered = BundledEmbedder(cache_dir=tmp_path)

    np.testing.assert_array_equal(recovered.embed_query("壊れたキャッシュ"), expected)
