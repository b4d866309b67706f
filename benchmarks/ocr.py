"""Measure what OCR reads wrong: ``python -m benchmarks.ocr``, on pages that nothing was tuned on.

Renders 70 pages (text, tables, two columns, vertical, English, contents pages in columns; needs Chromium and fonts of
several kinds) from texts of this repository, reads them clean and as bad scans with each engine, and prints for each
kind the share of characters that are wrong, missing or too many (CER), the same in reading order where the page has
one (order), processor seconds per page and the peak of memory. Each engine runs in a process of its own.

With ``--scans FOLDER`` it reads real scans instead, once and as they are, whose text is known (`benchmarks.ocr_scans`).

CER compares each read line with the characters that stand in its box, of several boxes in that whose middle is
nearest, and counts characters in no box as missing; what was read where there is no text (a stamp) is not counted. In
order, what stands in a figure is not counted, which has no order. Before, both are folded by NFKC, lose their blanks
and rows of dots that lead to a page's number, and marks that are drawn alike (○ and 〇, ～ and 〜) are one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import statistics
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.ocr_pages import DPI, SEED, TrueCharacter, TruePage, degraded, rendered_pages
from benchmarks.ocr_scans import scanned_pages
from knowledge.parsers.ocr.engine import OcrEngine
from knowledge.parsers.ocr.ppocr import PpOcr
from knowledge.parsers.ocr.reading import read_image
from knowledge.parsers.ocr.tesseract import Tesseract
from knowledge.types.ocr import PageReading, Quad

ENGINES: dict[str, Callable[[], OcrEngine]] = {"ppocr": PpOcr, "tesseract": Tesseract}
IN_ORDER = frozenset({"text", "two columns", "vertical", "English", "gazette", "contents"})
IN_ORDER |= {"multicol", "singlecol", "deposition", "filing"}
_NOWHERE = -1
# Pixels down a column that two characters beside each other are apart at most, where a scan is turned a little.
_SIDE_BY_SIDE = 3.0
_LEADERS, _DASHES = re.compile(r"[.・·:]{3,}"), re.compile("[―—–─]+")
_ALIKE = str.maketrans("〜○◯", "~〇〇")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One reading of a page: characters that are there, wrong ones by box and in order, and what it took."""

    engine: str
    page: str
    kind: str
    is_degraded: bool
    characters: int
    errors: int
    characters_in_order: int
    errors_in_order: int
    confidence: float | None
    is_uncertain: bool
    turn: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", nargs="*", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--kinds", nargs="*", help="only pages of these kinds, such as vertical")
    parser.add_argument("--pages", type=int, default=0, help="only the first pages of each kind")
    parser.add_argument("--save", type=Path, help="write each reading's figures as JSON lines")
    parser.add_argument("--scans", type=Path, help="a folder of scans with their text as hOCR, instead of made pages")
    parser.add_argument("--seed", type=int, default=SEED, help="of the made pages: others to look at while changing")
    options = parser.parse_args()
    known = scanned_pages(options.scans) if options.scans else rendered_pages(options.seed)
    kinds = list(dict.fromkeys(page.kind for page in known if page.kind in (options.kinds or [page.kind])))
    pages = [page for kind in kinds for page in _of_kind(known, kind)[: options.pages or None]]
    found: list[Measured] = []
    for name in options.engines:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            measured, peak = pool.apply(_measure, (name, pages, None if options.scans else options.seed))
        found += measured
        print(f"\n{name}: peak {peak:.0f} MiB with the pages themselves", flush=True)
        _print(measured, kinds)
    if options.save:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in found)
        options.save.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _of_kind(pages: Sequence[TruePage], kind: str) -> list[TruePage]:
    return [page for page in pages if page.kind == kind]


