"""Measure how fast documents become searchable, stage by stage, next to the plain way: python -m benchmarks.ingest.

The plain way reads with markitdown, splits by characters (500, overlap 100) and embeds in arrival order. It runs with
the hub's int8 model and, as ``plain fp32``, with the same weights unquantised and every text padded to the longest of
its batch of 16, as libraries do that batch as texts arrive (of the padding only the cost counts, so the vectors are
thrown away). Each line is a process of its own, since peak memory is per process. ``large`` is one made-up document
of 300,000 characters. The smallest document of each format is taken in once before the clock runs, so that libraries,
dictionaries and the model are loaded, as in a worker that is not just starting; ``--cold`` leaves that out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.embedding import cpu_name
from benchmarks.meters import Clock, ParserMemory

REPOSITORY = Path(__file__).resolve().parent.parent
PARTS = ("hub", "plain int8", "plain fp32", "large")
STAGES = ("parse", "chunk", "embed", "index")
CHUNK_CHARACTERS, OVERLAP_CHARACTERS, BATCH = 500, 100, 16
LARGE_CHARACTERS = 300_000


def hub(paths: Sequence[Path], scratch: Path, *, before: Sequence[Path] = ()) -> dict[str, Any]:
    """Take documents in through the service and work the pipeline's stages here."""
    from hub.access.principals import local_operator
    from hub.core.processes import collect_seldom
    from knowledge.documents.uploads import Upload, create_document, hash_file
    from knowledge.index.active_embedder import get_embedder
    from knowledge.ingest import pipeline, stages
    from knowledge.models import DocumentStatus, DocumentVersion

    clock = Clock()
    embedder = get_embedder()
    embedder.embed_query("準備")
    collect_seldom()  # as a worker does at its start
    memory = ParserMemory()
    memory.start()
    setattr(stages, "embedder_of", lambda _set: _Timed(embedder, clock))  # noqa: B010 (it imports that)
    names: dict[str, str] = {
        DocumentStatus.STORED: "parse",
        DocumentStatus.PARSING: "parse",
        DocumentStatus.CHUNKING: "chunk",
    }

    def take_in(path: Path, place: str) -> int:
        sha256, size = hash_file(path)
        upload = Upload(file=path, filename=path.name, path=place, sha256=sha256, size_bytes=size)
        version = create_document(principal=local_operator(), upload=upload).document.latest_version_id
        going = True
        while going:
            status = DocumentVersion.objects.get(pk=version).status
            with clock(names.get(status, "index")):
                going = pipeline.advance(version)
        return DocumentVersion.objects.get(pk=version).chunks_count or 0

    for path in before:
        take_in(path, f"before/{path.name}")
    clock.clear()
    chunks = sum(take_in(path, path.name) for path in paths)
    clock.without("index", "embed")
    return _figures(clock, documents=len(paths), chunks=chunks, child_kib=memory.peak_kib)


