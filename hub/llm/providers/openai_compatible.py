"""Servers that speak OpenAI's POST /chat/completions: hosted ones, vLLM, llama.cpp, Ollama and many more."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import httpx2
from django.utils.translation import gettext_lazy as _

from hub.core.stopping import raise_if_stopped
from hub.llm.errors import STREAM_CUT, LlmInvalidAnswer, LlmRefused, LlmTimeout, LlmUnavailable
from hub.llm.grammar import grammar_of
from hub.llm.json_answers import describe_schema, strict_schema
from hub.llm.providers.chat_stream import ChatStream, read_chat_answer, read_events
from hub.llm.providers.private_hosts import is_private_host
from hub.llm.retries import TryAgain, read_retry_after, with_retries
from hub.llm.types import AnswerSchema, Completion, Limits, LlmRequest, Message, Role, StructuredOutput

CONNECT_TIMEOUT_S = 5.0
CHECK_TIMEOUT_S = 5.0
MAX_CONNECTIONS = 64
REFUSED_KEY = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
# Bytes on the wire around each character of an answer: escapes, and in a stream the JSON around each piece.
WIRE_BYTES_PER_CHARACTER = 64
LEAST_WIRE_BYTES = 256 * 1024


class OpenAICompatibleProvider:
    """See `Provider` for what the methods promise."""

    name = "openai"

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str = "",
        structured_output: StructuredOutput = StructuredOutput.JSON_SCHEMA,
        limits: Limits,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``base_url`` is what ``/chat/completions`` is added to."""
        self._url = base_url.rstrip("/")
        self._structured_output = structured_output
        self._timeout_s = limits.timeout_s
        self._max_answer_chars = limits.max_answer_chars
        self._sleep = sleep
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx2.Timeout(limits.timeout_s, connect=CONNECT_TIMEOUT_S),
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
        )

    @property
    def is_private(self) -> bool:
        """Whether the server's host is this machine or in a private network."""
        return is_private_host(self._url)

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Ask and wait for the whole answer; see `Provider`."""
        body = self._body(request, model, max_output_tokens)
        deadline = time.monotonic() + self._timeout_s

        def attempt() -> Completion:
            with self._post(body) as response:
                return read_chat_answer(self._read(response, deadline), model=model)

        return with_retries(attempt, deadline=deadline, sleep=self._sleep)

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Yield the answer's text piece by piece, then the Completion; see `Provider`."""
        body = self._body(request, model, max_output_tokens) | {
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        deadline = time.monotonic() + self._timeout_s

        def attempt() -> tuple[ChatStream, str | None, Iterator[str]]:
            chat = ChatStream(model)
            pieces = self._pieces(body, chat, deadline)
            return chat, next(pieces, None), pieces

        chat, first, pieces = with_retries(attempt, deadline=deadline, sleep=self._sleep)
        if first is not None:
            yield first
        try:
            yield from pieces
        except TryAgain as failure:
            raise LlmUnavailable(
                _("The language model broke off in the middle of its answer. Ask again."), code=STREAM_CUT
            ) from failure
        yield chat.completion()

    def check(self) -> None:
        """Ask for the list of models; a server without one still shows that it is there."""
        try:
            response = self._client.get(f"{self._url}/models", timeout=CHECK_TIMEOUT_S)
        except httpx2.RequestError as error:
            raise self._away(type(error).__name__) from error
        if response.status_code in REFUSED_KEY:
            raise self._refused_key(response.status_code)
        if response.is_server_error:
            raise self._away(f"HTTP {response.status_code}")

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def _body(self, request: LlmRequest, model: str, max_output_tokens: int) -> dict[str, Any]:
        if request.schema is not None and self._structured_output is not StructuredOutput.JSON_SCHEMA:
            request = _with_schema_in_words(request, request.schema)
        body: dict[str, Any] = {
            "model": model,
            "messages": [_message(message) for message in request.messages],
            "temperature": request.temperature,
            "max_tokens": max_output_tokens,
        }
        if request.vote:
            body["seed"] = request.vote
        if request.schema is not None:
            body |= _structure(request.schema, self._structured_output)
        return body

    @contextmanager
    def _post(self, body: dict[str, Any]) -> Iterator[httpx2.Response]:
        """Send a request and give the successful response, its body unread."""
        try:
            with self._client.stream("POST", f"{self._url}/chat/completions", json=body) as response:
                if not response.is_success:
                    raise self._failure(response)
                yield response
        except httpx2.TimeoutException as error:
            if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
                raise TryAgain(self._away(type(error).__name__)) from error
            raise self._timeout() from error
        except httpx2.RequestError as error:
            raise TryAgain(self._away(type(error).__name__)) from error

    def _read(self, response: httpx2.Response, deadline: float) -> bytes:
        body = bytearray()
        for piece in self._limited(response, deadline):
            body += piece
        return bytes(body)

    def _limited(self, response: httpx2.Response, deadline: float) -> Iterator[bytes]:
        """Read a body as it comes, up to the deadline and the size that the longest answer may have on the wire."""
        left = max(self._max_answer_chars * WIRE_BYTES_PER_CHARACTER, LEAST_WIRE_BYTES)
        for piece in response.iter_bytes():
            raise_if_stopped()
            left -= len(piece)
            if left < 0:
                raise self._too_long()
            if time.monotonic() > deadline:
                raise self._timeout()
            yield piece

    def _pieces(self, body: dict[str, Any], chat: ChatStream, deadline: float) -> Iterator[str]:
        with self._post(body) as response:
            length = 0
            for event in read_events(self._limited(response, deadline)):
                if piece := chat.take(event):
                    length += len(piece)
                    if length > self._max_answer_chars:
                        raise self._too_long()
                    yield piece
        if not chat.is_finished:
            raise TryAgain(self._away(_("the stream broke off")))

    def _failure(self, response: httpx2.Response) -> Exception:
        status = response.status_code
        if status == HTTPStatus.TOO_MANY_REQUESTS or response.is_server_error:
            wait_s = read_retry_after(response.headers.get("Retry-After"))
            return TryAgain(self._away(f"HTTP {status}", retry_after_s=wait_s), retry_after_s=wait_s)
        if status in REFUSED_KEY:  # without the server's words, which may repeat the key
            return self._refused_key(status)
        return LlmRefused(
            _("The language model's server refused the request (HTTP {status}): {reason}"),
            status=status,
            reason=_reason(response),
        )

    def _away(self, failure: object, *, retry_after_s: float | None = None) -> LlmUnavailable:
        more: dict[str, Any] = {} if retry_after_s is None else {"retry_after_s": round(retry_after_s)}
        return LlmUnavailable(
            # without the address: who asks a question need not know it
            _("The language model's server does not answer ({failure}). See LLM_BASE_URL, or try again later."),
            failure=failure,
            **more,
        )

    def _refused_key(self, status: int) -> LlmRefused:
        return LlmRefused(
            _("The language model's server refused the API key (HTTP {status}). Check LLM_API_KEY."),
            code="llm_key_refused",
            status=status,
        )

    def _timeout(self) -> LlmTimeout:
        return LlmTimeout(
            _("The language model took longer than {seconds} seconds (LLM_TIMEOUT_S)."), seconds=self._timeout_s
        )

    def _too_long(self) -> LlmInvalidAnswer:
        return LlmInvalidAnswer(
            _("The language model's answer is longer than {limit} characters; it was given up."),
            code="llm_answer_too_long",
            limit=self._max_answer_chars,
        )


def _with_schema_in_words(request: LlmRequest, schema: AnswerSchema) -> LlmRequest:
    # into the last message: chat templates may refuse two messages of one role after each other
    *before, last = request.messages
    last = replace(last, text=f"{last.text}\n\n{describe_schema(schema)}")
    return replace(request, messages=(*before, last))


def _message(message: Message) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role.value, "content": message.text}
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for image in message.images:
        url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": Role.USER.value, "content": parts}


def _structure(schema: AnswerSchema, how: StructuredOutput) -> dict[str, Any]:
    match how:
        case StructuredOutput.JSON_SCHEMA:
            wanted = {"name": schema.name, "strict": True, "schema": strict_schema(dict(schema.schema))}
            return {"response_format": {"type": "json_schema", "json_schema": wanted}}
        case StructuredOutput.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
        case StructuredOutput.GRAMMAR:
            return {"grammar": grammar_of(schema.schema)}


def _reason(response: httpx2.Response) -> str:
    """What an error body in OpenAI's form says, at most 200 characters of it."""
    try:
        message = json.loads(response.read())["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return "-"
    return str(message)[:200]
