"""Servers that speak OpenAI's POST /chat/completions: hosted ones, vLLM, llama.cpp, Ollama and many more.

The client checks nothing of what they answer, whole or in pieces: fields may be missing or of any type.
"""

from __future__ import annotations

import base64
import ipaddress
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
from hub.llm.json_answers import describe_schema, grammar_of, strict_schema
from hub.llm.types import AnswerSchema, Completion, FinishReason, Limits, LlmRequest, Message, Role, StructuredOutput

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk


# Source: RFC 6761 (localhost), RFC 6762 (local), ICANN resolution 2024.07.29.06 (internal).
PRIVATE_SUFFIXES = (".localhost", ".local", ".internal")


def is_private_host(url: str) -> bool:
    """Tell by its name alone whether a URL's host is this machine or in a private network; nothing is resolved.

    A name without a dot is one of the operator's own network, such as a service of a compose file.

    >>> [is_private_host(url) for url in ("http://127.0.0.1:8080/v1", "http://llm:8000", "https://api.example.com/v1")]
    [True, True, False]
    """
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(PRIVATE_SUFFIXES))
    return address.is_loopback or address.is_private


_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
}
NOT_A_COMPLETION = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)
"""What reading something else than a chat completion raises."""


def read_chat_answer(answer: ChatCompletion, *, model: str) -> Completion:
    """Read a whole answer. :raises AttributeError, IndexError, TypeError: it is not a chat completion."""
    choice = answer.choices[0]
    return Completion(
        text=_well_formed(getattr(choice.message, "content", None) or ""),
        finish_reason=_finish_reason(choice),
        model=str(getattr(answer, "model", None) or model),
        **_usage(answer),
    )


class ChatStream:
    """Puts an answer together from its events."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._pieces: list[str] = []
        self._reason: FinishReason | None = None
        self._usage: dict[str, int | None] = {"tokens_in": None, "tokens_out": None}

    @property
    def is_finished(self) -> bool:
        """Whether an event said why the answer ended; otherwise the connection may have broken."""
        return self._reason is not None

    def take(self, event: ChatCompletionChunk) -> str:
        """Take in one event and give the text that it adds. :raises AttributeError, TypeError: it is none of a chat."""
        self._model = str(getattr(event, "model", None) or self._model)
        self._usage |= {key: value for key, value in _usage(event).items() if value is not None}
        added = ""
        for choice in getattr(event, "choices", None) or ():
            added += _well_formed(getattr(getattr(choice, "delta", None), "content", None) or "")
            if getattr(choice, "finish_reason", None):
                self._reason = _finish_reason(choice)
        self._pieces.append(added)
        return added

    def completion(self) -> Completion:
        """Give the whole answer, as far as it came."""
        reason = self._reason or FinishReason.STOP
        return Completion(text="".join(self._pieces), finish_reason=reason, model=self._model, **self._usage)


def _finish_reason(choice: object) -> FinishReason:
    return _REASONS.get(str(getattr(choice, "finish_reason", None)), FinishReason.OTHER)


def _usage(answer: object) -> dict[str, int | None]:
    counts = getattr(answer, "usage", None)
    names = {"tokens_in": "prompt_tokens", "tokens_out": "completion_tokens"}
    return {ours: _count(getattr(counts, theirs, None)) for ours, theirs in names.items()}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _well_formed(text: str) -> str:
    """Leave out what PostgreSQL can't store: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


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
