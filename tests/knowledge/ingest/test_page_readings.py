"""Reading scanned pages in the pipeline: page by page, each once, with its confidence down to the passages."""

from __future__ import annotations

from pathlib import Path

import docx
import pypdfium2
import pytest
from celery import current_app
from PIL import Image

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, NotFound
from knowledge.documents.documents import get_document
from knowledge.documents.reindexing import cancel_reading, reindex_document, retry_unread
from knowledge.documents.schemas import document_out
from knowledge.ingest import page_readings, pipeline
from knowledge.models import Chunk, Collection, Document, DocumentVersion, PageText
from knowledge.originals import has_read_pages, searchable_pdf
from knowledge.search.hybrid import search
from knowledge.types.search import SearchQuery
from tests.factories import new_collection, principal_with, upload_file, upload_text, work_through
from tests.knowledge.parsers.scans import FONT, page_picture, scanned_pdf

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed"),
]

PAGES = ("応答時間は三秒以内とする。", "利用者は窓口で申請を受け付ける。")


@pytest.fixture
def engine() -> str:
    name = page_readings.engine_name()
    if name is None:
        pytest.skip(f"no OCR engine is installed: {page_readings.why_missing('ppocr')}")
    return name


def uploaded(folder: Path, *texts: str, name: str = "仕様書.pdf") -> Document:
    path = folder / name
    path.write_bytes(scanned_pdf([page_picture([text, "第二条 担当者を定める。"]) for text in texts]))
    return upload_file(local_operator(), path).document


def test_a_scan_is_read_found_and_marked(tmp_path, engine):
    document = work_through(uploaded(tmp_path, *PAGES))

    assert document.latest_version.status == "ready"
    chunks = Chunk.objects.filter(version=document.latest_version)
    assert all(chunk.ocr_confidence is not None and chunk.ocr_confidence > 0.5 for chunk in chunks)
    found = search(local_operator(), SearchQuery(text="応答時間は何秒ですか", limit=1)).hits
    assert "応答" in "".join(found[0].content.split())
    assert found[0].ocr_confidence == chunks.get(public_id=found[0].chunk_id).ocr_confidence
    assert "read_by_ocr" in [notice["code"] for notice in document.latest_version.notices]
    shown = document_out(get_document(local_operator(), document.public_id))
    assert (shown.ocr.pages, shown.ocr.pages_read, shown.ocr.is_cancelled) == (2, 2, False)


def test_without_an_engine_the_document_says_so_and_is_read_once_there_is_one(tmp_path, engine, settings):
    before = settings.CONFIG
    settings.CONFIG = before.model_copy(update={"hub_ocr_engine": "none"})
    document = work_through(uploaded(tmp_path, PAGES[0]))
    assert (document.latest_version.status, document.latest_version.status_code) == ("needs_ocr", "needs_ocr")
    assert "OCR is not installed" in document.latest_version.status_reason_en
    with pytest.raises(Conflict, match="OCR"):
        retry_unread(principal=local_operator(), collection="default")

    settings.CONFIG = before
    assert retry_unread(principal=local_operator(), collection="default").done == (document.public_id,)
    assert work_through(document).latest_version.status == "ready"


