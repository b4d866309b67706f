"""Measure what a long scan takes in the guarded child: ``python -m benchmarks.ocr_child``.

Makes one PDF of the rendered pages of `benchmarks.ocr_pages` as bad scans and reads it page by page as a worker
does, each in a child of its own under the limits of a page. Prints the peak of memory over all pages, processor and
wall seconds per page, and what could not be read.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import django

# Needs settings, and neither a database nor anything of a hub that is there.
os.environ |= {"HUB_DATA_DIR": tempfile.mkdtemp(prefix="hub-benchmark-"), "DJANGO_SETTINGS_MODULE": "hub.settings"}
django.setup()

from benchmarks.meters import Clock, ParserMemory  # noqa: E402
from benchmarks.ocr_pages import DPI, SEED, degraded, rendered_pages  # noqa: E402
from knowledge.ingest.page_readings import READ_TASK, engine_name, page_limits  # noqa: E402
from knowledge.parsers.errors import ParseError  # noqa: E402
from knowledge.parsers.process.isolation import as_it_is, run_isolated  # noqa: E402


def write_scan(path: Path, seed: int) -> int:
    """Write the pages as pictures into a PDF; return how many there are."""
    first, *others = [degraded(page, seed).image for page in rendered_pages(seed)]
    first.save(path, "PDF", resolution=DPI, save_all=True, append_images=others)
    return 1 + len(others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    memory, clock, outcomes = ParserMemory(), Clock(), Counter[str]()
    wall: list[float] = []
    processor: list[float] = []
    characters = 0
    with tempfile.TemporaryDirectory() as folder:
        scan = Path(folder, "scan.pdf")
        pages = write_scan(scan, options.seed)
        memory.start()
        for page in range(1, pages + 1):
            clock.clear()
            try:
                with clock("page"):
                    found = run_isolated(
                        READ_TASK,
                        scan,
                        as_it_is,
                        filename=scan.name,
                        limits=page_limits(),
                        arguments={"page": page, "engine": engine_name()},
                    )
                characters += sum(len(line["text"]) for line in found["reading"]["lines"])
                outcomes["read"] += 1
            except ParseError as error:
                outcomes[error.code] += 1
            wall.append(clock.seconds["page"])
            processor.append(clock.processor["page"])
            print(".", end="", flush=True)
    print(f"\n{engine_name()}: {pages} pages of one file, {dict(outcomes)}, {characters:,} characters")
    print(f"peak of a child over all pages: {memory.peak_kib / 1024:.0f} MiB")
    for name, seconds in (("processor", processor), ("wall", wall)):
        print(f"{name} seconds per page: {statistics.fmean(seconds):.2f} on average, {max(seconds):.2f} at most")


if __name__ == "__main__":
    main()
