"""Measure whether a citation leads to the right words of the original.

``python -m benchmarks.originals`` reads the PDFs, workbooks, Word files and slides of HUB_TEST_DATA, cites sentences,
lines and rows of their stored text, has the hub mark them, and lets another reader (pdfplumber, openpyxl) say what is
inside the marks: right are those whose words are the cited ones. Of Word files and slides it reads the pages that
LibreOffice makes, which is needed for them. Also says how long finding takes, and making the pages.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import statistics
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import django

# Needs settings, and neither a database nor anything of a hub that is there.
os.environ |= {"HUB_DATA_DIR": tempfile.mkdtemp(prefix="hub-benchmark-"), "DJANGO_SETTINGS_MODULE": "hub.settings"}
django.setup()

import openpyxl  # noqa: E402
import pdfplumber  # noqa: E402

from knowledge.originals import (  # noqa: E402
    MarkedPage,
    SheetWindow,
    mark_cells,
    mark_document,
    mark_pages,
)
from knowledge.originals.places import document_part, page_part, sheet_parts  # noqa: E402
from knowledge.parsers.limits import ParseLimits  # noqa: E402
from knowledge.parsers.office.conversion import PAGES_TASK  # noqa: E402
from knowledge.parsers.pdf.page import with_whole_kanji  # noqa: E402
from knowledge.parsers.process.isolation import as_it_is, parse_isolated, run_isolated  # noqa: E402
from knowledge.text.sentences import lines_of, sentence_spans  # noqa: E402
from knowledge.types.documents import BlockKind, ParsedDocument  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent
ENOUGH = 0.9
LEAST_CHARS = 6
SUFFIXES = ("pdf", "xlsx", "docx", "pptx")
KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE})


def compact(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", with_whole_kanji(text)).split())


def citations(parsed: ParsedDocument) -> Iterator[tuple[int, int]]:
    for block in parsed.blocks:
        if block.kind not in KINDS:
            continue
        spans = sentence_spans if block.kind is BlockKind.PARAGRAPH else lines_of
        for start, end in spans(parsed.markdown, block.start, block.end):
            text = parsed.markdown[start:end]
            if sum(char.isalnum() for char in text) >= LEAST_CHARS:
                yield start, end


def words_inside(plain: Any, pages: list[MarkedPage]) -> str:
    """What pdfplumber reads in the boxes, box by box."""
    found = []
    for page in pages:
        # bold letters are drawn several times
        chars = plain.pages[page.page - 1].dedupe_chars(tolerance=1).chars
        for left, top, width, height in page.boxes:
            inside = [
                char
                for char in chars
                if left - 1 <= (char["x0"] + char["x1"]) / 2 <= left + width + 1
                and top - 1 <= (char["top"] + char["bottom"]) / 2 <= top + height + 1
            ]
            order = "x0" if width >= height else "top"
            found.append("".join(char["text"] for char in sorted(inside, key=lambda char: char[order])))
    return words("".join(found))


def words(text: str) -> str:
    """What is compared: without blanks and the dots that lead to a page."""
    return re.sub(r"[.．・…‥]{3,}", "", compact(text))


def is_right_page(parsed: ParsedDocument, plain: Any, span: tuple[int, int], pages: list[MarkedPage]) -> bool:
    has_pages = any(block.page is not None for block in parsed.blocks)
    part = (page_part if has_pages else document_part)(parsed.markdown, parsed.blocks, *span)
    if part is None or not pages:
        return False
    wanted, inside = words("".join(part.pieces)), words_inside(plain, pages)
    # cells of a row may be drawn in another order than they are read
    ratio = difflib.SequenceMatcher(None, wanted, inside, autojunk=False).ratio()
    return max(ratio, difflib.SequenceMatcher(None, sorted(wanted), sorted(inside), autojunk=False).ratio()) >= ENOUGH


def is_right_cells(parsed: ParsedDocument, book: Any, span: tuple[int, int], windows: list[SheetWindow]) -> bool:
    parts = sheet_parts(parsed.markdown, parsed.blocks, *span)
    if not parts or not windows:
        return False
    wanted = {compact(piece) for piece in parts[0].pieces}
    marked = [
        (number, cell) for number, cells in windows[0].rows for cell in cells if cell.is_cited and cell.text.strip()
    ]
    if windows[0].beside:  # text of a shape, of which openpyxl knows nothing: its cell has to be the stored one
        blocks = [block for block in parsed.blocks if block.start < span[1] and span[0] < block.end]
        return any((block.cell or "").startswith(windows[0].beside) for block in blocks)
    plain = book[windows[0].sheet]
    texts = {compact(cell.text) for _number, cell in marked}
    covered = sum(1 for piece in wanted if any(piece in text or text in piece for text in texts)) / len(wanted)
    values = [(plain.cell(number, cell.column).value, cell.text) for number, cell in marked]
    as_they_are = all(compact(value) == compact(text) for value, text in values if isinstance(value, str))
    return bool(marked) and covered >= ENOUGH and as_they_are


def ask(path: Path, task: str, /, **arguments: object) -> dict[str, Any]:
    limits = ParseLimits(wall_s=120, cpu_s=60)
    return run_isolated(task, path, as_it_is, filename=path.name, limits=limits, arguments=arguments)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.originals", description=__doc__)
    default_data = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default_data)
    parser.add_argument("--citations", type=int, default=300, help="of each format (default 300)")
    parser.add_argument("--only", choices=SUFFIXES, help="one format")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for suffix in [arguments.only] if arguments.only else SUFFIXES:
            paths = sorted([*arguments.data.glob(f"documents/*.{suffix}"), *arguments.data.glob(f"awkward/*.{suffix}")])
            measure(suffix, paths, arguments.citations, Path(folder))


def shown_file(suffix: str, path: Path, folder: Path) -> Path:
    """The file that is looked at: the document, or the pages that are made of it."""
    if suffix in ("pdf", "xlsx"):
        return path
    target = folder / f"{path.stem}.pdf"
    limits = ParseLimits(wall_s=60, cpu_s=45, memory_bytes=1024**3)

    def load(result: dict[str, Any], made: Path) -> bytes:
        return (made / result["file"]).read_bytes()

    target.write_bytes(run_isolated(PAGES_TASK, path, load, filename=path.name, limits=limits))
    return target


def measure(suffix: str, paths: list[Path], most: int, folder: Path) -> None:
    chosen = random.Random(suffix)
    documents: list[tuple[Path, ParsedDocument, list[tuple[int, int]]]] = []
    making = []
    for path in paths:
        try:
            parsed = parse_isolated(path, filename=path.name, limits=ParseLimits())
            began = time.perf_counter()
            looked_at = shown_file(suffix, path, folder)
            making.append(time.perf_counter() - began)
        except Exception as error:  # noqa: BLE001 (awkward files: which can't be read is no question here)
            print(f"  not read: {path.name}: {error}"[:100])
            continue
        if found := list(citations(parsed)):
            documents.append((looked_at, parsed, found))
    share = max(most // max(len(documents), 1), 1)
    right = total = 0
    times = []
    for path, parsed, found in documents:
        spans = chosen.sample(found, min(share, len(found)))
        here = 0
        plain: Any = openpyxl.load_workbook(path, data_only=True) if suffix == "xlsx" else pdfplumber.open(path)
        has_pages = any(block.page is not None for block in parsed.blocks)
        mark: Any = mark_cells if suffix == "xlsx" else mark_pages if has_pages else mark_document
        for span in spans:
            began = time.perf_counter()
            marked: Any = mark(partial(ask, path), parsed.markdown, parsed.blocks, *span)
            times.append(1000 * (time.perf_counter() - began))
            is_right = (is_right_cells if suffix == "xlsx" else is_right_page)(parsed, plain, span, marked)
            here += is_right
            if not is_right:
                print(f"    wrong: {parsed.markdown[slice(*span)][:90]!r}")
        print(f"  {path.name[:60]}: {here} of {len(spans)}", flush=True)
        right, total = right + here, total + len(spans)
    quantiles = statistics.quantiles(times, n=20)
    print(
        f"{suffix}: {right} of {total} = {right / total:.3f}; median {quantiles[9]:.0f} ms, p95 {quantiles[18]:.0f} ms;"
        f" the file at hand in {statistics.median(making):.1f} s, {max(making):.1f} s at most",
        flush=True,
    )


if __name__ == "__main__":
    main()
