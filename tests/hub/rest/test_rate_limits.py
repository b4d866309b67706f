from __future__ import annotations

import asyncio
import logging
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import caches
from django.test import Client

from hub.rest import rate_limits
from hub.rest.rate_limits import RateLimiter, client_for_loop
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


@pytest.fixture
def four_hundred_a_minute(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_rate_limit_per_minute": 400})


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """How many calls each question to the cache counted."""
    sizes: list[int] = []
    increment = rate_limits._increment
    monkeypatch.setattr(rate_limits, "_increment", lambda key, calls: sizes.append(calls) or increment(key, calls))
    return sizes


def test_calls_are_counted_in_hundredths_of_the_limit_and_each_has_its_own_number(four_hundred_a_minute, asked):
    limiter = RateLimiter()
    assert [limiter.hit("token:101", now=60.0).used for _call in range(10)] == list(range(1, 11))
    assert asked == [4, 4, 4]


def test_exactly_as_many_calls_as_the_limit_are_served_by_one_process(four_hundred_a_minute):
    limiter = RateLimiter()
    windows = [limiter.hit("token:102", now=60.0) for _call in range(410)]
    assert [window.is_exceeded for window in windows] == [False] * 400 + [True] * 10


def test_two_processes_serve_no_call_beyond_the_limit_and_refuse_one_block_too_early_at_most(four_hundred_a_minute):
    one, other = RateLimiter(), RateLimiter()
    numbers = [limiter.hit("token:103", now=60.0).used for limiter in [one] * 2 + [other] * 410 + [one] * 10]
    served = [number for number in numbers if number <= 400]
    assert len(served) == len(set(served)) == 400


def test_threads_that_ask_at_one_time_are_never_given_the_same_number(four_hundred_a_minute):
    limiter = RateLimiter()
    with ThreadPoolExecutor(8) as threads:
        numbers = list(threads.map(lambda _call: limiter.hit("token:104", now=60.0).used, range(300)))
    assert len(set(numbers)) == 300


def test_calls_at_one_time_are_not_refused_below_the_limit(four_hundred_a_minute, monkeypatch):
    monkeypatch.setattr(rate_limits, "_minute_at", lambda _now: (8, 60))

    async def count() -> list[int]:
        client, limiter, numbers = client_for_loop(), RateLimiter(), []
        for _burst in range(40):
            windows = await asyncio.gather(*(limiter.hit_on_loop("token:110", client) for _call in range(10)))
            numbers += [window.used for window in windows]
        await client.aclose()
        return numbers

    numbers = asyncio.run(count())
    assert len(set(numbers)) == 400
    assert max(numbers) <= 403  # of a block that came last three numbers may be left


def test_a_block_ends_with_its_minute(four_hundred_a_minute):
    limiter = RateLimiter()
    assert [limiter.hit("token:105", now=now).used for now in (60.0, 61.0, 120.0, 121.0)] == [1, 2, 1, 2]


def test_a_call_that_costs_more_than_a_block_is_counted_whole(four_hundred_a_minute, monkeypatch):
    monkeypatch.setattr(rate_limits, "_minute_at", lambda _now: (7, 60))

    async def count() -> list[int]:
        client = client_for_loop()
        try:
            limiter = RateLimiter()
            windows = [await limiter.hit_on_loop("token:106", client, calls=calls) for calls in (1, 50, 1, 1)]
            return [window.used for window in windows]
        finally:
            await client.aclose()

    assert asyncio.run(count()) == [1, 54, 2, 3]


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
