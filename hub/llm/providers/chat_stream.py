"""What chat completions say, whole or in pieces. The client checks nothing: fields may be missing or of any type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hub.llm.types import Completion, FinishReason

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

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