def test_pictures_in_a_file_that_personal_data_was_taken_out_of_are_not_read(tmp_path, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_ocr_engine": "none"})
    path = tmp_path / "連絡先.docx"
    written = docx.Document()
    written.add_paragraph("連絡先は taro@example.co.jp とする。")
    picture = tmp_path / "名刺.png"
    page_picture(["hanako@example.co.jp"]).save(picture)
    written.add_picture(str(picture))
    written.save(path)
    as_it_is = work_through(upload_file(local_operator(), path).document).latest_version
    assert len(page_readings.sources_of(as_it_is)[0]) == 1

    Collection.objects.update(anonymised_kinds=["email"])
    without = work_through(upload_file(local_operator(), path).document).latest_version
    assert (without.number, without.anonymised) == (2, {"email": 1})
    assert page_readings.sources_of(without) == ([], 0)


def test_a_worker_that_dies_loses_one_page_at_most(tmp_path, engine, monkeypatch):
    version = uploaded(tmp_path, *PAGES).latest_version
    monkeypatch.setattr(page_readings, "SLICE_S", 0.0)
    assert pipeline.advance(version.pk)  # parsed
    assert pipeline.advance(version.pk)  # one page read
    (first,) = PageText.objects.filter(version=version)
    version.refresh_from_db()
    assert (version.status, version.ocr_pages, version.ocr_pages_read) == ("reading", 2, 1)
    assert page_readings.seconds_left(version) is not None
    # The lease of a dead worker has run out; another one goes on.
    DocumentVersion.objects.filter(pk=version.pk).update(lease_token="", lease_expires_at=None)
    assert pipeline.next_task(version.pk) == "knowledge.read_version"
    work_through(version.document)
    assert PageText.objects.get(pk=first.pk).created_at == first.created_at
    assert PageText.objects.filter(version=version).count() == 2


def test_a_new_version_has_the_pages_that_did_not_change_read_already(tmp_path, engine):
    document = work_through(uploaded(tmp_path, *PAGES))
    old = document.latest_version
    document = uploaded(tmp_path, PAGES[0], "データは夜間に複製を保存する。")
    pipeline.advance(document.latest_version.pk)
    taken = PageText.objects.filter(version=document.latest_version)
    assert list(taken.values_list("picture")) == list(
        PageText.objects.filter(version=old, picture__in=taken.values("picture")).values_list("picture")
    )
    assert len(taken) == 1


def test_reading_that_is_cancelled_goes_on_with_what_was_read(tmp_path, engine, monkeypatch):
    document = uploaded(tmp_path, *PAGES)
    with pytest.raises(Conflict, match="OCR"):
        cancel_reading(principal=local_operator(), document_id=document.public_id)
    monkeypatch.setattr(page_readings, "SLICE_S", 0.0)
    pipeline.advance(document.latest_version_id)
    pipeline.advance(document.latest_version_id)
    cancel_reading(principal=local_operator(), document_id=document.public_id)
    document = work_through(document)
    assert document.latest_version.status == "needs_ocr"
    assert Chunk.objects.filter(version=document.latest_version).exists()
    # Asked for again, only the other page is left to read.
    reindex_document(principal=local_operator(), document_id=document.public_id)
    assert PageText.objects.filter(version=document.latest_version).count() == 1
    assert work_through(document).latest_version.status == "ready"


def test_pages_have_a_budget_and_wait_in_a_queue_behind_all_other_work(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_ocr_page_s": 7})
    limits = page_readings.page_limits()
    assert (limits.cpu_s, limits.wall_s) == (7, 28)
    current_app.loader.import_default_modules()
    route = current_app.amqp.router.route
    queues = {route({}, name)["queue"].name for name in current_app.tasks if name.startswith(("knowledge.", "review."))}
    assert queues == {"celery", "bulk", "ocr"}
    assert route({}, "knowledge.read_version")["queue"].name == "ocr"
    assert list(current_app.amqp.queues) == ["celery", "bulk", "ocr"]


def test_a_page_that_can_not_be_read_leaves_the_document_visibly_unread(tmp_path, engine, settings):
    document = uploaded(tmp_path, PAGES[0])
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_parse_memory_bytes": 256 * 1024**2})
    if engine != "ppocr":
        pytest.skip("tesseract reads a page in less memory than any limit")
    document = work_through(document)
    assert document.latest_version.status == "needs_ocr"
    (row,) = PageText.objects.filter(version=document.latest_version)
    assert row.error in {"out_of_memory", "parser_crashed"}
    assert row.reading is None


def test_a_picture_of_nothing_ends_with_a_reason(tmp_path, engine):
    path = tmp_path / "photo.png"
    Image.new("L", (400, 300), 200).save(path)
    document = work_through(upload_file(local_operator(), path).document)
    assert (document.latest_version.status, document.latest_version.status_code) == ("failed", "no_content")


def test_a_scan_that_was_read_can_be_had_as_a_pdf_to_search_by_those_who_may_read_it(tmp_path, engine):
    document = work_through(uploaded(tmp_path, *PAGES))
    assert has_read_pages(document.latest_version)
    name, content = searchable_pdf(local_operator(), document.public_id)
    assert name == "仕様書_検索用.pdf"
    pages = [page.get_textpage().get_text_range().splitlines() for page in pypdfium2.PdfDocument(content)]
    readings = page_readings.readings_of(document.latest_version)
    stored = document.latest_version.content.pages
    assert pages == [[line.text for line in readings[page["picture"]].lines] for page in stored]
    event = AuditEvent.objects.filter(action="DOCUMENT_DOWNLOAD").latest("pk")
    assert event.details == {"version": 1, "form": "searchable_pdf"}
    with pytest.raises(NotFound):
        searchable_pdf(principal_with(Role.READER, new_collection()), document.public_id)


def test_a_document_without_scanned_pages_has_no_pdf_to_search(tmp_path):
    document = work_through(upload_text(local_operator(), tmp_path, "# 概要\n\n定める。\n").document)
    assert not has_read_pages(document.latest_version)
    with pytest.raises(Conflict, match="OCR"):
        searchable_pdf(local_operator(), document.public_id)
