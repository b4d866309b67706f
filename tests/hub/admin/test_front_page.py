"""The front page of who runs the hub: alerts that stand now, charts that count every minute; nothing for others."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole
from hub.core.beat_signs import SENT_KEY
from hub.core.scheduled_rows import keep_failures
from hub.core.valkey import client_of
from knowledge.models import Collection, CollectionGrant, Document, OperationSample, Source
from tests.hub.admin.support import client_of as browser_of
from tests.hub.admin.support import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def dead_beat(settings):
    client = client_of(settings.REDIS_CLIENT_URL)
    client.set(SENT_KEY, timezone.now().timestamp() - 300)
    yield
    client.delete(SENT_KEY)
    cache.clear()


def sample(minute: int, **facts: object) -> OperationSample:
    at = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=60 - minute)
    return OperationSample.objects.create(at=at, waiting=1, failed=0, stored_bytes=10, **facts)


def lines_of(page: str) -> dict[str, dict[str, Any]]:
    """The lines of all charts of the front page by their label."""
    charts = [json.loads(html.unescape(data)) for data in re.findall(r'data-value="([^"]+)"', page)]
    return {one["label"]: one for chart in charts for one in chart["datasets"]}


def test_time_without_samples_is_a_gap_as_wide_as_it_was_long():
    for minute in (0, 10, 40, 60):
        sample(minute, finished=20)
    page = browser_of(make_user("operator", is_superuser=True)).get("/admin/").content.decode()
    line = lines_of(page)["1分あたりの完了"]
    assert line["data"] == [20.0, 20.0, None, None, 20.0, None, 20.0]
    assert (line["spanGaps"], line["pointRadius"]) == (False, [0, 0, 0, 0, 2, 0, 2])


def test_the_front_page_says_that_it_counts_what_one_may_read():
    user = make_user("運用")
    HubRoleGrant.objects.create(user=user, role=HubRole.OPERATOR)
    page = browser_of(user).get("/admin/").content.decode()
    assert "閲覧できるレビューはありません" in page
    assert "閲覧できる文書" in page
    assert "ハブ全体の数字です" not in page
    Document.objects.create(collection=Collection.objects.get(slug="default"), path="a.md", title="A")
    page = browser_of(user).get("/admin/").content.decode()
    assert "ハブ全体の数字です。開けない文書 1 件も含みます" in page


def test_operators_see_alerts_model_cost_and_questions_without_evidence(dead_beat):
    for minute in range(0, 60, 10):
        sums = {"cost_usd": 0.25 * minute, "answered": minute, "no_evidence": minute // 10}
        sample(minute, finished=20, searches={"0.1": minute, "+Inf": minute}, sums=sums)
    page = browser_of(make_user("operator", is_superuser=True)).get("/admin/").content.decode()
    assert "定期処理が止まっています" in page
    assert "12.50 USD" in page
    assert "1日以上の記録から計算します" in page  # samples of an hour forecast nothing
    labelled = {label: one["data"] for label, one in lines_of(page).items()}
    assert labelled["1分あたりの完了"] == [20.0] * 6
    assert labelled["検索の95%がこの時間以内（秒）"][-1] == 10.0  # the last step of the measures
    assert labelled["米ドル"][-1] == 2.5


def test_who_does_not_run_the_hub_sees_none_of_it(dead_beat):
    page = browser_of(make_user("reader")).get("/admin/").content.decode()
    assert "定期処理が止まっています" not in page
    assert "USD" not in page


@pytest.fixture
def failed_retention():
    keep_failures("knowledge.enforce_retention", ["人事案件/doc_1"])
    yield
    keep_failures("knowledge.enforce_retention", [])


def test_alerts_name_to_operators_what_they_may_see_and_count_the_rest(failed_retention):
    own, other = (Collection.objects.create(slug=slug, name=slug) for slug in ("own", "人事案件"))
    for collection, name in ((own, "設計書の棚"), (other, "懲戒の棚")):
        Source.objects.create(
            name=name, kind="folder", location="/nowhere", collection=collection, report={"state": "failed"}
        )
    operator = make_user("運用")
    HubRoleGrant.objects.create(user=operator, role=HubRole.OPERATOR)
    CollectionGrant.objects.create(user=operator, collection=own, role="curator")
    page = browser_of(operator).get("/admin/").content.decode()
    assert "設計書の棚" in page
    assert "ほかに 1 件" in page
    assert "knowledge.enforce_retention は 1 件で失敗し" in page
    assert "懲戒の棚" not in page
    assert "人事案件" not in page
    page = browser_of(make_user("root", is_superuser=True)).get("/admin/").content.decode()
    assert "懲戒の棚" in page
    assert "人事案件/doc_1" in page