class _Timed:
    """An embedder that notes the time in the model."""

    def __init__(self, embedder: Any, clock: Clock) -> None:
        self._embedder = embedder
        self._clock = clock

    def embed_passages(self, texts: Sequence[str]) -> Any:
        with self._clock("embed"):
            return self._embedder.embed_passages(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


def plain(paths: Sequence[Path], scratch: Path, *, precision: Any, before: Sequence[Path] = ()) -> dict[str, Any]:
    """Read, split by characters, embed in arrival order; nothing is stored."""
    from markitdown import MarkItDown

    from knowledge.embedders.bundled.backend import BundledEmbedder

    clock = Clock()
    embedder = BundledEmbedder(cache_dir=scratch / "models", precision=precision)
    embedder.embed_query("準備")
    reader = MarkItDown(enable_plugins=False)
    step = CHUNK_CHARACTERS - OVERLAP_CHARACTERS
    texts: list[str] = []
    for path in before:
        reader.convert(path)
    for path in paths:
        with clock("parse"):
            text = reader.convert(path).markdown
        with clock("chunk"):
            texts += [text[start : start + CHUNK_CHARACTERS] for start in range(0, len(text), step)]
    with clock("embed"):
        for first in range(0, len(texts), BATCH):
            _embed_batch(embedder, texts[first : first + BATCH], padded=precision == "fp32")
    return _figures(clock, documents=len(paths), chunks=len(texts))


def _embed_batch(embedder: Any, texts: Sequence[str], *, padded: bool) -> None:
    if not padded:
        for text in texts:
            embedder.embed_query(text)  # cuts what is too long, as plain pipelines do
        return
    from knowledge.embedders.bundled.backend import shared_tokenizer

    encoded = [shared_tokenizer().encode(f"passage: {text}", max_tokens=embedder.max_tokens) for text in texts]
    longest = max(map(len, encoded))
    for ids in encoded:
        embedder._run([*ids, *[1] * (longest - len(ids))])


def smallest_of_each_format(paths: Sequence[Path]) -> list[Path]:
    """Choose what loads every library that reading these documents needs."""
    return list({path.suffix: path for path in sorted(paths, key=lambda path: -path.stat().st_size)}.values())


def large(paths: Sequence[Path], scratch: Path, *, before: Sequence[Path] = ()) -> dict[str, Any]:
    """Take in one document of 300,000 characters."""
    sentence = "第{0}項では、利用者が窓口{1}で申請した予約を担当者が確認し、結果を翌日までに通知する手順を定める。"
    lines = ["# 運用手順書"]
    length = number = 0
    while length < LARGE_CHARACTERS:
        body = "".join(sentence.format(number * 10 + part, part) for part in range(10))
        lines.append(f"## {number + 1}. 手順{number + 1}\n\n{body}")
        length += len(lines[-1]) + 2
        number += 1
    path = scratch / "large.md"
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return hub([path], scratch, before=before)


def _figures(clock: Clock, *, documents: int, chunks: int, child_kib: int = 0) -> dict[str, Any]:
    return {
        "seconds": dict(clock.seconds),
        "processor": dict(clock.processor),
        "documents": documents,
        "chunks": chunks,
        "own_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "child_mib": child_kib // 1024,
    }


def run_part(part: str, paths: Sequence[Path], scratch: Path, *, is_cold: bool) -> dict[str, Any]:
    """Measure one line in this process."""
    before = [] if is_cold else smallest_of_each_format(paths)
    os.environ |= {"HUB_DATA_DIR": str(scratch), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "hub.settings"}
    if part.startswith("plain"):
        return plain(paths, scratch, precision=part.removeprefix("plain "), before=before)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return (hub if part == "hub" else large)(paths, scratch, before=before)


def line(part: str, found: dict[str, Any]) -> str:
    """Write one line of the table: seconds by stage, rates, peak memory; below it processor seconds.

    Both end with what everything outside the model takes, as a share of the model's own time.
    """
    total = sum(found["seconds"].get(stage, 0.0) for stage in STAGES)
    rates = f"{found['documents'] / total:>8.2f}{found['chunks'] / total:>10.1f}"
    sizes = f"{found['own_mib']:>9}{found['child_mib']:>9}"
    counts = f"{part:<12}{found['documents']:>5}{found['chunks']:>8}"
    clock = f"{counts}{_stages(found['seconds'])}{rates}{sizes}"
    return f"{clock}\n{'  processor':<25}{_stages(found['processor'])}"


def _stages(seconds: Mapping[str, float]) -> str:
    by_stage = [seconds.get(stage, 0.0) for stage in STAGES]
    model = seconds.get("embed", 0.0)
    columns = "".join(f"{value:>8.1f}" for value in [*by_stage, sum(by_stage)])
    return f"{columns}{100 * (sum(by_stage) - model) / model:>9.0f}%"


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingest", description=__doc__)
    default = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "documents"
    parser.add_argument("--documents", type=Path, default=default, help="folder of real documents")
    parser.add_argument("--every", type=int, default=4, help="take every n-th document by name (default 4)")
    parser.add_argument("--part", choices=PARTS, help="measure this line only and print it as JSON")
    parser.add_argument("--cold", action="store_true", help="count loading libraries and dictionaries, too")
    arguments = parser.parse_args()
    if not arguments.documents.is_dir():
        sys.exit(f"no documents in {arguments.documents}: give --documents or set HUB_TEST_DATA")
    return arguments


def main() -> None:
    """Measure every part in a process of its own, or one part here."""
    arguments = parse_arguments()
    if arguments.part:
        every = sorted(path for path in arguments.documents.iterdir() if path.suffix not in {".jsonl", ""})
        with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as scratch:
            Path(scratch).chmod(0o711)
            print(
                json.dumps(run_part(arguments.part, every[:: arguments.every], Path(scratch), is_cold=arguments.cold))
            )
        return
    print(f"machine: {cpu_name()}, {os.cpu_count()} cores\n")
    print(
        f"{'':<12}{'docs':>5}{'chunks':>8}{'parse s':>8}{'chunk s':>8}{'embed s':>8}{'index s':>8}{'all s':>8}"
        f"{'outside':>10}{'docs/s':>8}{'chunks/s':>10}{'MiB':>9}{'child':>9}"
    )
    for part in PARTS:
        command = [sys.executable, "-m", "benchmarks.ingest", "--part", part, "--every", str(arguments.every)]
        command += ["--documents", str(arguments.documents), *["--cold"] * arguments.cold]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(line(part, json.loads(done.stdout.splitlines()[-1])), flush=True)


if __name__ == "__main__":
    main()
