from __future__ import annotations

import logging
import socket

import pytest
from django.core.cache import caches
from django.test import Client

from hub.rest.rate_limits import RateLimiter
from tests.hub.rest.conftest import Caller, make_caller
from tests.hub.rest.test_problems import assert_problem


@pytest.fixture
def two_a_minute(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_rate_limit_per_minute": 2})


@pytest.fixture
def cache_down(settings):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": f"redis://127.0.0.1:{port}/1"}}


def test_a_window_counts_up_and_starts_again_with_the_next_minute(two_a_minute):
    limiter = RateLimiter()
    minute = 60.0 * 1000

    windows = [limiter.hit("token:1", now=minute + second) for second in (0, 30, 59, 60)]

    assert [window.remaining for window in windows] == [1, 0, 0, 1]
    assert [window.is_exceeded for window in windows] == [False, False, True, False]
    assert [window.reset_s for window in windows] == [60, 30, 1, 60]


def test_subjects_are_counted_apart_and_processes_together(two_a_minute):
    RateLimiter().hit("token:1", now=60.0)
    RateLimiter().hit("token:2", now=60.0)

    assert RateLimiter().hit("token:1", now=60.0).used == 2


def first_refusal(call):
    # five calls with a limit of two: even when a minute begins in between, one minute gets three of them
    refused = [response for response in (call() for _ in range(5)) if response.status_code == 429]
    assert refused
    return refused[0]


def test_too_many_calls_of_a_token_are_refused_with_a_time_to_come_back(caller: Caller, two_a_minute):
    response = first_refusal(lambda: caller.get("/whoami"))

    problem = assert_problem(response, 429, "rate_limited")
    assert "HUB_RATE_LIMIT_PER_MINUTE" in problem["detail"]
    assert 1 <= int(response["Retry-After"]) <= 60
    assert response["RateLimit-Limit"] == "2"
    assert response["RateLimit-Remaining"] == "0"
    assert response["RateLimit-Reset"] == response["Retry-After"]


def test_another_token_is_not_held_up(caller: Caller, two_a_minute):
    first_refusal(lambda: caller.get("/whoami"))

    assert make_caller("鈴木").get("/whoami").status_code == 200


def test_wrong_tokens_are_counted_by_address_and_do_not_hold_up_good_ones(caller: Caller, two_a_minute):
    def guess():
        return Client().get("/api/v1/whoami", headers={"Authorization": "Bearer hub_guess"})

    assert_problem(first_refusal(guess), 429, "rate_limited")
    assert caller.get("/whoami").status_code == 200


def test_every_counted_answer_tells_what_is_left(caller: Caller):
    response = caller.get("/whoami")

    assert int(response["RateLimit-Remaining"]) == int(response["RateLimit-Limit"]) - 1


def test_calls_go_on_uncounted_while_the_cache_is_down(caller: Caller, cache_down, caplog):
    with caplog.at_level(logging.WARNING, logger="hub.rest.rate_limits"):
        responses = [caller.get("/whoami") for _ in range(3)]

    assert [response.status_code for response in responses] == [200, 200, 200]
    assert "RateLimit-Limit" not in responses[0]
    # asked once, then left alone for a while
    assert caplog.text.count("the cache does not answer") == 1
    caches.close_all()
