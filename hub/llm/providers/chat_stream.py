"""The wire format of chat completions: one JSON object, or server-sent events with pieces of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.llm.errors import LlmInvalidAnswer
from hub.llm.types import Completion, FinishReason

DONE = "[DONE]"
_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
}


def read_chat_answer(body: bytes, *, model: str) -> Completion:
    """Read the body of a whole answer. :raises LlmInvalidAnswer: it is not a chat completion."""
    try:
        facts = json.loads(body)
        choice = facts["choices"][0]
        text = choice["message"].get("content") or ""
        return Completion(
            text=_well_formed(text),
            finish_reason=_finish_reason(choice.get("finish_reason")),
            model=str(facts.get("model") or model),
            **_usage(facts.get("usage")),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise _not_a_completion(error) from error


def read_events(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of each server-sent event, whichever way the bytes are cut.

    Source: WHATWG HTML, section 9.2.6; several data lines of one event are joined by a newline.
    """
    data: list[str] = []
    for line in _lines(pieces):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:  # some servers end without the blank line
        yield "\n".join(data)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest.removesuffix(b"\r")


class ChatStream:
    """Puts an answer together from its events."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._pieces: list[str] = []
        self._reason: FinishReason | None = None
        self._usage: dict[str, int | None] = {}
        self._is_done = False

    @property
    def is_finished(self) -> bool:
        """Whether the server said that the answer is complete; otherwise the connection broke."""
        return self._is_done or self._reason is not None

    def take(self, event: str) -> str:
        """Take in one event and give the text that it adds. :raises LlmInvalidAnswer: it is no event of a chat."""
        if event.strip() == DONE:
            self._is_done = True
            return ""
        try:
            return self._take(json.loads(event))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _not_a_completion(error) from error

    def _take(self, facts: dict[str, Any]) -> str:
        self._model = str(facts.get("model") or self._model)
        self._usage |= {key: value for key, value in _usage(facts.get("usage")).items() if value is not None}
        added = ""
        for choice in facts.get("choices") or ():
            added += _well_formed((choice.get("delta") or {}).get("content") or "")
            if choice.get("finish_reason"):
                self._reason = _finish_reason(choice["finish_reason"])
        self._pieces.append(added)
        return added

    def completion(self) -> Completion:
        """Give the whole answer, as far as it came."""
        return Completion(
            text="".join(self._pieces),
            finish_reason=self._reason or FinishReason.STOP,
            model=self._model,
            tokens_in=self._usage.get("tokens_in"),
            tokens_out=self._usage.get("tokens_out"),
        )


def _finish_reason(name: object) -> FinishReason:
    return _REASONS.get(str(name), FinishReason.OTHER)


def _usage(facts: object) -> dict[str, int | None]:
    counts = facts if isinstance(facts, dict) else {}
    return {"tokens_in": _count(counts.get("prompt_tokens")), "tokens_out": _count(counts.get("completion_tokens"))}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _well_formed(text: str) -> str:
    """Leave out what PostgreSQL can't store: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _not_a_completion(error: Exception) -> LlmInvalidAnswer:
    return LlmInvalidAnswer(
        _("What the language model's server sent is not a chat completion ({reason}). Check LLM_BASE_URL."),
        code="llm_bad_response",
        reason=type(error).__name__,
    )
