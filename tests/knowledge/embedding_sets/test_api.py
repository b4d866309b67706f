"""Embedding sets over REST: the whole life of one, who may, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token
from hub.evaluation.models import EvaluationRun
from knowledge.embedding_sets import builds
from knowledge.evaluation import questions
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import Collection, EmbeddingSet
from knowledge.tasks import measure_set
from tests.factories import make_hub_curator, upload_text, work_through
from tests.hub.admin.support import grant, make_user
from tests.knowledge.search.shelf import Library

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]

QUESTION = {"query": "画面は何秒で応答するか", "relevant": ["性能.md"]}


def caller(name: str, *, role: Role | None = None, curates_hub: bool = False) -> Any:
    """The API as a superuser, or as somebody with a role in the default collection, with every scope on the token."""
    user = make_user(name, is_superuser=role is None)
    if role is not None:
        grant(user, role, Collection.objects.get(slug="default"))
    if curates_hub:
        make_hub_curator(user)
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)

    def ask(method: str, path: str, body: object | None = None) -> Any:
        return Client().generic(
            method,
            f"/api/v1/embedding-sets{path}",
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"},
        )

    return ask


@pytest.mark.django_db(transaction=True)  # an index is built outside of any
def test_a_set_is_made_built_compared_switched_to_gone_back_from_and_dropped(tmp_path: Path, capsys: Any) -> None:
    text = "# 性能\n\n画面の応答時間は通常時3秒以内とする。\n"
    work_through(upload_text(local_operator(), tmp_path, text, name="性能.md").document)
    first = active_embedding_set().name
    call = caller("管理者")
    made = call("POST", "", {"name": "次 1", "backend": "bundled"})
    assert (made.status_code, made["Location"]) == (201, "/api/v1/embedding-sets/%E6%AC%A1%201")
    assert (made.json()["status"], made.json()["done"], made.json()["total"]) == ("building", 0, 1)
    assert call("POST", "/次 1/switch").json()["code"] == "embedding_set_incomplete"

    started = call("POST", "/次 1/build")
    assert (started.status_code, started["Location"]) == (202, made["Location"])
    while builds.build_slice(EmbeddingSet.objects.get(name="次 1").pk):
        pass
    built = call("GET", "/次 1").json()
    assert (built["status"], built["progress"], built["is_active"]) == ("ready", 100, False)

    questions.import_retrieval_cases(principal=local_operator(), dataset="gold", lines=[json.dumps(QUESTION)])
    asked = call("POST", "/compare", {"dataset": "gold", "candidate": "次 1", "wait_seconds": 0})
    queued = asked.json()
    assert (asked.status_code, queued["status"], queued["progress"], queued["metrics"]) == (202, "queued", 0, {})
    address = asked["Location"].removeprefix("/api/v1/embedding-sets")
    assert address == f"/comparisons/{queued['run_id']}"
    measure_set(run_id=EvaluationRun.objects.get(public_id=queued["run_id"]).pk)
    compared = call("GET", address).json()
    assert (compared["status"], compared["progress"], compared["error"]) == ("completed", 100, None)
    assert (compared["subject"], compared["baseline"]) == ("次 1", first)
    assert compared["metrics"]["delta"]["ndcg@10"]["value"] == 0
    assert caller("鈴木", role=Role.CURATOR, curates_hub=True)("GET", address).status_code == 404, (
        "reads no dataset that does not name them"
    )

    assert call("POST", "/次 1/switch").json()["is_active"] is True
    assert call("DELETE", "/次 1").json()["code"] == "embedding_set_active"
    assert call("POST", "/rollback").json()["name"] == first
    dropped = call("DELETE", "/次 1")
    assert (dropped.status_code, dropped.json()["status"], dropped.json()["total"]) == (202, "dropped", None)

    listed = call("GET", "").json()
    assert [(one["name"], one["is_active"]) for one in listed["embedding_sets"]] == [("次 1", False), (first, True)]
    call_command("embedding_set", "list", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert without_times(printed) == without_times(listed)
    actions = set(AuditEvent.objects.filter(action__startswith="EMBEDDING_SET").values_list("action", flat=True))
    assert actions == {f"EMBEDDING_SET_{what}" for what in ("CREATE", "BUILD", "COMPARE", "SWITCH", "DROP")}


def without_times(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The sets of an answer; both doors write times, each as its JSON does."""
    return [{name: one[name] for name in one if not name.endswith("_at")} for one in answer["embedding_sets"]]


