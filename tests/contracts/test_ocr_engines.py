"""What every OCR engine promises (``OcrEngine``), asked of each that is installed here."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFont

from knowledge.parsers.ocr import ppocr
from knowledge.parsers.ocr.engine import OcrEngine, OcrUnavailable
from knowledge.parsers.ocr.reading import read_image
from knowledge.parsers.ocr.task import make_engine
from knowledge.types.ocr import PageReading
from tests.knowledge.parsers.scans import FONT, page_picture

LINES = ("応答時間は三秒以内とする。", "利用者は窓口で申請を受け付ける。", "データは毎日夜間に複製を保存する。")


@pytest.fixture(scope="module", params=["ppocr", "tesseract"])
def engine(request: pytest.FixtureRequest) -> Iterator[OcrEngine]:
    try:
        yield make_engine(request.param)
    except OcrUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def reading(engine: OcrEngine) -> PageReading:
    """What the engine reads of a page of LINES."""
    return read_image(engine, page_picture(LINES), scale=0.36)


def written(reading: PageReading) -> str:
    return "".join("".join(line.text.split()) for line in reading.lines)


def likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


@pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed")
class TestPages:
    def test_lines_are_read_from_the_top(self, engine: OcrEngine, reading: PageReading) -> None:
        assert likeness(written(reading), "".join(LINES)) > 0.9
        assert reading.engine == engine.name
        assert reading.turn == 0

    def test_each_character_has_a_place_in_its_line_and_each_line_a_confidence(self, reading: PageReading) -> None:
        for line in reading.lines:
            assert len(line.centres) == len(line.text)
            assert list(line.centres) == sorted(line.centres)
            assert 0 < line.confidence <= 1

    @pytest.mark.parametrize("turn", [90, 180, 270])
    def test_a_page_that_lies_turned_is_read_all_the_same(self, engine: OcrEngine, turn: int) -> None:
        turned = page_picture(LINES).rotate(-turn, expand=True)
        reading = read_image(engine, turned, scale=0.36)
        assert likeness(written(reading), "".join(LINES)) > 0.9
        if engine.name.startswith("PP-OCR"):  # Tesseract reads lying lines as vertical text
            assert reading.turn == turn
        for line in reading.lines:
            assert all(0 <= x <= turned.width * 0.36 + 5 and 0 <= y <= turned.height * 0.36 + 5 for x, y in line.quad)

    def test_a_page_with_a_line_printed_over_another_is_uncertain(self, engine: OcrEngine) -> None:
        lines = [*LINES * 5][:14]
        page = page_picture(lines, size=24)
        over = page_picture(["委託先の要員は情報の取扱いを学ぶ。"], size=24, top=128)
        if engine.name.startswith("PP-OCR"):  # Tesseract is not sure of the page without it, either
            assert not read_image(engine, page, scale=0.36).is_uncertain
        assert read_image(engine, ImageChops.darker(page, over), scale=0.36).is_uncertain

    def test_a_line_that_is_left_out_is_counted(self, engine: OcrEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        if not engine.name.startswith("PP-OCR"):
            pytest.skip("it leaves lines out itself")
        monkeypatch.setattr(ppocr, "_LEAST_CONFIDENCE", 0.8)
        page = page_picture([*LINES * 5][:14], size=24)
        over = page_picture(["委託先の要員は情報の取扱いを学ぶ。"], size=24, top=128)
        reading = read_image(engine, ImageChops.darker(page, over), scale=0.36)
        assert len(reading.lines) == 13
        (characters,) = reading.left_out
        assert 10 <= characters <= 20
        assert reading.is_uncertain

    def test_a_blank_page_has_no_lines(self, engine: OcrEngine) -> None:
        assert read_image(engine, Image.new("L", (800, 600), 255), scale=0.36).lines == ()

    def test_the_same_picture_reads_the_same_each_time(self, engine: OcrEngine, reading: PageReading) -> None:
        assert read_image(engine, page_picture(LINES), scale=0.36) == reading


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path) -> None:
    from knowledge.parsers.ocr.ppocr import verified

    (tmp_path / "ppocrv6_det.onnx").write_bytes(b"another network")
    with pytest.raises(OcrUnavailable, match="SHA-256"):
        verified(tmp_path / "ppocrv6_det.onnx")


@pytest.mark.parametrize("is_noisy", [False, True], ids=["clean", "specks"])
def test_columns_of_vertical_text_are_read_from_the_right(is_noisy: bool) -> None:
    if not FONT.exists():
        pytest.skip("no Japanese font is installed")
    try:
        engine = make_engine("ppocr")
    except OcrUnavailable as error:
        pytest.skip(str(error))
    image = Image.new("L", (1000, 1400), 255)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(str(FONT), 36)
    for column, text in enumerate(LINES):
        for row, char in enumerate(text.rstrip("。")):
            draw.text((850 - column * 90, 100 + row * 44), char, font=font, fill=0)
    if is_noisy:
        pixels = np.asarray(image).copy()
        pixels[np.random.default_rng(1).random(pixels.shape) < 0.004] = 0
        image = Image.fromarray(pixels)
    reading = read_image(engine, image, scale=0.36)
    assert reading.turn == 0
    text = written(reading)
    assert [text.index(line[:3]) for line in LINES] == sorted(text.index(line[:3]) for line in LINES)
