"""LLM_MAX_CONCURRENCY: one limit for all processes, that a killed process or a Valkey that is away does not jam."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hub.core.processes import PerProcess
from hub.core.valkey import client_of
from hub.llm import slots
from hub.llm.errors import LlmUnavailable
from hub.llm.slots import held_slot

HOLDS_A_PLACE = """
from hub.llm import slots
slots.LEASE_S = {lease_s}
with slots.held_slot():
    print("in", flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def one_place(configure) -> Iterator[None]:
    configure(llm_max_concurrency=1, llm_timeout_s=0.2)
    slots._client().delete(slots.KEY)
    yield
    slots._client().delete(slots.KEY)


@contextmanager
def another_process(lease_s: float = slots.LEASE_S) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a slot until it reads a line."""
    program = [sys.executable, "-c", HOLDS_A_PLACE.format(lease_s=lease_s)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "in\n"
            yield process
        finally:
            process.kill()


def test_a_place_that_another_process_holds_is_taken_until_it_is_given_back(configure):
    with another_process() as process:
        with pytest.raises(LlmUnavailable, match="LLM_MAX_CONCURRENCY") as refused, held_slot():
            pytest.fail("two requests at once")
        assert refused.value.error_code == "llm_busy"
        process.communicate("\n", timeout=30)
        with held_slot():
            assert slots._client().zcard(slots.KEY) == 1
    assert slots._client().zcard(slots.KEY) == 0


def test_a_request_longer_than_a_lease_keeps_its_place_and_a_killed_process_does_not(configure):
    with another_process(lease_s=0.5) as process:
        configure(llm_timeout_s=1.5)
        with pytest.raises(LlmUnavailable), held_slot():
            pytest.fail("the slot was not renewed")
        process.kill()
        configure(llm_timeout_s=20)
        with held_slot():
            pass


def test_a_place_that_valkey_forgot_is_taken_again_with_the_next_renewal():
    with held_slot():
        slots._client().delete(slots.KEY)
        slots._shared.get().renew()
        assert slots._client().zcard(slots.KEY) == 1
    slots._shared.get().renew()
    assert slots._client().zcard(slots.KEY) == 0


def test_without_valkey_each_process_counts_for_itself_and_says_so_once(monkeypatch, caplog):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        away = client_of(f"redis://127.0.0.1:{unused.getsockname()[1]}")
        monkeypatch.setattr(slots, "_client", lambda: away)
        monkeypatch.setattr(slots, "_shared", PerProcess(slots.SharedSlots))
        monkeypatch.setattr(slots, "PAUSE_AFTER_FAILURE_S", 0.0)
        with caplog.at_level(logging.WARNING), held_slot(), pytest.raises(LlmUnavailable), held_slot():
            pytest.fail("two requests of one process at once")
        with held_slot():
            pass
    away.close()
    monkeypatch.undo()
    (said,) = [record.message for record in caplog.records if record.name == slots.__name__]
    assert said.startswith("LLM_MAX_CONCURRENCY holds for each process alone")
