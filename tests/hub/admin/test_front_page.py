"""The front page of who runs the hub: alerts that stand now, charts that count every minute; nothing for others."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from hub.core.beat_signs import KEY
from hub.core.valkey import client_of
from knowledge.models import OperationSample
from tests.hub.admin.support import client_of as browser_of
from tests.hub.admin.support import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def dead_beat(settings):
    client = client_of(settings.REDIS_CLIENT_URL)
    client.set(KEY, timezone.now().timestamp() - 300)
    yield
    client.delete(KEY)
    cache.clear()


def sample(minute: int, **facts: object) -> OperationSample:
    at = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=60 - minute)
    return OperationSample.objects.create(at=at, waiting=1, failed=0, stored_bytes=10, **facts)


def test_operators_see_alerts_model_cost_and_questions_without_evidence(dead_beat):
    for minute in range(0, 60, 10):
        sums = {"cost_usd": 0.25 * minute, "answered": minute, "no_evidence": minute // 10}
        sample(minute, finished=20, searches={"0.1": minute, "+Inf": minute}, sums=sums)
    page = browser_of(make_user("operator", is_superuser=True)).get("/admin/").content.decode()
    assert "定期処理が止まっています" in page
    assert "12.50 USD" in page
    charts = [json.loads(html.unescape(data)) for data in re.findall(r'data-value="([^"]+)"', page)]
    labelled = {one["label"]: one["data"] for chart in charts for one in chart["datasets"]}
    assert labelled["1分あたりの完了"] == [20.0] * 6
    assert labelled["検索の95%がこの時間以内（秒）"][-1] == 10.0  # the last step of the measures
    assert labelled["米ドル"][-1] == 2.5


def test_who_does_not_run_the_hub_sees_none_of_it(dead_beat):
    page = browser_of(make_user("reader")).get("/admin/").content.decode()
    assert "定期処理が止まっています" not in page
    assert "USD" not in page
