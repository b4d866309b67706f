"""What OCR read becomes text with its confidence: pages of PDFs, pictures as documents, pictures in documents."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from pathlib import Path

import docx
import pytest
from PIL import Image

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.parsers.ocr.task import picture, read_page
from knowledge.parsers.registry import parse_file
from knowledge.types.documents import BlockKind
from knowledge.types.ocr import PageReading, ReadLine
from tests.knowledge.parsers.conftest import assert_valid, texts
from tests.knowledge.parsers.scans import encoded, scanned_pdf

LIMITS = ParseLimits()


def line(
    text: str, left: float, top: float, *, width: float = 0, size: float = 14, confidence: float = 0.99
) -> ReadLine:
    right, bottom = left + (width or 10 * len(text)), top + size
    quad = ((left, top), (right, top), (right, bottom), (left, bottom))
    centres = tuple((at + 0.5) / len(text) for at in range(len(text)))
    return ReadLine(text=text, confidence=confidence, quad=quad, centres=centres)


def reading(*lines: ReadLine, turn: int = 0, skew: float = 0.0, left_out: tuple[int, ...] = ()) -> PageReading:
    return PageReading(engine="test/1", width=360, height=504, lines=lines, turn=turn, skew=skew, left_out=left_out)


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    path = tmp_path / "仕様書.pdf"
    noise = Image.effect_noise((1000, 1400), 40)
    path.write_bytes(scanned_pdf([noise]))
    return path


def picture_of(path: Path) -> str:
    (page,) = parse_file(path, filename=path.name, limits=LIMITS).pages
    assert page.needs_ocr
    assert page.picture is not None
    return page.picture


def test_a_page_that_was_read_has_paragraphs_tables_and_confidences(scan: Path) -> None:
    rows = [("機能", "担当", "期限"), ("検索", "窓口", "四月"), ("登録", "本部", "五月"), ("削除", "本部", "六月")]
    cells = [
        line(text, 40 + 100 * at, 160 + 20 * row) for row, cells in enumerate(rows) for at, text in enumerate(cells)
    ]
    read = reading(
        line("1. 概要", 40, 40, size=22), line("応答時間は三秒以内とする。", 40, 100, confidence=0.9), *cells
    )

    document = parse_isolated(scan, filename=scan.name, limits=LIMITS, readings={picture_of(scan): read})

    assert_valid(document)
    assert texts(document, BlockKind.HEADING) == ["# 1. 概要"]
    assert "| 検索 | 窓口 | 四月 |" in texts(document, BlockKind.TABLE)[0]
    (paragraph,) = [block for block in document.blocks if block.kind is BlockKind.PARAGRAPH]
    assert (paragraph.ocr, paragraph.page) == (0.9, 1)
    assert not document.pages_needing_ocr
    assert "read_by_ocr" in [notice.code for notice in document.notices]


def test_pages_of_little_confidence_are_named_and_of_next_to_none_stay_unread(scan: Path) -> None:
    picture = picture_of(scan)
    uncertain = reading(line("応答時間は三秒以内とする。", 40, 40, confidence=0.9))
    document = parse_file(scan, filename=scan.name, limits=LIMITS, readings={picture: uncertain})
    assert [notice.code for notice in document.notices] == ["ocr_uncertain", "read_by_ocr"]
    assert document.pages[0].uncertain

    # Lines that were too weak to be kept count as well, but for one that may be a stamp.
    sure = line("応答時間は三秒以内とする。", 40, 40)
    assert reading(sure, left_out=(8,)).is_uncertain
    assert reading(*[sure] * 3, left_out=(3, 3)).is_uncertain
    assert not reading(*[sure] * 3, left_out=(3,)).is_uncertain

    unusable = reading(line("■□◇※＊∥", 40, 40, confidence=0.5))
    document = parse_file(scan, filename=scan.name, limits=LIMITS, readings={picture: unusable})
    assert document.pages_needing_ocr == (1,)
    assert document.markdown == ""


def test_a_skewed_and_turned_page_is_laid_straight(scan: Path) -> None:
    # Two lines of a page that lies upside down: the first one is at the bottom.
    first, second = line("一行目の文章です。", 60, 400), line("二行目の文章です。", 60, 380)
    over = [
        dataclasses.replace(one, quad=(one.quad[2], one.quad[3], one.quad[0], one.quad[1])) for one in (first, second)
    ]
    document = parse_file(
        scan, filename=scan.name, limits=LIMITS, readings={picture_of(scan): reading(*over, turn=180)}
    )
    assert document.markdown.index("一行目") < document.markdown.index("二行目")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_a_picture_is_a_document_of_pages(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "scan.bin"
    path.write_bytes(encoded(Image.effect_noise((600, 400), 50), kind))
    document = parse_file(path, filename=path.name, limits=LIMITS)
    assert (document.format, document.pages_needing_ocr) == ("image", (1,))
    picture = document.pages[0].picture
    assert picture is not None

    read = reading(line("図面番号 A-1", 40, 40))
    document = parse_file(path, filename=path.name, limits=LIMITS, readings={picture: read})
    assert document.markdown.strip().endswith("図面番号 A-1")


def test_a_picture_that_is_nothing_but_a_picture_has_nothing_to_read(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(encoded(Image.effect_noise((600, 400), 50), "PNG"))
    picture = parse_file(path, filename=path.name, limits=LIMITS).pages[0].picture
    assert picture is not None
    with pytest.raises(ParseError, match="no_content"):
        parse_file(path, filename=path.name, limits=LIMITS, readings={picture: reading()})


def test_huge_and_broken_pictures_end_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    # 60,000 x 60,000 pixels of white take next to nothing as PNG; only its head is needed here.
    small = encoded(Image.new("1", (64, 64), 1), "PNG")
    path.write_bytes(small[:16] + (60_000).to_bytes(4, "big") * 2 + small[24:])
    with pytest.raises(ParseError, match=r"too_many_pixels|corrupted"):
        parse_file(path, filename="a.png", limits=LIMITS)
    path.write_bytes(small[:40])
    with pytest.raises(ParseError, match="corrupted"):
        read_page(path, limits=LIMITS, folder=tmp_path, filename="a.png", page=1, engine="tesseract")
    frames = io.BytesIO()
    Image.new("1", (40, 40)).save(frames, "TIFF", save_all=True, append_images=[Image.new("1", (40, 40))] * 5)
    path.write_bytes(frames.getvalue())
    with pytest.raises(ParseError, match="too_many_pages"):
        parse_file(path, filename="a.tiff", limits=ParseLimits(max_pages=3))


def test_the_words_of_a_picture_in_a_document_stand_below_it_and_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "設計書.docx"
    picture = encoded(Image.effect_noise((300, 200), 60), "PNG")
    file = docx.Document()
    file.add_paragraph("構成を図に示す。")
    file.add_picture(io.BytesIO(picture))
    file.add_paragraph("図1 全体構成")
    file.add_paragraph("以上の構成とする。")
    file.save(str(path))
    plain = parse_file(path, filename=path.name, limits=LIMITS)
    (figure,) = plain.figures
    key = hashlib.sha256(figure.data).hexdigest()
    read = reading(line("受付サーバー", 10, 10, confidence=0.97), line("# 台帳", 10, 60, confidence=0.97))

    document = parse_isolated(path, filename=path.name, limits=LIMITS, readings={key: read})

    assert_valid(document)
    (words,) = [block for block in document.blocks if block.ocr is not None]
    assert words.ocr == 0.97
    assert document.markdown[words.start : words.end].startswith("図中の文字: 受付サーバー")
    assert document.markdown.index("図中の文字") < document.markdown.index("以上の構成")
    assert [block.kind for block in document.blocks if block.kind is BlockKind.HEADING] == []
    (moved,) = document.figures
    assert document.markdown[moved.start : moved.end] == plain.markdown[figure.start : figure.end]
    assert [notice.code for notice in document.notices] == ["figures_read_by_ocr"]


def test_a_reading_survives_being_stored() -> None:
    read = reading(line("応答時間", 40, 40, confidence=0.9321), turn=90, skew=0.01, left_out=(12, 3))
    assert PageReading.from_json(json.loads(json.dumps(read.as_json()))) == read
    with pytest.raises((ValueError, KeyError, TypeError)):
        PageReading.from_json({**read.as_json(), "lines": [{"text": "a"}]})


def test_ocr_opens_no_picture_of_a_kind_that_the_hub_does_not_take(tmp_path: Path):
    path = tmp_path / "page.png"
    Image.new("RGB", (40, 20), "white").save(path, "PPM")
    with pytest.raises(ParseError) as refused:
        picture(path, 1)
    assert refused.value.code == "corrupted"
