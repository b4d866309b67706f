"""Costly work is done one call of each caller at a time, and a bounded number of callers at a time."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.utils import translation

from hub.access.principals import ALL_SCOPES, Classification, Principal
from hub.access.turns import Turns
from hub.core.errors import TooManyAtOnce, Unavailable

PATIENCE_S = 20


def person(user_id: int, *, token_id: int = 1) -> Principal:
    return Principal(
        name=f"p{user_id}", user_id=user_id, scopes=ALL_SCOPES, ceiling=Classification.C1, token_id=token_id
    )


def turns_of(most: int, *, most_waiting: int = 0, wait_s: float = PATIENCE_S) -> Turns:
    return Turns(most=most, most_waiting=most_waiting, wait_s=wait_s)


def took(turns: Turns, principal: Principal) -> bool:
    with turns.taken_by(principal):
        return True


def test_a_second_call_of_a_caller_is_refused_at_once_whatever_token_it_came_with() -> None:
    turns = turns_of(3)
    with turns.taken_by(person(1)):
        with translation.override("en"), pytest.raises(TooManyAtOnce, match="Wait for its answer") as refused:
            took(turns, person(1, token_id=2))
        assert refused.value.status == 429
        assert took(turns, person(2))
    assert took(turns, person(1))


def test_so_many_calls_of_a_caller_wait_for_the_one_before() -> None:
    turns, order = turns_of(3, most_waiting=2), list[str]()

    def work() -> None:
        with turns.taken_by(person(1)):
            order.append("another")

    with ThreadPoolExecutor(2) as threads:
        with turns.taken_by(person(1)):
            waiting: list[Future[None]] = [threads.submit(work) for _ in range(2)]
            while turns._calls["user:1"] < 3:
                assert not any(done.done() for done in waiting)
            with pytest.raises(TooManyAtOnce):
                took(turns, person(1))
            order.append("first")
        for done in waiting:
            done.result(PATIENCE_S)
    assert order == ["first", "another", "another"]
    assert not turns._calls


def test_who_finds_all_turns_taken_waits_and_gets_the_next() -> None:
    turns, begun = turns_of(1), threading.Event()

    def work() -> bool:
        begun.set()
        return took(turns, person(2))

    with ThreadPoolExecutor(1) as threads:
        with turns.taken_by(person(1)):
            waiting = threads.submit(work)
            assert begun.wait(PATIENCE_S)
            assert not waiting.done()
        assert waiting.result(PATIENCE_S)


def test_who_waited_in_vain_is_told_whose_calls_were_in_the_way() -> None:
    turns = turns_of(1, most_waiting=1, wait_s=0)
    with turns.taken_by(person(1)):
        with pytest.raises(TooManyAtOnce):
            took(turns, person(1))
        with translation.override("en"), pytest.raises(Unavailable, match="by other people") as refused:
            took(turns, person(2))
    assert refused.value.error_code == "too_many_at_once"
    assert took(turns, person(2))


def test_a_turn_comes_back_from_work_that_fails() -> None:
    turns = turns_of(1)
    with pytest.raises(ZeroDivisionError), turns.taken_by(person(1)):
        raise ZeroDivisionError
    assert took(turns, person(1))
