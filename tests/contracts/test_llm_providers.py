"""What every provider of language models promises (``Provider``), asked of each of them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from hub.llm.errors import LlmInvalidAnswer, LlmRefused, LlmUnavailable
from hub.llm.providers.bedrock import BedrockProvider
from hub.llm.providers.openai_compatible import OpenAICompatibleProvider
from hub.llm.types import Completion, FinishReason, Limits, LlmRequest, Message, Provider, Role
from tests.contracts.model_server import REASON, TOKENS_IN, TOKENS_OUT, Fault, ModelServer
from tests.hub.llm.conftest import asking

LIMITS = Limits(timeout_s=20, max_answer_chars=500)
MAKERS: dict[str, Callable[[str], Provider]] = {
    "openai": lambda url: OpenAICompatibleProvider(
        base_url=f"{url}/v1", api_key="key", limits=LIMITS, sleep=lambda _s: None
    ),
    "bedrock": lambda url: BedrockProvider(
        region="ap-northeast-1", endpoint_url=url, limits=LIMITS, sleep=lambda _s: None
    ),
}
Ask = Callable[[Provider], Completion]


@pytest.fixture(params=MAKERS)
def provider(request: pytest.FixtureRequest, models: ModelServer) -> Iterator[Provider]:
    with closing(MAKERS[request.param](models.url)) as made:
        yield made


def complete(provider: Provider) -> Completion:
    return provider.complete(asking(), model="model", max_output_tokens=100)


def stream(provider: Provider) -> Completion:
    *pieces, whole = provider.stream(asking(), model="model", max_output_tokens=100)
    assert isinstance(whole, Completion)
    assert "".join(map(str, pieces)) == whole.text
    return whole


both_ways = pytest.mark.parametrize("ask", [complete, stream])


def test_it_says_what_it_is_and_can_be_reached(provider: Provider, models: ModelServer) -> None:
    assert provider.name in MAKERS
    assert provider.is_private in (True, False)
    provider.check()
    assert models.requests == []


@both_ways
def test_an_answer_comes_whole_with_its_reason_and_its_tokens(
    provider: Provider, models: ModelServer, ask: Ask
) -> None:
    answer = ask(provider)
    assert (answer.text, answer.finish_reason) == (models.answer, FinishReason.STOP)
    assert (answer.tokens_in, answer.tokens_out) == (TOKENS_IN, TOKENS_OUT)
    assert len(models.requests) == 1


@both_ways
@pytest.mark.parametrize(
    ("fault", "reason"), [(Fault.LENGTH, FinishReason.LENGTH), (Fault.FILTERED, FinishReason.FILTERED)]
)
def test_why_an_answer_ended_is_said(
    provider: Provider, models: ModelServer, ask: Ask, fault: Fault, reason: FinishReason
) -> None:
    models.script += [fault]
    assert ask(provider).finish_reason is reason


@both_ways
def test_a_busy_model_is_asked_again(provider: Provider, models: ModelServer, ask: Ask) -> None:
    models.script += [Fault.BUSY, Fault.BUSY]
    assert ask(provider).text == models.answer
    assert len(models.requests) == 3


@both_ways
def test_a_model_that_stays_busy_is_given_up(provider: Provider, models: ModelServer, ask: Ask) -> None:
    models.script += [Fault.BUSY] * 50
    with pytest.raises(LlmUnavailable):
        ask(provider)
    assert 1 < len(models.requests) < 50


@both_ways
@pytest.mark.parametrize(("fault", "code"), [(Fault.REFUSED, "llm_refused"), (Fault.BAD_KEY, "llm_key_refused")])
def test_a_refusal_is_final(provider: Provider, models: ModelServer, ask: Ask, fault: Fault, code: str) -> None:
    models.script += [fault]
    with pytest.raises(LlmRefused) as refused:
        ask(provider)
    assert refused.value.error_code == code
    assert len(models.requests) == 1
    if fault is Fault.REFUSED:
        assert REASON in str(refused.value)


@both_ways
def test_an_answer_beyond_the_limit_is_given_up(provider: Provider, models: ModelServer, ask: Ask) -> None:
    models.answer = "長" * (LIMITS.max_answer_chars * 400)
    with pytest.raises(LlmInvalidAnswer) as refused:
        ask(provider)
    assert refused.value.error_code == "llm_answer_too_long"


@both_ways
def test_characters_that_can_not_be_stored_do_not_get_in(provider: Provider, models: ModelServer, ask: Ask) -> None:
    models.answer = "前\ud800後"
    text = ask(provider).text
    text.encode()
    assert (text[0], text[-1]) == ("前", "後")


def test_the_roles_and_texts_of_a_request_arrive(provider: Provider, models: ModelServer) -> None:
    messages = (Message(role=Role.SYSTEM, text="審査者である。"), Message(role=Role.USER, text="判定せよ。"))
    provider.complete(LlmRequest(messages=messages), model="model", max_output_tokens=100)
    (sent,) = models.requests
    assert "審査者である。" in str(sent)
    assert "判定せよ。" in str(sent["messages"][-1])
    assert sent["messages"][-1]["role"] == "user"


def test_threads_may_ask_at_once(provider: Provider, models: ModelServer) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _n: complete(provider).text, range(8)))
    assert answers == [models.answer] * 8


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("name", MAKERS)
@both_ways
def test_a_model_that_is_not_there_is_unavailable(name: str, ask: Ask) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with closing(MAKERS[name](url)) as provider, pytest.raises(LlmUnavailable):
            ask(provider)
