"""Servers that speak OpenAI's POST /chat/completions: hosted ones, vLLM, llama.cpp, Ollama and many more."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.core.model_servers import (
    AnswerTooLong,
    BoundedStream,
    ModelServer,
    RequestRefused,
    ServerAway,
    ServerTimeout,
    failures,
    timeout,
)
from hub.core.retries import TryAgain, with_retries
from hub.llm.errors import STREAM_CUT, LlmInvalidAnswer, LlmRefused, LlmTimeout, LlmUnavailable
from hub.llm.grammar import grammar_of
from hub.llm.json_answers import describe_schema, strict_schema
from hub.llm.providers.chat_stream import NOT_A_COMPLETION, ChatStream, read_chat_answer
from hub.llm.providers.private_hosts import is_private_host
from hub.llm.types import AnswerSchema, Completion, Limits, LlmRequest, Message, Role, StructuredOutput

CHECK_TIMEOUT_S = 5.0
# Bytes on the wire around each character of an answer: escapes, and in a stream the JSON around each piece.
WIRE_BYTES_PER_CHARACTER = 64
LEAST_WIRE_BYTES = 256 * 1024
DONE = b"[DONE]"


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
        self._structured_output = structured_output
        self._timeout_s = limits.timeout_s
        self._max_answer_chars = limits.max_answer_chars
        self._sleep = sleep
        most_bytes = max(limits.max_answer_chars * WIRE_BYTES_PER_CHARACTER, LEAST_WIRE_BYTES)
        self._server = ModelServer(base_url, api_key=api_key, most_bytes=most_bytes)

    @property
    def is_private(self) -> bool:
        """Whether the server's host is this machine or in a private network."""
        return is_private_host(self._server.url)

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Ask and wait for the whole answer; see `Provider`."""
        body = self._body(request, model, max_output_tokens)
        deadline = time.monotonic() + self._timeout_s

        def attempt() -> Completion:
            with self._failures():
                return read_chat_answer(self._create(body, deadline), model=model)

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
            self._server.ask("/models", timeout_s=CHECK_TIMEOUT_S)
        except RequestRefused as refusal:
            if refusal.is_about_key:
                raise self._refused(refusal) from refusal
        except ServerAway as failure:
            if failure.status != HTTPStatus.TOO_MANY_REQUESTS:
                raise self._away(failure.failure) from failure

    def close(self) -> None:
        """Close the connections to the server."""
        self._server.close()

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

    def _create(self, body: dict[str, Any], deadline: float) -> Any:  # noqa: ANN401 - whatever the server sent
        """Send a request: gives the whole answer as the client reads it, or its events for a body with ``stream``."""
        return self._server.client.chat.completions.create(**body, timeout=timeout(deadline - time.monotonic()))

    def _pieces(self, body: dict[str, Any], chat: ChatStream, deadline: float) -> Iterator[str]:
        with self._failures(), self._create(body, deadline) as events:
            length = 0
            for event in events:
                if piece := chat.take(event):
                    length += len(piece)
                    if length > self._max_answer_chars:
                        raise AnswerTooLong
                    yield piece
            if not chat.is_finished and not _says_done(events.response.stream):
                raise TryAgain(self._away(_("the stream broke off")))

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raise what goes wrong inside of the block as TryAgain or an error of `hub.llm.errors`."""
        try:
            with failures():
                yield
        except ServerTimeout as failure:
            raise LlmTimeout(
                _("The language model took longer than {seconds} seconds (LLM_TIMEOUT_S)."), seconds=self._timeout_s
            ) from failure
        except ServerAway as failure:
            wait_s = failure.retry_after_s
            raise TryAgain(self._away(failure.failure, retry_after_s=wait_s), retry_after_s=wait_s) from failure
        except RequestRefused as refusal:
            raise self._refused(refusal) from refusal
        except AnswerTooLong as error:
            raise LlmInvalidAnswer(
                _("The language model's answer is longer than {limit} characters; it was given up."),
                code="llm_answer_too_long",
                limit=self._max_answer_chars,
            ) from error
        except NOT_A_COMPLETION as error:
            raise LlmInvalidAnswer(
                _("What the language model's server sent is not a chat completion ({reason}). Check LLM_BASE_URL."),
                code="llm_bad_response",
                reason=type(error).__name__,
            ) from error

    def _away(self, failure: object, *, retry_after_s: float | None = None) -> LlmUnavailable:
        more: dict[str, Any] = {} if retry_after_s is None else {"retry_after_s": round(retry_after_s)}
        return LlmUnavailable(
            # without the address: who asks a question need not know it
            _("The language model's server does not answer ({failure}). See LLM_BASE_URL, or try again later."),
            failure=failure,
            **more,
        )

    def _refused(self, refusal: RequestRefused) -> LlmRefused:
        if refusal.is_about_key:  # without the server's words, which may repeat the key
            return LlmRefused(
                _("The language model's server refused the API key (HTTP {status}). Check LLM_API_KEY."),
                code="llm_key_refused",
                status=refusal.status,
            )
        return LlmRefused(
            _("The language model's server refused the request (HTTP {status}): {reason}"),
            status=refusal.status,
            reason=refusal.reason or "-",
        )


def _says_done(stream: object) -> bool:
    """Whether the last bytes of a stream say that it is whole; some servers say so there alone."""
    return isinstance(stream, BoundedStream) and DONE in stream.tail


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
            return {"extra_body": {"grammar": grammar_of(schema.schema)}}
