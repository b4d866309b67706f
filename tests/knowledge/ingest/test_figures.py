"""Figures in the database and through the door: stored with their version, served to its readers only."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hub.access.principals import Principal, Role, local_operator
from hub.access.services import create_token
from hub.core.errors import NotFound
from knowledge.documents.reading import get_structure, open_figure
from knowledge.ingest import pipeline
from knowledge.models import Blob, Chunk, Document, DocumentVersion, Figure
from knowledge.storage import get_blob_store
from tests.factories import new_collection, principal_with, upload_text, work_through
from tests.knowledge.parsers.pictures import data_uri, png

pytestmark = pytest.mark.django_db

TEXT = "# 構成\n\n![全体]({0})\n\n図1 全体構成\n\n画面は次のとおり。\n\n![画面]({1})\n\n![外](a.png)\n"


def ingest(folder: Path, *shades: int, principal: Principal | None = None, **more: str) -> Document:
    text = TEXT.format(*(data_uri(png(shade)) for shade in shades))
    return work_through(upload_text(principal or local_operator(), folder, text, **more).document)


def sha256(shade: int) -> str:
    return hashlib.sha256(png(shade)).hexdigest()


def test_figures_are_listed_with_their_captions_and_read_back(tmp_path):
    document = ingest(tmp_path, 1, 2)
    figures = get_structure(local_operator(), document.public_id).figures
    assert [(figure.caption, figure.alt_text) for figure in figures] == [
        ("図1 全体構成", "全体"),
        (None, "画面"),
        (None, None),
    ]
    assert figures[2].figure_id is None
    assert document.latest_version.figures_count == 3
    _figure, file = open_figure(local_operator(), document.public_id, figures[0].figure_id)
    with file:
        assert file.read() == png(1)


def test_parsing_again_gives_the_same_rows_and_keeps_a_description(tmp_path):
    document = ingest(tmp_path, 1, 2)
    Figure.objects.filter(index=0).update(description="二つの箱", description_model="m")
    before = set(Figure.objects.values_list("public_id", "blob_id", "start_offset", "description"))
    pipeline.reset(document.latest_version_id)
    work_through(document)
    assert set(Figure.objects.values_list("public_id", "blob_id", "start_offset", "description")) == before
    assert len(before) == 2


def test_bytes_that_no_figure_has_any_more_are_removed(tmp_path, django_capture_on_commit_callbacks):
    document = ingest(tmp_path, 1, 2)
    version = document.latest_version
    other = tmp_path / "other.md"
    other.write_text(TEXT.format(data_uri(png(1)), data_uri(png(3))), encoding="utf-8")
    blob = Blob.objects.create(sha256=hashlib.sha256(other.read_bytes()).hexdigest(), size_bytes=1)
    get_blob_store().put(blob.sha256, other)
    DocumentVersion.objects.filter(pk=version.pk).update(blob=blob)
    pipeline.reset(version.pk)
    with django_capture_on_commit_callbacks(execute=True):
        work_through(document)
    assert set(Figure.objects.values_list("blob_id", flat=True)) == {sha256(1), sha256(3)}
    assert not Blob.objects.filter(pk=sha256(2)).exists()
    assert {sha256(1), sha256(3)} <= set(get_blob_store().iter_names())
    assert sha256(2) not in get_blob_store().iter_names()


def test_two_documents_share_the_bytes_of_a_picture(tmp_path):
    ingest(tmp_path, 1, 2)
    ingest(tmp_path, 1, 3, name="別.md")
    assert Figure.objects.filter(blob_id=sha256(1)).count() == 2
    assert Blob.objects.filter(pk=sha256(1)).count() == 1


def test_who_may_not_read_the_document_is_told_there_is_none(tmp_path):
    document = ingest(tmp_path, 1, 2)
    stranger = principal_with(Role.READER, new_collection())
    figure = Figure.objects.first()
    with pytest.raises(NotFound):
        open_figure(stranger, document.public_id, figure.public_id)
    other = ingest(tmp_path, 4, 5, name="別.md")
    with pytest.raises(NotFound, match="fig_"):
        open_figure(local_operator(), other.public_id, figure.public_id)


def test_a_figure_is_served_as_a_file_to_save_and_described_on_demand(tmp_path, client: Client, settings):
    collection = new_collection()
    principal = principal_with(Role.CURATOR, collection)
    document = ingest(tmp_path, 1, 2, principal=principal, collection=collection.slug)
    user = User.objects.get(pk=principal.user_id)
    _row, token = create_token(principal=local_operator(), user=user, name="試験", scopes=principal.scopes)
    figure = Figure.objects.get(index=0)
    path = f"/api/v1/documents/{document.public_id}/figures/{figure.public_id}"
    answer = client.get(path, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert answer.getvalue() == png(1)
    assert answer["Content-Disposition"] == f'attachment; filename="{figure.public_id}.png"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    missing = client.get(path + "0", headers={"Authorization": f"Bearer {token}"})
    assert (missing.status_code, missing.json()["code"]) == (404, "figure_not_found")
    asked = client.post(path + "/describe", headers={"Authorization": f"Bearer {token}"})
    assert (asked.status_code, asked.json()["code"]) == (409, "figures_not_described")
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_describe_figures": True, "llm_provider": "openai"})
    asked = client.post(path + "/describe", headers={"Authorization": f"Bearer {token}"})
    assert (asked.status_code, len(asked.json()["figures"])) == (202, 3)


def test_a_passage_with_a_diagram_in_words_has_a_figure(tmp_path):
    text = "# 流れ\n\n```mermaid\nflowchart LR\n  受付 --> 審査\n```\n\n# 手順\n\n受付の手順を定める。\n"
    work_through(upload_text(local_operator(), tmp_path, text).document)
    assert dict(Chunk.objects.values_list("content", "has_figure")) == {
        "# 流れ\n\n```mermaid\nflowchart LR\n  受付 --> 審査\n```": True,
        "# 手順\n\n受付の手順を定める。": False,
    }
