"""What an operator's tools see: /metrics, and alerts that are said once and taken back."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone, translation
from prometheus_client.parser import text_string_to_metric_families

from hub.access.principals import Scope, local_operator
from hub.access.services import create_token
from hub.core.beat_signs import MISSED_KEY, SENT_KEY
from hub.core.measures import HTTP_ANSWERS, count_request, total
from hub.core.valkey import client_of
from hub.llm.budget import Budget
from hub.llm.errors import BudgetExceeded
from hub.site import alerts, counted_troubles
from knowledge.ingest.pipeline import queue_stuck, reset
from knowledge.models import DocumentVersion
from mcp_bridge.errors import internal_error
from review.models import CheckListVersion, Review
from tests.factories import upload_text
from tests.flows.faults.work import alert_channel

pytestmark = [
    pytest.mark.django_db,
    # Apprise imports every channel that it knows, some with modules that Python drops later.
    pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning"),
]


HERE = {"Host": "localhost"}


def samples(body: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    families = text_string_to_metric_families(body.decode())
    return {(item.name, tuple(item.labels.values())): item.value for family in families for item in family.samples}


def bearer(*scopes: Scope) -> dict[str, str]:
    user, _made = User.objects.get_or_create(username="ops", is_superuser=True)
    text = create_token(principal=local_operator(), user=user, name="t", scopes=frozenset(scopes))[1]
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def waiting_review() -> Review:
    """A review that has been waiting for a worker for two minutes."""
    return Review.objects.create(
        document_id_text="doc_x",
        version_number=1,
        checklist_version=CheckListVersion.objects.first() or pytest.skip("no check lists"),
        created_at=timezone.now() - timedelta(minutes=2),
    )


def test_metrics_show_requests_by_route_and_the_queue(client, waiting_review):
    route = ("GET", "healthz", "200")
    before = samples(client.get("/metrics", headers=HERE).content).get(("hub_http_requests_total", route), 0)
    client.get("/healthz")
    now = samples(client.get("/metrics", headers=HERE).content)
    assert now["hub_http_requests_total", route] == before + 1
    assert now["hub_queue_depth", ("reviews", "queued")] == 1
    assert now["hub_queue_oldest_seconds", ("reviews",)] >= 120
    assert now["hub_workers_alive", ()] == 0


FROM_ELSEWHERE = (
    {"REMOTE_ADDR": "192.0.2.1"},
    {"headers": {"X-Forwarded-For": "192.0.2.1"}},
    {"headers": {"X-Real-IP": "192.0.2.1"}},
    {"headers": {"X-Forwarded-Proto": "https"}},
    {"headers": {"Host": "hub.example"}},  # all that a proxy on this machine may pass on of where a caller comes from
)


@pytest.mark.parametrize("origin", FROM_ELSEWHERE)
def test_without_a_token_of_their_own_metrics_are_for_this_machine_only(client, settings, origin):
    settings.ALLOWED_HOSTS = ["localhost", "hub.example"]
    assert client.get("/metrics", headers=HERE).status_code == 200
    for more in ({}, bearer(Scope.AUDIT), bearer(Scope.ADMIN)):
        headers = {**HERE, **origin.get("headers", {}), **more}
        assert client.get("/metrics", **{**origin, "headers": headers}).status_code == 403


@pytest.mark.parametrize("change", [{"hub_env": "production"}, {"EMBEDDED_DATABASE": False}])
def test_in_production_metrics_always_need_their_token(client, settings, change):
    settings.EMBEDDED_DATABASE = change.pop("EMBEDDED_DATABASE", True)
    settings.CONFIG = settings.CONFIG.model_copy(update=change)
    assert client.get("/metrics", headers=bearer(Scope.AUDIT)).status_code == 403


def test_metrics_are_opened_by_their_token_and_by_no_access_token(client, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_metrics_token": "m" * 40})
    for headers in ({}, bearer(Scope.AUDIT), {"Authorization": "Bearer " + "m" * 39}, {"Authorization": "m" * 40}):
        assert client.get("/metrics", headers=headers).status_code == 401
    known = client.get("/metrics", headers={"Authorization": "Bearer " + "m" * 40}, REMOTE_ADDR="192.0.2.1")
    assert known.status_code == 200
    assert b"hub_queue_depth" in known.content


@pytest.fixture
def received(settings, queue):
    """A local channel for alerts; gives what it got."""
    with alert_channel() as (url, got):
        settings.CONFIG = settings.CONFIG.model_copy(update={"alert_urls": (url,)})
        cache.clear()
        client_of(settings.REDIS_CLIENT_URL).delete(MISSED_KEY, SENT_KEY)  # nobody has looked for beat yet
        yield got


def test_a_dead_worker_is_said_once_and_its_return_too(received, waiting_review):
    alerts.look()
    alerts.look()
    assert [item["type"] for item in received] == ["failure"]
    Review.objects.filter(pk=waiting_review.pk).update(status="cancelled")
    alerts.look()
    alerts.look()
    assert [item["type"] for item in received] == ["failure", "success"]


def test_an_alert_that_can_not_be_sent_is_tried_again(received, waiting_review, settings):
    working = settings.CONFIG
    settings.CONFIG = working.model_copy(update={"alert_urls": ("json://127.0.0.1:1/nobody",)})
    alerts.look()
    settings.CONFIG = working
    alerts.look()
    assert len(received) == 1


@pytest.fixture
def versions(tmp_path, queue):
    """Six document versions that came in just now and that nobody works on."""
    made = [upload_text(local_operator(), tmp_path, f"# 文書 {number}", name=f"{number}.md") for number in range(6)]
    return DocumentVersion.objects.filter(pk__in=[one.document.latest_version_id for one in made])


def test_a_stuck_pipeline_is_said_with_the_number_of_documents(received, versions):
    with translation.override("en"):
        assert "pipeline_stuck" not in alerts.troubles()
        versions.update(queued_at=timezone.now() - timedelta(minutes=31))
        assert alerts.troubles()["pipeline_stuck"] == "The pipeline is stuck: nobody works on 6 documents."
    versions.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert "pipeline_stuck" not in alerts.troubles()


def test_a_failing_pipeline_is_said_from_five_failures_and_half_of_what_ended(received, versions):
    failed = versions.order_by("pk")[:4].values("pk")
    DocumentVersion.objects.filter(pk__in=failed).update(status="failed", finished_at=timezone.now())
    assert "pipeline_failing" not in alerts.troubles()
    versions.update(status="failed", finished_at=timezone.now())
    alerts.look()
    assert [item["type"] for item in received] == ["failure"]
    versions.update(finished_at=timezone.now() - timedelta(minutes=16))
    alerts.look()
    assert [item["type"] for item in received] == ["failure", "success"]


def test_failing_mcp_requests_are_said_from_five_within_a_quarter_of_an_hour(received, monkeypatch):
    alerts.look()
    for number in range(5):
        alerts.look()
        assert received == [], number
        internal_error(ZeroDivisionError(), language="en")
    alerts.look()
    assert [item["type"] for item in received] == ["failure"]
    assert "5" in received[0]["message"]
    later = time.time() + 16 * 60
    monkeypatch.setattr(counted_troubles, "clock", lambda: later)
    alerts.look()
    assert [item["type"] for item in received] == ["failure", "success"]


def answer(times: int, status: int, route: str | None = "api/v1/search", *, is_known: bool = True) -> None:
    for _time in range(times):
        count_request(method="POST", route=route, status=status, is_known=is_known)


def test_failing_requests_are_said_from_five_and_one_in_twenty_on(received, monkeypatch):
    alerts.look()
    answer(95, 200)
    answer(5, 500)
    answer(50, 503, route="readyz")  # a balancer that asks again and again says nothing new
    assert "errors" not in alerts.troubles()
    answer(1, 503)
    with translation.override("en"):
        assert "6 of 101 within 15 minutes" in alerts.troubles()["errors"]
    alerts.look()
    later = time.time() + 16 * 60
    monkeypatch.setattr(counted_troubles, "clock", lambda: later)
    alerts.look()
    assert [item["type"] for item in received] == ["failure", "success"]


def test_what_strangers_ask_for_does_not_hide_that_requests_fail(client, received):
    alerts.look()
    for path in ("/nothing-here", "/healthz", "/static/hub/home.css", "/api/v1/documents", "/accounts/login/"):
        for _time in range(25):
            client.get(path).close()
    answer(100, 401, is_known=False)
    answer(100, 404, route=None)
    assert "errors" not in alerts.troubles()
    answer(5, 500)
    with translation.override("en"):
        assert "5 of 5 within 15 minutes" in alerts.troubles()["errors"]


def test_callers_with_a_token_or_a_session_are_counted(client, received):
    before = total(HTTP_ANSWERS, "answered")
    client.get("/api/v1/documents", headers=bearer(Scope.READ))
    assert total(HTTP_ANSWERS, "answered") == before + 1
    client.force_login(User.objects.get(username="ops"))
    client.get("/")
    assert total(HTTP_ANSWERS, "answered") == before + 2


def test_twenty_failures_are_said_however_many_requests_one_caller_makes(received):
    alerts.look()
    answer(2000, 200)
    answer(19, 500)
    assert "errors" not in alerts.troubles()
    answer(1, 500)
    with translation.override("en"):
        assert "20 of 2020 within 15 minutes" in alerts.troubles()["errors"]


def test_a_budget_that_is_used_up_is_said(received):
    alerts.look()
    with pytest.raises(BudgetExceeded), Budget(max_tokens=100).reserve(tokens_in=90, tokens_out=20, price=None):
        pass
    alerts.look()
    assert [item["type"] for item in received] == ["failure"]
    assert "HUB_LLM_TOKEN_BUDGET" in received[0]["message"]


def test_documents_that_wait_to_be_searchable_are_said_though_somebody_works_on_them(received, versions):
    versions.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    with translation.override("en"):
        assert "index_lag" not in alerts.troubles()
        versions.update(created_at=timezone.now() - timedelta(minutes=31))
        found = alerts.troubles()
        assert found["index_lag"] == "6 documents have waited for more than 30 minutes to become searchable."
        versions.update(status="reading")  # by OCR, which takes its time
        assert "index_lag" not in alerts.troubles()


def test_an_old_document_that_is_read_anew_has_waited_since_then(client, received, versions):
    month_ago = timezone.now() - timedelta(days=30)
    versions.update(created_at=month_ago, queued_at=month_ago, status="ready", finished_at=month_ago)
    version = versions.first()
    reset(version.pk)
    assert "index_lag" not in alerts.troubles()
    now = samples(client.get("/metrics", headers=HERE).content)
    assert now["hub_index_lag_seconds", ()] < 60
    DocumentVersion.objects.filter(pk=version.pk).update(reset_at=timezone.now() - timedelta(minutes=31))
    queue_stuck()  # a sweep that gives it out again ends no waiting
    assert "index_lag" in alerts.troubles()
    DocumentVersion.objects.filter(pk=version.pk).update(status="ready", finished_at=timezone.now())
    now = samples(client.get("/metrics", headers=HERE).content)
    assert 31 * 60 <= now["hub_ingestion_seconds_sum", ()] < 32 * 60  # and no month


def test_a_quiet_hub_says_nothing(received):
    alerts.look()
    assert received == []


@pytest.fixture
def dead_queue(settings):
    """A function that takes the queue and the cache away, and one that gives them back."""
    working = settings.CACHES, settings.REDIS_CLIENT_URL
    dead = "redis://127.0.0.1:1/0"  # nobody listens there

    def take_away() -> None:
        settings.CACHES = {"default": {**working[0]["default"], "LOCATION": dead}}
        settings.REDIS_CLIENT_URL = dead

    def give_back() -> None:
        settings.CACHES, settings.REDIS_CLIENT_URL = working

    return take_away, give_back


def test_a_queue_that_is_away_is_said_once_though_the_cache_can_not_keep_what_was_said(received, dead_queue):
    take_away, give_back = dead_queue
    take_away()
    alerts.look()
    alerts.look()
    assert [item["type"] for item in received] == ["failure"]
    assert "REDIS_URL" in received[0]["message"]
    give_back()
    alerts.look()
    alerts.look()
    assert [item["type"] for item in received] == ["failure", "success"]


def test_what_was_said_before_the_queue_went_away_is_neither_new_nor_over(received, dead_queue, waiting_review):
    take_away, give_back = dead_queue
    alerts.look()
    take_away()
    alerts.look()
    give_back()
    alerts.look()
    assert [item["type"] for item in received] == ["failure", "failure", "success"]
    assert "worker" not in received[1]["message"]
    assert "REDIS_URL" in received[2]["message"]
    Review.objects.filter(pk=waiting_review.pk).update(status="cancelled")
    alerts.look()
    assert [item["type"] for item in received][3:] == ["success"]
