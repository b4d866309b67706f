"""Print passages per second of the bundled embedders side by side: python -m benchmarks.embedding."""

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

from knowledge.embedders import Embedder, create_embedder

SENTENCE = "申請者は、電子情報処理組織を使用して申請を行う場合には、{}番の様式に必要な事項を入力しなければならない。"
PASSAGE_LENGTH = 400  # characters, a usual chunk: about 200 tokens
QUERY = "電子申請では何を入力する必要がありますか"
CPU_INFO = Path("/proc/cpuinfo")


def cpu_name() -> str:
    """Name the processor and the vector instructions that decide the speed of int8."""
    if not CPU_INFO.exists():
        return platform.processor() or platform.machine()
    lines = (line.partition(":") for line in CPU_INFO.read_text().splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, _colon, value in lines}
    found = set(fields.get("flags", "").split()) & {"avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8"}
    return f"{fields.get('model name', platform.machine())} ({', '.join(sorted(found))})"


def passages(count: int) -> list[str]:
    """Make passages of 400 characters, all different."""
    return ["".join(SENTENCE.format(10 * i + j) for j in range(10))[:PASSAGE_LENGTH] for i in range(count)]


def cpu_ms_per_call(embedder: Embedder, texts: list[str], rounds: int) -> float:
    """Return the best round's CPU milliseconds per passage; other processes on the machine count little."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        embedder.embed_passages(texts)
        best = min(best, time.process_time() - start)
    return 1000 * best / len(texts)


def measure(backend: str, folder: Path, *, texts: list[str], rounds: int) -> str:
    """Measure one backend and return its line of the table."""
    created = create_embedder(backend, model=None, cache_dir=folder)
    created.embed_query(QUERY)
    start = time.perf_counter()
    embedder = create_embedder(backend, model=None, cache_dir=folder)
    embedder.embed_query(QUERY)
    load_s = time.perf_counter() - start
    passage_ms = cpu_ms_per_call(embedder, texts, rounds)
    start = time.process_time()
    for _ in texts:
        embedder.embed_query(QUERY)
    query_ms = 1000 * (time.process_time() - start) / len(texts)
    tokens = embedder.count_tokens(texts[0])
    return f"{backend:<14}{load_s:>8.2f}{tokens:>8}{passage_ms:>12.1f}{1000 / passage_ms:>13.1f}{query_ms:>10.1f}"


def main() -> None:
    """Measure int8 and fp32, one thread each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{cpu_name()}, {os.cpu_count()} cores, Python {platform.python_version()}; one thread")
    print("backend         load s  tokens  ms/passage  passages/s  ms/query")
    with tempfile.TemporaryDirectory() as folder:
        for backend in ("bundled", "bundled-fp32"):
            texts = passages(arguments.passages)
            print(measure(backend, Path(folder), texts=texts, rounds=arguments.rounds))


if __name__ == "__main__":
    main()
