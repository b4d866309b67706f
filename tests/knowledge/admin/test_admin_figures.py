"""A document's figures in the admin: seen by its readers, with a model's words under the model's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role
from knowledge.ingest.figures import describe_figure, take_due_figures
from knowledge.models import Collection, Document, Figure
from tests.hub.admin.support import client_of, grant, make_user
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.knowledge.ingest.test_figures import ingest
from tests.knowledge.parsers.pictures import png
from tests.llm_server import MODEL

pytestmark = pytest.mark.django_db
PAGE = "admin:knowledge_document_figures"
PICTURE = "admin:knowledge_document_figure"
DESCRIBE = "admin:knowledge_document_figure_describe"


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return ingest(tmp_path, 1, 2)


@pytest.fixture
def curator() -> Any:
    return client_of(make_user("佐藤", is_superuser=True))


def test_figures_are_shown_with_caption_and_a_model_s_words_under_its_name(document: Document, curator: Any) -> None:
    Figure.objects.filter(index=0).update(description="二つの箱 <b>", description_model="seer-1")
    Figure.objects.filter(index=1).update(description_error="llm_refused", description_not_before=None)
    shown = curator.get(reverse(PAGE, args=[document.pk])).content.decode()
    assert "図1 全体構成" in shown
    assert "二つの箱 &lt;b&gt;" in shown
    assert "seer-1" in shown
    assert "llm_refused" in shown
    assert (
        reverse(PAGE, args=[document.pk])
        in curator.get(reverse("admin:knowledge_document_change", args=[document.pk])).content.decode()
    )


def test_a_picture_is_shown_as_one_and_what_could_hold_a_script_is_saved(document: Document, curator: Any) -> None:
    figure = Figure.objects.get(index=0)
    address = reverse(PICTURE, args=[document.pk, figure.public_id])
    answer = curator.get(address)
    assert answer.getvalue() == png(1)
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("image/png", "nosniff")
    Figure.objects.filter(pk=figure.pk).update(media_type="image/svg+xml")
    answer = curator.get(address)
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer.getvalue() == png(1)
    assert curator.get(reverse(PICTURE, args=[document.pk, "fig_x"])).status_code == 404


def test_a_curator_has_a_figure_described_again(document: Document, curator: Any, configured: Any, configure: Any):  # noqa: F811
    configure(hub_describe_figures=True)
    configured.answer = lambda _body: json.dumps({"description": "二つの箱が並ぶ。"}, ensure_ascii=False)
    figure = Figure.objects.get(index=0)
    Figure.objects.update(description_error="llm_refused", description_not_before=None)
    assert take_due_figures() == []
    shown = curator.post(reverse(DESCRIBE, args=[document.pk, figure.public_id]), follow=True).content.decode()
    assert figure.public_id in shown
    assert take_due_figures() == [figure.pk]
    assert AuditEvent.objects.filter(action="FIGURE_DESCRIBE", principal="佐藤").count() == 1
    assert describe_figure(figure.pk) is True
    shown = curator.get(reverse(PAGE, args=[document.pk])).content.decode()
    assert "二つの箱が並ぶ。" in shown
    assert MODEL in shown


def test_without_a_model_nothing_is_dropped(document: Document, curator: Any) -> None:
    Figure.objects.update(description="二つの箱", description_model="seer-1")
    figure = Figure.objects.get(index=0)
    shown = curator.post(reverse(DESCRIBE, args=[document.pk, figure.public_id]), follow=True).content.decode()
    assert "HUB_DESCRIBE_FIGURES" in shown
    figure.refresh_from_db()
    assert figure.description == "二つの箱"


def test_readers_see_figures_and_others_see_nothing(document: Document, configured: Any, configure: Any):  # noqa: F811
    configure(hub_describe_figures=True)
    figure = Figure.objects.get(index=0)
    reader, stranger = make_user("高橋"), make_user("田中")
    grant(reader, Role.READER, Collection.objects.get(slug="default"))
    addresses = [reverse(PAGE, args=[document.pk]), reverse(PICTURE, args=[document.pk, figure.public_id])]
    asked = reverse(DESCRIBE, args=[document.pk, figure.public_id])
    assert [_status(reader, address) for address in addresses] == [200, 200]
    assert asked not in client_of(reader).get(addresses[0]).content.decode()
    client_of(reader).post(asked)
    assert not AuditEvent.objects.filter(action="FIGURE_DESCRIBE").exists()
    assert [_status(stranger, address) for address in addresses] == [404, 404]
    assert client_of(stranger).post(asked).status_code == 404


def _status(user: User, address: str) -> int:
    answer = client_of(user).get(address)
    if answer.streaming:
        answer.getvalue()  # closes the file
    return int(answer.status_code)


def test_more_figures_cost_no_more_queries(document: Document, curator: Any) -> None:
    address = reverse(PAGE, args=[document.pk])
    curator.get(address)
    with CaptureQueriesContext(connection) as few:
        curator.get(address)
    first = Figure.objects.get(index=0)
    for index in range(2, 22):
        Figure.objects.create(version=first.version, index=index, blob=first.blob, media_type="image/png")
    with CaptureQueriesContext(connection) as many:
        curator.get(address)
    assert len(many) == len(few)
