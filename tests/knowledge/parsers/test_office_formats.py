"""doc, ppt, odt, odp and rtf are read through LibreOffice where it is installed, and refused with advice where not."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.parsers.office import conversion as office
from knowledge.parsers.office.parser import parse
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import assert_valid, texts
from tests.knowledge.parsers.containers import write_container
from tests.knowledge.parsers.workbook_writers import zipped

LIMITS = ParseLimits(wall_s=120, cpu_s=60)
RTF = r"{\rtf1\ansi\ansicpg932{\fonttbl{\f0 MS Mincho;}}\f0 {\b 1. Scope}\par \u24540?\u31572?\u26178?\u38291?\par}"
_NAMES = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument'
ODT_CONTENT = (
    f'<office:document-content {_NAMES}:xmlns:text:1.0" office:version="1.2"><office:body><office:text>'
    '<text:h text:outline-level="1">性能</text:h><text:p>応答時間は3秒以内とする。</text:p>'
    "</office:text></office:body></office:document-content>"
)
ODT = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ODT_CONTENT}
needs_libreoffice = pytest.mark.skipif(office.programs() is None, reason="LibreOffice is not installed")


@needs_libreoffice
def test_an_rtf_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(RTF)
    document = parse_isolated(path, filename=path.name, limits=LIMITS)
    assert_valid(document)
    assert (document.format, document.metadata["converted_by"]) == ("rtf", "LibreOffice")
    assert "応答時間" in document.markdown


@needs_libreoffice
def test_an_open_document_keeps_its_headings_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.odt"
    path.write_bytes(zipped(ODT))
    before = set(tmp_path.iterdir())
    document = parse_isolated(path, filename=path.name, limits=LIMITS)
    assert texts(document, BlockKind.HEADING) == ["# 性能"]
    assert "応答時間は3秒以内とする。" in document.markdown
    assert set(tmp_path.iterdir()) == before


@needs_libreoffice
def test_what_only_seems_to_be_a_document_ends_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.doc"
    path.write_bytes(write_container({"WordDocument": bytes(range(256)) * 20}))
    with pytest.raises(ParseError) as refused:
        parse_isolated(path, filename=path.name, limits=LIMITS)
    assert refused.value.code in {"corrupted", "encrypted", "no_content"}


def test_without_libreoffice_the_reason_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "programs", lambda: None)
    path = tmp_path / "a.rtf"
    path.write_text(RTF)
    with pytest.raises(ParseError, match="convert_first") as refused:
        parse(path, filename=path.name, limits=LIMITS)
    assert "docx" in refused.value.text.ja


@needs_libreoffice
def test_a_real_word_document_is_read(test_data: Path) -> None:
    path = test_data / "awkward" / "table-merges.doc"
    document = parse_isolated(path, filename=path.name, limits=LIMITS)
    assert [block.kind for block in document.blocks if block.kind is BlockKind.TABLE]
