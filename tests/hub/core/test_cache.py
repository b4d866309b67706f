"""Connections to the cache outlive the request that made them, and are made anew where they broke."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextvars import Context
from typing import Any

import pytest
import redis
from django.conf import settings
from django.core.cache import cache, caches


@pytest.fixture
def server(queue: None) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(str(settings.CACHES["default"]["LOCATION"])) as client:
        yield client


def connections(server: redis.Redis) -> int:
    stats: Any = server.info("stats")
    return int(stats["total_connections_received"])


def ask(key: str) -> tuple[Any, Any]:
    return cache.get(key), caches["default"]


def test_requests_have_their_own_cache_objects_and_share_a_connection(server: redis.Redis) -> None:
    cache.set("文書", "仕様書")
    before = connections(server)

    answers = [Context().run(ask, "文書") for _ in range(3)]

    assert [text for text, _cache in answers] == ["仕様書"] * 3
    assert len({id(own) for _text, own in answers}) == 3
    assert connections(server) == before


def test_a_connection_that_the_server_closed_is_made_anew(server: redis.Redis) -> None:
    cache.set("文書", "仕様書")

    server.client_kill_filter(_type="normal", skipme=True)

    assert cache.get("文書") == "仕様書"


def test_another_server_has_connections_of_its_own(server: redis.Redis, settings: Any) -> None:
    cache.set("文書", "仕様書")
    elsewhere = settings.CACHES["default"]["LOCATION"].removesuffix("1") + "2"

    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": elsewhere}}

    assert cache.get("文書") is None


class Planted:
    """A pickle that does something when it is read."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return pytest.fail, ("what was planted in the cache was run",)


def test_who_writes_into_the_cache_has_nothing_run_by_who_reads_it(server: redis.Redis) -> None:
    cache.set("文書", [1, {"版": 2.5}])
    assert cache.get("文書") == [1, {"版": 2.5}]

    server.set(cache.make_key("文書"), pickle.dumps(Planted()))

    with pytest.raises(ValueError, match="decode"):
        cache.get("文書")
