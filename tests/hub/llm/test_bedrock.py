"""The Bedrock provider against botocore's stubber, and over HTTP against a local endpoint."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from botocore.stub import Stubber

from hub.llm.errors import LlmInvalidAnswer, LlmRefused, LlmUnavailable
from hub.llm.providers.bedrock import BedrockProvider
from hub.llm.types import Completion, FinishReason, Image, Limits, LlmRequest, Message, Role
from tests.hub.llm.conftest import PASS, VERDICT

MODEL = "jp.anthropic.claude-sonnet-4-5-20250929-v1:0"
REQUEST = LlmRequest(
    messages=(Message(role=Role.SYSTEM, text="審査者である。"), Message(role=Role.USER, text="判定せよ。")),
    schema=VERDICT,
)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")


def make(**options) -> BedrockProvider:
    limits = Limits(timeout_s=10, max_answer_chars=500)
    return BedrockProvider(region="ap-northeast-1", limits=limits, sleep=lambda _s: None, **options)


@pytest.fixture
def stubbed():
    with closing(make()) as provider, Stubber(provider.client) as stubber:
        yield provider, stubber


def converse(text: str = PASS, reason: str = "end_turn") -> dict:
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": reason,
        "usage": {"inputTokens": 40, "outputTokens": 12, "totalTokens": 52},
        "metrics": {"latencyMs": 5},
    }


def test_a_request_names_the_schema_in_the_system_prompt_and_uses_no_tools(stubbed):
    provider, stubber = stubbed
    sent = {}
    provider.client.meta.events.register("provide-client-params.*.Converse", lambda params, **_: sent.update(params))
    stubber.add_response("converse", converse())
    completion = provider.complete(REQUEST, model=MODEL, max_output_tokens=300)
    assert sent["modelId"] == MODEL
    assert sent["inferenceConfig"] == {"maxTokens": 300, "temperature": 0.0}
    assert sent["messages"] == [{"role": "user", "content": [{"text": "判定せよ。"}]}]
    assert sent["system"][0] == {"text": "審査者である。"}
    assert '"enum":["pass","fail"]' in sent["system"][1]["text"]
    assert "toolConfig" not in sent
    assert (completion.tokens_in, completion.tokens_out, completion.finish_reason) == (40, 12, FinishReason.STOP)


def test_pictures_are_sent_as_bytes_and_unknown_types_refused(stubbed):
    provider, stubber = stubbed
    stubber.add_response("converse", converse("図です"))

    def picture(media_type: str) -> LlmRequest:
        image = Image(data=b"x", media_type=media_type)
        return LlmRequest(messages=(Message(role=Role.USER, text="説明せよ", images=(image,)),))

    assert provider.complete(picture("image/png"), model=MODEL, max_output_tokens=9).text == "図です"
    with pytest.raises(LlmRefused, match="image/tiff"):
        provider.complete(picture("image/tiff"), model=MODEL, max_output_tokens=9)


@pytest.mark.parametrize("code", ["ThrottlingException", "ServiceUnavailableException", "ModelNotReadyException"])
def test_what_passes_by_itself_is_tried_again(stubbed, code):
    provider, stubber = stubbed
    stubber.add_client_error("converse", code, http_status_code=429)
    stubber.add_response("converse", converse())
    assert provider.complete(REQUEST, model=MODEL, max_output_tokens=9).text == PASS
    stubber.assert_no_pending_responses()


def test_a_model_that_stays_busy_is_given_up(stubbed):
    provider, stubber = stubbed
    for _try in range(4):
        stubber.add_client_error("converse", "ThrottlingException")
    with pytest.raises(LlmUnavailable, match="ThrottlingException"):
        provider.complete(REQUEST, model=MODEL, max_output_tokens=9)


@pytest.mark.parametrize(
    ("code", "ours"), [("AccessDeniedException", "llm_key_refused"), ("ValidationException", "llm_refused")]
)
def test_a_refusal_is_told_with_its_reason(stubbed, code, ours):
    provider, stubber = stubbed
    stubber.add_client_error("converse", code, service_message="no access to the model")
    with pytest.raises(LlmRefused, match="no access to the model") as caught:
        provider.complete(REQUEST, model=MODEL, max_output_tokens=9)
    assert caught.value.error_code == ours


@pytest.mark.parametrize(
    ("told", "reason"), [("max_tokens", FinishReason.LENGTH), ("guardrail_intervened", FinishReason.FILTERED)]
)
def test_why_an_answer_ended_is_told(stubbed, told, reason):
    provider, stubber = stubbed
    stubber.add_response("converse", converse(reason=told))
    assert provider.complete(REQUEST, model=MODEL, max_output_tokens=9).finish_reason is reason


def test_an_answer_beyond_the_limit_is_given_up(stubbed):
    provider, stubber = stubbed
    stubber.add_response("converse", converse("長" * 501))
    with pytest.raises(LlmInvalidAnswer):
        provider.complete(REQUEST, model=MODEL, max_output_tokens=9)


def test_a_stream_gives_the_answer_in_one_piece(stubbed):
    provider, stubber = stubbed
    stubber.add_response("converse", converse())
    text, whole = provider.stream(REQUEST, model=MODEL, max_output_tokens=9)
    assert text == PASS
    assert isinstance(whole, Completion)


def test_the_request_is_right_on_the_wire():
    asked: list[tuple[str, dict]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            body = json.dumps(converse()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with closing(make(endpoint_url=f"http://127.0.0.1:{server.server_port}")) as provider:
            completion = provider.complete(REQUEST, model=MODEL, max_output_tokens=300)
        thread.join()
    assert completion.text == PASS
    ((path, body),) = asked
    assert path == "/model/jp.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    assert body["inferenceConfig"] == {"maxTokens": 300, "temperature": 0.0}


def test_check_asks_for_credentials_only(monkeypatch):
    make().check()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(LlmRefused, match="AWS_PROFILE"):
        make().check()
