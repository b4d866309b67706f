"""Pictures described by a model that sees: off by default, never in the way, labelled, and paid for once."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from django.db.models.functions import Now

from hub.access.principals import Classification, local_operator
from hub.core.errors import Conflict
from hub.llm.models import RecordedAnswer
from knowledge.documents.reading import describe_figure_again, get_structure
from knowledge.ingest import pipeline
from knowledge.ingest.figures import describe_figure, take_due_figures
from knowledge.models import Chunk, Document, DocumentStatus, DocumentVersion, Figure
from tests.factories import work_through
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.knowledge.ingest.test_figures import ingest
from tests.knowledge.parsers.pictures import png
from tests.llm_server import MODEL, Fault

pytestmark = pytest.mark.django_db

SEEN = "二つの箱が矢印で結ばれた構成図。左に「受付」、右に「審査」と読める。"


@pytest.fixture
def seeing(configured, configure):  # noqa: F811
    configure(hub_describe_figures=True)
    configured.answer = lambda _body: json.dumps({"description": SEEN}, ensure_ascii=False)
    return configured


def described(document: Document) -> list[tuple[str | None, str | None]]:
    figures = get_structure(local_operator(), document.public_id).figures
    return [(figure.description, figure.description_model) for figure in figures]


def test_nothing_is_described_unless_it_is_asked_for_and_there_is_a_model(tmp_path: Path, configure):  # noqa: F811
    document = ingest(tmp_path, 1, 2)
    assert take_due_figures() == []
    configure(hub_describe_figures=True)
    assert take_due_figures() == []
    assert describe_figure(Figure.objects.first().pk) is False
    assert described(document) == [(None, None)] * 3


def test_a_ready_document_s_pictures_are_described_under_the_model_s_name(tmp_path: Path, seeing):
    document = ingest(tmp_path, 1, 2)
    assert document.latest_version.status == DocumentStatus.READY
    assert seeing.requests == []  # nobody waited for it
    assert [describe_figure(key) for key in take_due_figures()] == [True, True]
    assert described(document) == [(SEEN, MODEL), (SEEN, MODEL), (None, None)]
    text, picture = seeing.requests[0]["messages"][1]["content"]
    assert "図1 全体構成" in text["text"]
    assert picture["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(png(1)).decode()
    assert not Chunk.objects.filter(content__contains="矢印").exists()


def test_a_described_picture_is_not_asked_about_again_even_when_the_document_is_read_again(tmp_path: Path, seeing):
    document = ingest(tmp_path, 1, 2)
    keys = take_due_figures()
    assert [describe_figure(key) for key in keys + keys] == [True, True, False, False]
    pipeline.reset(document.latest_version_id)
    work_through(document)
    assert take_due_figures() == []
    assert len(seeing.requests) == 2


def test_pictures_in_a_file_that_personal_data_was_taken_out_of_are_not_described(tmp_path: Path, seeing):
    document = ingest(tmp_path, 1, 2)
    assert take_due_figures()
    DocumentVersion.objects.update(anonymised={})
    assert take_due_figures() == []
    figure = Figure.objects.filter(media_type="image/png").first()
    with pytest.raises(Conflict) as refused:
        describe_figure_again(principal=local_operator(), document_id=document.public_id, figure_id=figure.public_id)
    assert refused.value.error_code == "figures_of_anonymised"
    assert seeing.requests == []


def test_an_answer_that_came_before_a_crash_is_taken_from_the_recordings(tmp_path: Path, seeing):
    document = ingest(tmp_path, 1, 2)
    first = take_due_figures()[0]
    describe_figure(first)
    Figure.objects.filter(pk=first).update(description="", description_model="", description_not_before=Now())
    assert describe_figure(first) is True
    assert described(document)[0] == (SEEN, MODEL)
    assert len(seeing.requests) == 1


def test_a_model_that_is_away_is_asked_again_later(tmp_path: Path, seeing, configure):  # noqa: F811
    ingest(tmp_path, 1, 2)
    first = take_due_figures()[0]
    configure(llm_timeout_s=1.0)
    seeing.script = [Fault.BROKEN] * 10
    assert describe_figure(first) is False
    figure = Figure.objects.get(pk=first)
    assert (figure.description, figure.description_error) == ("", "llm_unavailable")
    assert first not in take_due_figures()
    seeing.script = []
    Figure.objects.filter(pk=first).update(description_not_before=Now())
    assert describe_figure(first) is True
    assert Figure.objects.get(pk=first).description_error == ""


@pytest.mark.parametrize(("fault", "code"), [(Fault.REFUSE, "llm_refused"), (Fault.WRONG_SCHEMA, "llm_wrong_schema")])
def test_what_repeating_does_not_help_is_not_repeated(tmp_path: Path, seeing, fault, code):
    ingest(tmp_path, 1, 2)
    first = take_due_figures()[0]
    seeing.script = [fault]
    assert describe_figure(first) is False
    figure = Figure.objects.get(pk=first)
    assert (figure.description, figure.description_error, figure.description_not_before) == ("", code, None)
    assert first not in take_due_figures()


def test_the_figures_of_a_document_share_one_budget(tmp_path: Path, seeing, configure):  # noqa: F811
    ingest(tmp_path, 1, 2)
    configure(llm_max_output_tokens=100)
    first, second = take_due_figures()
    assert describe_figure(first) is True
    spent = RecordedAnswer.objects.get()
    configure(hub_llm_token_budget=spent.tokens_in + spent.tokens_out + 100)
    assert describe_figure(second) is False
    assert Figure.objects.get(pk=second).description_error == "llm_budget_exceeded"
    assert len(seeing.requests) == 1


def test_a_picture_classified_too_high_stays_inside(tmp_path: Path, seeing, configure, monkeypatch):  # noqa: F811
    document = ingest(tmp_path, 1, 2)
    Document.objects.filter(pk=document.pk).update(classification=Classification.C3)
    monkeypatch.setattr("hub.llm.providers.openai_compatible.is_private_host", lambda _url: False)
    first = take_due_figures()[0]
    assert describe_figure(first) is False
    assert Figure.objects.get(pk=first).description_error == "llm_classification_too_high"
    assert seeing.requests == []


def test_pictures_of_versions_that_search_does_not_see_are_left_alone(tmp_path: Path, seeing):
    document = ingest(tmp_path, 1, 2)
    Document.objects.filter(pk=document.pk).update(retired_at=Now())
    assert take_due_figures() == []
