"""Tesseract, where the machine has it with its Japanese data (tesseract-ocr-jpn, for vertical text -jpn-vert)."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from PIL import Image

from knowledge.parsers.ocr.engine import FoundLine, FoundText, OcrFailed, OcrUnavailable
from knowledge.parsers.ocr.ppocr import turned
from knowledge.types.ocr import Quad

PROGRAM = "tesseract"
_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_BLANK_BETWEEN = re.compile(rf"(?<={_WIDE}) +|(?<! ) ++(?={_WIDE})")
_TIMEOUT_S = 120.0
_DPI = 200
# Below, the page is something else than horizontal text the right way up: vertical text is read at 0.2.
_GOOD = 0.6
_TALL = 1.5
_DATA_FOLDERS = ("/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata")

Word = tuple[int, int, int, int, str, float]


@cache
def languages() -> frozenset[str]:
    """The languages that are installed; empty without the program."""
    program = shutil.which(PROGRAM)
    if program is None:
        return frozenset()
    done = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=20, check=False)
    return frozenset(done.stdout.split("\n")[1:]) - {""}


@cache
def version() -> str:
    program = shutil.which(PROGRAM) or PROGRAM
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    return (done.stdout or done.stderr).split("\n")[0].strip()[:40] or PROGRAM


class Tesseract:
    """The engine. :raises OcrUnavailable: the program or its Japanese data are missing."""

    def __init__(self) -> None:
        if "jpn" not in languages():
            raise OcrUnavailable("tesseract with Japanese data (tesseract-ocr-jpn) is not installed")
        self.name = version()

    def read(self, image: Image.Image) -> FoundText:
        best, turn = self._lines(image, "jpn"), 0
        if _confidence(best) >= _GOOD or not best:
            return FoundText(lines=best, is_in_order=True)
        if "jpn_vert" in languages():
            best = max(best, self._lines(image, "jpn_vert"), key=_confidence)
        for other, way in _BACK.items() if _confidence(best) < _GOOD else ():
            upright = image.transpose(way)
            lines = self._lines(upright, "jpn")
            if _confidence(lines) > _confidence(best) + 0.1:
                best, turn = [turned(line, other, upright.size) for line in lines], other
        return FoundText(lines=best, turn=turn, is_in_order=True)

    def _lines(self, image: Image.Image, language: str) -> list[FoundLine]:
        picture = io.BytesIO()
        image.save(picture, "PNG", compress_level=1)
        # Else it starts four threads, which slow each other down.
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        options = ["--psm", "3", "--dpi", str(_DPI), "-c", "preserve_interword_spaces=1", "tsv"]
        try:
            done = subprocess.run(
                [PROGRAM, "-", "-", "-l", language, *options],
                input=picture.getvalue(),
                capture_output=True,
                env=environment,
                timeout=_TIMEOUT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise OcrFailed(type(error).__name__) from error
        return [_line(words) for words in _words_by_line(done.stdout.decode("utf-8", "replace"))]


_BACK = {
    180: Image.Transpose.ROTATE_180,
    90: Image.Transpose.ROTATE_90,
    270: Image.Transpose.ROTATE_270,
}


def _words_by_line(table: str) -> Iterator[list[Word]]:
    lines: dict[tuple[str, str, str], list[Word]] = {}
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and row["text"].strip():
            left, top, width, height = (int(row[name]) for name in ("left", "top", "width", "height"))
            place = (row["block_num"], row["par_num"], row["line_num"])
            word = (left, top, left + width, top + height, row["text"], max(float(row["conf"]), 0.0) / 100)
            lines.setdefault(place, []).append(word)
    yield from lines.values()


def _line(words: Sequence[Word]) -> FoundLine:
    left, top = min(word[0] for word in words), min(word[1] for word in words)
    right, bottom = max(word[2] for word in words), max(word[3] for word in words)
    is_vertical = bottom - top >= _TALL * (right - left) and len(words) > 1
    characters = sum(len(word[4]) for word in words)
    text, centres = "", []
    for word in words:
        begin, end = (word[1], word[3]) if is_vertical else (word[0], word[2])
        start, length = (top, bottom - top) if is_vertical else (left, right - left)
        if text:
            text += " "
            centres.append((begin - start) / max(length, 1))
        share = (end - begin) / len(word[4])
        centres += [(begin - start + (at + 0.5) * share) / max(length, 1) for at in range(len(word[4]))]
        text += word[4]
    kept = _kept(text)
    quad: Quad = ((left, top), (right, top), (right, bottom), (left, bottom))
    return FoundLine(
        text="".join(text[at] for at in kept),
        confidence=sum(word[5] * len(word[4]) for word in words) / characters,
        quad=quad,
        # Boxes of neighbouring words overlap now and then.
        centres=tuple(sorted(min(max(centres[at], 0.0), 1.0) for at in kept)),
        is_vertical=is_vertical,
    )


def _kept(text: str) -> list[int]:
    """The characters to keep: not the blanks that it puts between Japanese ones."""
    dropped = {at for found in _BLANK_BETWEEN.finditer(text) for at in range(*found.span())}
    return [at for at in range(len(text)) if at not in dropped]


def _confidence(lines: Sequence[FoundLine]) -> float:
    characters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / characters if characters else 0.0


def data_folders() -> list[Path]:
    return [Path(folder) for folder in _DATA_FOLDERS if Path(folder).is_dir()]