def _measure(name: str, pages: Sequence[TruePage], seed: int | None) -> tuple[list[Measured], float]:
    """Read pages clean, and with a seed as bad scans, too."""
    engine: OcrEngine = ENGINES[name]()
    found = []
    for is_degraded in (False,) if seed is None else (False, True):
        for page in pages:
            seen = degraded(page, seed) if is_degraded and seed is not None else page
            before = _processor_seconds()
            reading = read_image(engine, seen.image, scale=72 / DPI)
            found.append(_judged(name, seen, reading, is_degraded, _processor_seconds() - before))
            print(".", end="", flush=True)
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return found, max(own, children) / 1024


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _judged(name: str, page: TruePage, reading: PageReading, is_degraded: bool, seconds: float) -> Measured:
    scale = DPI / 72
    quads = [tuple((x * scale, y * scale) for x, y in line.quad) for line in reading.lines]
    inside: dict[int, list[TrueCharacter]] = {}
    for one in page.characters:
        inside.setdefault(_line_of(quads, one[1], one[2]), []).append(one)  # type: ignore[arg-type]
    errors = len(_folded("".join(char for char, _x, _y in inside.pop(_NOWHERE, []))))
    for at, characters in inside.items():
        line = reading.lines[at]
        along = _down(characters) if line.is_vertical else sorted(characters, key=lambda one: one[1])
        errors += distance(_folded("".join(char for char, _x, _y in along)), _folded(line.text))
    truth = _folded("".join(char for char, x, y in page.characters if not page.is_in_figure(x, y)))
    middles = [(fmean(x for x, _y in quad), fmean(y for _x, y in quad)) for quad in quads]
    ordered = [line.text for line, at in zip(reading.lines, middles, strict=True) if not page.is_in_figure(*at)]
    return Measured(
        engine=name,
        page=page.name,
        kind=page.kind,
        is_degraded=is_degraded,
        characters=len(_folded("".join(char for char, _x, _y in page.characters))),
        errors=errors,
        characters_in_order=len(truth) if page.kind in IN_ORDER else 0,
        errors_in_order=distance(truth, _folded("".join(ordered))) if page.kind in IN_ORDER else 0,
        confidence=reading.confidence,
        is_uncertain=reading.is_uncertain,
        turn=reading.turn,
        seconds=seconds,
    )


def _down(characters: Sequence[TrueCharacter]) -> list[TrueCharacter]:
    """A column's characters from above, those side by side (縦中横) from the left."""
    rows: list[list[TrueCharacter]] = []
    for one in sorted(characters, key=lambda char: char[2]):
        if rows and one[2] - rows[-1][0][2] < _SIDE_BY_SIDE:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [one for row in rows for one in sorted(row, key=lambda char: char[1])]


def _line_of(quads: Sequence[Quad], x: float, y: float) -> int:
    """The line whose box has a point, of several that whose middle is nearest along its shorter side."""
    found = [at for at, quad in enumerate(quads) if _is_inside(quad, x, y)]
    return min(found, key=lambda at: _off_the_middle(quads[at], x, y), default=_NOWHERE)


def _off_the_middle(quad: Quad, x: float, y: float) -> float:
    a, b, c, d = map(np.array, quad)
    along = max(b - a, d - a, key=np.linalg.norm)
    off = np.array((x, y)) - (a + b + c + d) / 4
    return float(abs(along[0] * off[1] - along[1] * off[0]) / np.linalg.norm(along))


def _is_inside(quad: Quad, x: float, y: float) -> bool:
    """Whether a point is on the inner side of each edge; corners go clockwise where y goes down."""
    return all(
        (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0
        for (ax, ay), (bx, by) in zip(quad, (*quad[1:], quad[0]), strict=True)
    )


def _folded(text: str) -> str:
    plain = "".join(unicodedata.normalize("NFKC", text).split()).translate(_ALIKE)
    return _DASHES.sub("―", _LEADERS.sub("", plain))


def distance(one: str, other: str) -> int:
    """How many characters are to be changed, put in or taken out."""
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        above, row[0] = row[0], at
        for place, wanted in enumerate(other, 1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (char != wanted))
    return row[-1]


def _print(measured: Sequence[Measured], kinds: Sequence[str]) -> None:
    print(f"{'kind':14}{'pages':>6}{'clean':>9}{'order':>9}{'degraded':>10}{'order':>9}{'s/page':>8}{'turned':>8}")
    for kind in (*kinds, "all"):
        rows = [row for row in measured if kind in (row.kind, "all")]
        shares = []
        for is_degraded in (False, True):
            of = [row for row in rows if row.is_degraded == is_degraded]
            total = sum(row.characters for row in of) or 1
            ordered = [row for row in of if row.kind in IN_ORDER]
            in_order = sum(row.errors_in_order for row in of) / (sum(row.characters_in_order for row in of) or 1)
            shares += [
                f"{sum(row.errors for row in of) / total:.2%}" if of else "-",
                f"{in_order:.2%}" if ordered else "-",
            ]
        seconds = statistics.fmean(row.seconds for row in rows)
        turned = sum(1 for row in rows if row.turn)
        print(
            f"{kind:14}{len({row.page for row in rows}):>6}{shares[0]:>9}{shares[1]:>9}{shares[2]:>10}{shares[3]:>9}"
            f"{seconds:>8.2f}{turned:>8}"
        )
    weak = [row for row in measured if row.errors > 0.08 * row.characters]
    print(f"pages with more than 8 % wrong: {len(weak)}, of them marked uncertain: {sum(r.is_uncertain for r in weak)}")


if __name__ == "__main__":
    main()
