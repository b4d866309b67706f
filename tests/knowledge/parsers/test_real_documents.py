"""Real and hostile files, where the shared data are present."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.text.structure import build_sections
from knowledge.types.documents import ParsedDocument
from tests.knowledge.parsers.conftest import assert_valid

LIMITS = ParseLimits(wall_s=30, cpu_s=20, memory_bytes=1024 << 20, max_cells=500_000)
WITHOUT_SECTIONS = frozenset({".pdf"})
EXPECTED_CODES = {
    "bug53475-password-is-pass.docx": "encrypted",
    "57893-many-merges.xlsx": "no_content",
    "clusterfuzz-testcase-minimized-POIXWPFFuzzer-6442791109263360.docx": "corrupted",
    "empty.md": "empty_file",
    "poc-xmlbomb.xlsx": "unsafe_xml",
    "r6-user-password.pdf": "encrypted",
    "random.bin": "unsupported_format",
    "testEXCEL_protected_passtika.xlsx": "encrypted",
    "testODTnotaZipFile.odt": "corrupted",
    "testWORD_truncated.docx": "corrupted",
    "testZIP_corrupted_oom.zip": "corrupted",
    "testZipEntryNameCharsetShiftSJIS.zip": "archive_of_documents",
    "truncated62886.docx": "corrupted",
}


def outcome(path: Path) -> ParsedDocument | ParseError:
    try:
        return parse_isolated(path, filename=path.name, limits=LIMITS)
    except ParseError as error:
        return error


def outcomes(paths: Sequence[Path]) -> dict[str, ParsedDocument | ParseError]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((path.name for path in paths), pool.map(outcome, paths), strict=True))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != "manifest.jsonl")


def test_hostile_files_end_in_a_document_or_in_a_clear_reason(test_data: Path) -> None:
    results = outcomes(files(test_data / "awkward"))

    codes = {name: result.code for name, result in results.items() if isinstance(result, ParseError)}
    assert {name: codes.get(name) for name in EXPECTED_CODES} == EXPECTED_CODES
    assert set(codes) - set(EXPECTED_CODES) == {name for name in results if name.startswith("~$")}
    for result in results.values():
        if isinstance(result, ParsedDocument):
            assert_valid(result)


def test_pages_without_a_text_layer_are_reported(test_data: Path) -> None:
    names = ["MEDRPT-2024-PAT-3847_medical_report_scan.pdf", "imagemagick-CCITTFaxDecode.pdf"]

    results = outcomes([test_data / "awkward" / name for name in names])

    needing = [result.pages_needing_ocr for result in results.values() if isinstance(result, ParsedDocument)]
    assert needing == [(1, 2, 3), (1,)]


def test_legacy_encodings_of_real_files_are_recognised(test_data: Path) -> None:
    names = {
        "gif_433_address.cp932.txt": "cp932",
        "gif_Building.euc_jp.csv": "euc_jp",
        "gif_Event.cp932.csv": "cp932",
        "gif_Person.utf-16.csv": "utf-16-le",
        "test_mskanji.csv": "cp932",
    }

    results = outcomes([test_data / "awkward" / name for name in names])

    found = {
        name: result.metadata["encoding"] for name, result in results.items() if isinstance(result, ParsedDocument)
    }
    assert found == names


@pytest.mark.parametrize("extension", [".docx", ".pdf", ".pptx"])
def test_real_documents_have_valid_blocks_and_sections(test_data: Path, extension: str) -> None:
    check_documents([path for path in files(test_data / "documents") if path.suffix == extension])


@pytest.mark.long
@pytest.mark.parametrize("extension", [".md", ".xlsx"])
def test_more_real_documents_have_valid_blocks_and_sections(test_data: Path, extension: str) -> None:
    check_documents([path for path in files(test_data / "documents") if path.suffix == extension])


def check_documents(paths: list[Path]) -> None:
    for name, result in outcomes(paths).items():
        assert isinstance(result, ParsedDocument), name
        assert_valid(result)
        assert result.blocks, name
        if Path(name).suffix not in WITHOUT_SECTIONS:
            assert build_sections(result.markdown, result.blocks), name
