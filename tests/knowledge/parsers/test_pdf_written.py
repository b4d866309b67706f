"""What people fill into a PDF's form or type over its pages is part of its text, in its place."""

from __future__ import annotations

from pathlib import Path

import pypdfium2

from tests.knowledge.parsers.conftest import Parse, assert_valid, texts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf


def application(*written: tuple[str, float, float, str]) -> PdfPage:
    """A ruled form of two rows: what to fill in at the left, room for it at the right."""
    rules = [(60.0, y, 400.0, y) for y in (716.0, 692.0, 668.0)] + [(x, 668.0, x, 716.0) for x in (60.0, 150.0, 400.0)]
    labels = [(64.0, 700.0, 10.0, "氏名"), (64.0, 676.0, 10.0, "所属")]
    return PdfPage(texts=labels, rules=rules, written=list(written))


def test_filled_fields_stand_in_their_cells_and_typed_text_in_its_place(tmp_path: Path, parse: Parse) -> None:
    page = application(
        ("Widget", 154, 694, "山田花子"), ("Widget", 154, 670, "品質管理課"), ("FreeText", 154, 600, "訂正印あり")
    )
    path = tmp_path / "利用申請書.pdf"
    path.write_bytes(write_pdf([PdfPage(texts=[(60, 700, 10, "記入上の注意を読むこと。")]), page]))

    document = parse(path)

    assert_valid(document)
    assert texts(document) == [
        "記入上の注意を読むこと。",
        "| 氏名 | 山田花子 |\n| --- | --- |\n| 所属 | 品質管理課 |",
        "訂正印あり",
    ]
    assert [block.page for block in document.blocks] == [1, 2, 2]
    assert document.notices == ()


def test_notes_beside_the_text_are_counted(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "設計書.pdf"
    text = [(60.0, 700.0, 10.0, "予約は窓口で受け付ける。")]
    path.write_bytes(write_pdf([PdfPage(texts=text, written=[("Text", 300, 690, "根拠は？")])]))

    document = parse(path)

    assert document.markdown == "予約は窓口で受け付ける。\n"
    assert [notice.code for notice in document.notices] == ["comments_left_out"]


def test_files_attached_to_a_pdf_are_counted(tmp_path: Path, parse: Parse) -> None:
    source = pypdfium2.PdfDocument(write_pdf([PdfPage(texts=[(60, 700, 10, "別添のとおり。")])]))
    source.new_attachment("別添.xlsx").set_data(b"PK")
    path = tmp_path / "通知.pdf"
    source.save(path)
    source.close()

    assert [notice.code for notice in parse(path).notices] == ["embedded_files_left_out"]
