"""The provider against a server that misbehaves on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from hub.llm.errors import LlmInvalidAnswer, LlmRefused, LlmTimeout, LlmUnavailable
from hub.llm.providers.openai_compatible import OpenAICompatibleProvider
from hub.llm.types import Completion, FinishReason, Image, Limits, LlmRequest, Message, Role, StructuredOutput
from tests.hub.llm.conftest import PASS, VERDICT, asking
from tests.llm_server import Fault, LlmServer, count_tokens


@contextmanager
def provider(
    url: str, *, timeout_s: float = 20, max_answer_chars: int = 10_000, sleep=lambda _s: None, **options: Any
) -> Iterator[OpenAICompatibleProvider]:
    limits = Limits(timeout_s=timeout_s, max_answer_chars=max_answer_chars)
    with closing(OpenAICompatibleProvider(base_url=url, limits=limits, sleep=sleep, **options)) as made:
        yield made


def complete(server: LlmServer, **options: Any) -> Completion:
    with provider(server.url, **options) as made:
        return made.complete(asking(), model="strong", max_output_tokens=100)


def streamed(server: LlmServer, **options: Any) -> list[str | Completion]:
    with provider(server.url, **options) as made:
        return list(made.stream(asking(), model="strong", max_output_tokens=100))


def test_a_request_asks_for_the_schema_at_temperature_0_with_the_key(server):
    completion = complete(server, api_key="秘密".encode().hex())
    (asked,) = server.requests
    assert asked["model"] == "strong"
    assert (asked["temperature"], asked["max_tokens"]) == (0.0, 100)
    wanted = asked["response_format"]["json_schema"]
    assert (asked["response_format"]["type"], wanted["name"], wanted["strict"]) == ("json_schema", "verdict", True)
    reason = wanted["schema"]["properties"]["reason"]
    assert reason == {"type": "string", "description": "At most 200 characters."}, "strict endpoints refuse maxLength"
    assert server.headers[0]["Authorization"] == f"Bearer {'秘密'.encode().hex()}"
    assert completion.text == PASS
    assert completion.finish_reason is FinishReason.STOP
    assert completion.tokens_in == count_tokens(asked)


@pytest.mark.parametrize("how", [StructuredOutput.JSON_OBJECT, StructuredOutput.GRAMMAR])
def test_endpoints_without_schemas_are_told_in_words_within_the_last_message(server, how):
    complete(server, structured_output=how)
    (asked,) = server.requests
    assert [message["role"] for message in asked["messages"]] == ["user"]
    assert '"enum":["pass","fail"]' in asked["messages"][0]["content"]
    if how is StructuredOutput.GRAMMAR:
        assert asked["grammar"].startswith("root ::= ")
        assert "response_format" not in asked
    else:
        assert asked["response_format"] == {"type": "json_object"}


def test_pictures_are_sent_as_data(server):
    message = Message(role=Role.USER, text="図を説明せよ", images=(Image(data=b"\x89PNG", media_type="image/png"),))
    with provider(server.url) as made:
        made.complete(LlmRequest(messages=(message,)), model="m", max_output_tokens=9)
    assert server.requests[0]["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="


def test_a_stream_gives_pieces_and_then_the_whole(server):
    *pieces, last = streamed(server)
    assert len(pieces) > 3
    assert "".join(map(str, pieces)) == PASS
    assert isinstance(last, Completion)
    assert (last.text, last.finish_reason) == (PASS, FinishReason.STOP)
    assert last.tokens_in == count_tokens(server.requests[0])


@pytest.mark.parametrize("ask", [complete, streamed])
@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.BROKEN])
def test_what_passes_by_itself_is_tried_again(server, ask, fault):
    server.script = [fault, fault]
    ask(server)
    assert len(server.requests) == 3


@pytest.mark.parametrize("ask", [complete, streamed])
def test_a_server_that_never_recovers_is_given_up_after_four_tries(server, ask):
    server.script = [Fault.BROKEN] * 9
    with pytest.raises(LlmUnavailable, match="HTTP 500"):
        ask(server)
    assert len(server.requests) == 4


def test_the_delay_is_the_one_that_the_server_asks_for(server):
    server.script, server.retry_after = [Fault.BUSY, Fault.BUSY], "3"
    slept: list[float] = []
    complete(server, sleep=slept.append)
    assert slept == [3.0, 3.0]


def test_a_delay_beyond_the_time_limit_is_not_waited_for_but_told(server):
    server.script, server.retry_after = [Fault.BUSY], "600"
    with pytest.raises(LlmUnavailable) as caught:
        complete(server)
    assert caught.value.data["retry_after_s"] == 600
    assert len(server.requests) == 1


@pytest.mark.parametrize("ask", [complete, streamed])
def test_a_server_that_does_not_answer_in_time_is_a_time_out_and_not_tried_again(server, ask):
    server.script = [Fault.SLOW]
    with pytest.raises(LlmTimeout):
        ask(server, timeout_s=0.3)
    assert len(server.requests) == 1


def test_a_cut_answer_is_asked_for_again(server):
    server.script = [Fault.CUT]
    assert complete(server).text == PASS
    assert len(server.requests) == 2


def test_a_stream_that_is_cut_after_its_first_piece_says_so(server):
    server.script = [Fault.CUT]
    with pytest.raises(LlmUnavailable) as caught:
        streamed(server)
    assert caught.value.error_code == "llm_stream_cut"
    assert len(server.requests) == 1


@pytest.mark.parametrize("ask", [complete, streamed])
def test_an_answer_without_end_is_given_up(server, ask):
    server.script = [Fault.ENDLESS]
    with pytest.raises(LlmInvalidAnswer) as caught:
        ask(server)
    assert caught.value.error_code in {"llm_answer_too_long", "llm_bad_response"}


def test_an_answer_beyond_the_limit_of_characters_is_given_up_in_a_stream(server):
    with pytest.raises(LlmInvalidAnswer) as caught:
        streamed(server, max_answer_chars=20)
    assert caught.value.error_code == "llm_answer_too_long"


def test_a_refusal_is_not_repeated_and_gives_the_servers_reason(server):
    server.script = [Fault.REFUSE]
    with pytest.raises(LlmRefused, match="misbehaves on purpose"):
        complete(server)
    assert len(server.requests) == 1


def test_a_refused_key_is_named_by_its_setting_and_never_repeated(server):
    server.script = [Fault.BAD_KEY]
    with pytest.raises(LlmRefused, match="LLM_API_KEY") as caught:
        complete(server, api_key="sk-secret")
    assert "sk-secret" not in str(caught.value)


def test_something_else_than_a_chat_server_is_told_from_one(server):
    server.script = [Fault.NOT_CHAT]
    with pytest.raises(LlmInvalidAnswer, match="LLM_BASE_URL"):
        complete(server)


@pytest.mark.parametrize(
    ("fault", "reason"), [(Fault.LENGTH, FinishReason.LENGTH), (Fault.FILTERED, FinishReason.FILTERED)]
)
def test_why_an_answer_ended_is_told(server, fault, reason):
    server.script = [fault, fault]
    assert complete(server).finish_reason is reason
    assert streamed(server)[-1].finish_reason is reason  # type: ignore[union-attr]


def test_a_server_that_counts_nothing_leaves_the_counts_open(server):
    server.counts_tokens = False
    assert complete(server).tokens_in is None
    assert streamed(server)[-1].tokens_out is None  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["", "sk-own"])
def test_nothing_of_the_environment_and_nothing_about_the_machine_is_sent(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-environment")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "X-Foreign: 1\nHost: elsewhere.example\nAuthorization: Bearer sk-foreign"
    )
    complete(server, api_key=key)
    headers = server.headers[0]
    assert headers.pop("Authorization", "") == (f"Bearer {key}" if key else "")
    assert headers.pop("Host") == server.url.split("/")[2]
    assert int(headers.pop("Content-Length")) > 0
    assert headers == {
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "keep-alive",
        "Content-Type": "application/json",
        "User-Agent": "hub",
    }


def test_check_tells_whether_the_server_is_there(server):
    with provider(server.url) as made:
        made.check()
    with provider("http://127.0.0.1:9/v1") as made, pytest.raises(LlmUnavailable, match="LLM_BASE_URL"):
        made.check()


@pytest.mark.parametrize(
    ("url", "is_private"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://llm.internal/v1", True),
        ("https://api.example.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("https://localhost.example.com/v1", False),
    ],
)
def test_only_hosts_of_the_own_network_are_private(url, is_private):
    with provider(url) as made:
        assert made.is_private is is_private


def test_the_schema_of_these_tests_is_one_that_strict_endpoints_take():
    assert set(VERDICT.schema["required"]) == set(VERDICT.schema["properties"])


DELTA = b'data: {"choices": [{"delta": {"content": "pass"}}]}\n\n'
"""An event without a reason to end."""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (DELTA + b"data: [DONE]\n\n", "pass"),
        (DELTA.replace(b"\n", b"\r\n") + b"data: [DONE]\r\n\r\n", "pass"),
        (b": a comment\n\n" + DELTA + b"data: [DONE]\n", "pass"),
        (DELTA, "llm_stream_cut"),
        (DELTA + b'data: {"error": {"message": "overloaded"}}\n\n', "llm_stream_cut"),
        (DELTA + b"data: {nothing\n\n", "llm_bad_response"),
        (b'data: {"choices": [{"delta": {"content": 7}}]}\n\n', "llm_bad_response"),
        (b"data: [" * 50_000 + b"\n\n", "llm_bad_response"),
    ],
)
def test_a_stream_is_whole_where_it_says_so_and_odd_events_are_named(server, body, expected):
    server.raw_stream = body
    try:
        found = str(streamed(server)[-1].text)  # type: ignore[union-attr]
    except (LlmUnavailable, LlmInvalidAnswer) as error:
        found = error.error_code
    assert found == expected
