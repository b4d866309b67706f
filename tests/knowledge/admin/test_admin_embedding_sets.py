"""The page of embedding sets: who sees it, who may act, and that its buttons ask the services."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from hub.access.principals import Role, local_operator
from hub.evaluation.models import EvaluationRun
from knowledge.evaluation.questions import import_retrieval_cases
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import Collection, EmbeddingSet
from knowledge.tasks import measure_set
from tests.factories import make_hub_curator
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
LIST = "admin:knowledge_embeddingset_changelist"


@pytest.fixture(autouse=True)
def first_set(db: None) -> EmbeddingSet:
    return active_embedding_set()


def new_set(**more: str) -> dict[str, str]:
    return {"name": "小さく切る", "backend": "bundled", "chunk_size": "100", **more}


def test_superusers_make_build_and_drop_a_set() -> None:
    client = client_of(make_user("root", is_superuser=True))
    client.post(reverse("admin:knowledge_embeddingset_create"), new_set())
    made = EmbeddingSet.objects.get(name="小さく切る")
    page = client.get(reverse(LIST)).content.decode()
    assert "小さく切る" in page
    assert "見出しごと、100 トークン、重なり 50" in page
    assert reverse("admin:knowledge_embeddingset_switch", args=[made.pk]) not in page
    client.post(reverse("admin:knowledge_embeddingset_build", args=[made.pk]))
    made.refresh_from_db()
    assert made.build_started_at is not None
    progress = client.get(reverse("admin:knowledge_embeddingset_progress"), {"of": str(made.pk)}).json()
    assert progress[str(made.pk)]["status"] == "building"
    client.post(reverse("admin:knowledge_embeddingset_drop", args=[made.pk]))
    made.refresh_from_db()
    assert made.status == "dropped"


def test_a_set_may_cut_by_another_strategy() -> None:
    client = client_of(make_user("root", is_superuser=True))
    client.post(reverse("admin:knowledge_embeddingset_create"), new_set(chunk_size="", chunk_strategy="semantic"))
    assert str(EmbeddingSet.objects.get(name="小さく切る").policy) == "semantic 512/50 tokens"


@pytest.mark.parametrize("language", ["ja", "en"])
def test_what_a_service_refuses_is_told(language: str, first_set: EmbeddingSet) -> None:
    client = client_of(make_user("root", is_superuser=True), language=language)
    page = client.post(reverse("admin:knowledge_embeddingset_create"), new_set(chunk_size="9999"), follow=True)
    assert "9999" in page.content.decode()
    refused = client.post(reverse("admin:knowledge_embeddingset_drop", args=[first_set.pk]), follow=True)
    assert first_set.name in str(next(iter(refused.context["messages"])))
    assert client.post(reverse("admin:knowledge_embeddingset_rollback"), follow=True).status_code == 200
    first_set.refresh_from_db()
    assert first_set.is_active


def test_curators_look_and_may_not_act() -> None:
    curator = make_hub_curator(make_user("curator"))
    client = client_of(curator)
    page = client.get(reverse(LIST)).content.decode()
    assert "multilingual-e5-small" in page
    assert "<form" not in page.split("hub-sets")[1]
    client.post(reverse("admin:knowledge_embeddingset_create"), new_set())
    assert EmbeddingSet.objects.count() == 1


def test_staff_without_a_role_of_the_hub_see_nothing() -> None:
    user = make_user("nobody")
    grant(user, Role.ADMINISTRATOR, Collection.objects.get(slug="default"))
    assert client_of(user).get(reverse(LIST)).status_code == 403


def test_a_comparison_is_followed_on_the_page_until_its_figures_are_there(first_set: EmbeddingSet) -> None:
    line = json.dumps({"query": "画面は何秒で応答するか", "relevant": ["性能.md"]})
    import_retrieval_cases(principal=local_operator(), dataset="gold", lines=[line])
    client = client_of(make_user("root", is_superuser=True), language="en")
    client.post(reverse("admin:knowledge_embeddingset_compare", args=[first_set.pk]), {"dataset": "gold"})
    run = EvaluationRun.objects.get(baseline__isnull=False)
    assert f'data-progress-of="{run.public_id}"' in client.get(reverse(LIST)).content.decode()
    address = reverse("admin:knowledge_embeddingset_progress")
    waiting = client.get(address, {"of": f"{run.public_id},{first_set.pk}"}).json()
    assert (waiting[run.public_id]["done"], waiting[str(first_set.pk)]["done"]) == (False, True)
    measure_set(run_id=run.pk)
    assert client.get(address, {"of": run.public_id}).json()[run.public_id]["status"] == "completed"
    page = client.get(reverse(LIST)).content.decode()
    assert "0.000 [0.000, 0.000]" in page
    assert "data-progress-of" not in page
