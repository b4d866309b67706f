"""Requests that are sent without waiting for them."""

from __future__ import annotations

import threading

import pytest

from benchmarks.first_shot.side_by_side import asked_side_by_side
from hub.llm.errors import LlmInvalidAnswer
from hub.llm.types import Completion, Limits
from tests.hub.llm.conftest import PASS, asking
from tests.llm_server import llm_server


def test_what_is_asked_for_as_a_stream_is_there_in_one_piece_once_it_is_answered() -> None:
    may_answer = threading.Event()

    def answer(_asked: object) -> str:
        assert may_answer.wait(60)
        return PASS

    limits = Limits(timeout_s=60, max_answer_chars=1000)
    with llm_server(answer) as server, asked_side_by_side(server.url, limits=limits) as provider:
        with pytest.raises(LlmInvalidAnswer, match="under way"):
            list(provider.stream(asking(), model="strong", max_output_tokens=100))
        may_answer.set()
        provider.sent.wait()
        text, whole = provider.stream(asking(), model="strong", max_output_tokens=100)

    assert isinstance(whole, Completion)
    assert text == whole.text == PASS
    assert len(server.requests) == 1