def test_curators_look_and_nobody_but_administrators_of_the_hub_changes_anything() -> None:
    active = active_embedding_set().name
    curator = caller("佐藤", role=Role.CURATOR, curates_hub=True)
    reader = caller("高橋", role=Role.CURATOR)
    assert curator("GET", f"/{active}").json()["is_active"] is True
    assert reader("GET", "").status_code == reader("GET", f"/{active}").status_code == 403
    collection_admin = caller("田中", role=Role.ADMINISTRATOR)
    changes = [
        ("POST", "", {"name": "x"}),
        ("POST", f"/{active}/build", None),
        ("POST", f"/{active}/switch", None),
        ("POST", "/rollback", None),
        ("DELETE", f"/{active}", None),
    ]
    for method, path, body in changes:
        for call in (curator, collection_admin):
            assert call(method, path, body).status_code == 403, path
    assert EmbeddingSet.objects.count() == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nobody", None, 404),
        ("POST", "/nobody/build", None, 404),
        ("DELETE", "/nobody", None, 404),
        ("POST", "", {"name": " "}, 422),
        ("POST", "", {"name": "x\u0000y"}, 422),
        ("POST", "", {"name": "x" * 101}, 422),
        ("POST", "", {"name": "x", "backend": "word2vec"}, 422),
        ("POST", "", {"name": "x", "chunking": {"size": 100_000}}, 422),
        ("POST", "/rollback", None, 409),
        ("POST", "/compare", {"dataset": "x\u0000", "candidate": "y"}, 422),
        ("POST", "/compare", {"dataset": "nothing", "candidate": "y"}, 404),
        ("GET", "/%00", None, 404),
        ("GET", "/comparisons/run_nothing", None, 404),
        ("GET", "/comparisons/%00", None, 404),
    ],
)
def test_what_can_not_be_is_refused_with_a_problem(method: str, path: str, body: object, status: int) -> None:
    active_embedding_set()
    answer = caller("管理者")(method, path, body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")


def test_the_list_asks_as_many_queries_for_each_set_whatever_it_holds(django_assert_max_num_queries: Any) -> None:
    Library(slug="default").add("性能.md", [f"画面{number}の応答時間は3秒以内とする。" for number in range(20)])
    call = caller("管理者")
    with django_assert_max_num_queries(16):
        call("GET", "")


def test_a_comparison_is_finished_at_once_where_no_worker_is_alive_and_says_why_it_failed(tmp_path: Path) -> None:
    work_through(upload_text(local_operator(), tmp_path, "# 性能\n\n応答は3秒以内とする。\n", name="性能.md").document)
    active = active_embedding_set().name
    questions.import_retrieval_cases(principal=local_operator(), dataset="gold", lines=[json.dumps(QUESTION)])
    call = caller("管理者")
    done = call("POST", "/compare", {"dataset": "gold", "candidate": active}).json()
    assert (done["status"], done["metrics"]["recall@10"]["value"]) == ("completed", 1)
    waiting = call("POST", "/compare", {"dataset": "gold", "candidate": active, "wait_seconds": 0}).json()
    run = EvaluationRun.objects.get(public_id=waiting["run_id"])
    EvaluationRun.objects.filter(pk=run.baseline_id).update(parameters={**run.parameters, "embedding_set": 0})
    measure_set(run_id=run.pk)
    failed = call("GET", f"/comparisons/{run.public_id}").json()
    assert (failed["status"], failed["metrics"]) == ("failed", {})
    assert failed["error"] == "the run to compare with failed: the embedding set is gone"
