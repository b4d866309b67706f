"""What is asked of a language model and what comes back, plain data, and what a provider offers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from hub.core.texts import storable


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Strength(StrEnum):
    """Which of the two configured models answers: the light one screens, the strong one judges."""

    LIGHT = "light"
    STRONG = "strong"


class FinishReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    OTHER = "other"


class StructuredOutput(StrEnum):
    """How a request states the shape of its answer; each answer is checked against the schema in any case."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    GRAMMAR = "grammar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture for a model that sees; ``media_type`` is for instance image/png."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Role
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSchema:
    """The JSON schema that an answer must meet.

    For endpoints that hold a model to it: every property required, ``additionalProperties`` false.
    ``name`` has letters, digits, - and _ only.
    """

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """One request. ``max_output_tokens`` None means LLM_MAX_OUTPUT_TOKENS; a greater number is cut to it.

    ``vote`` numbers further answers to the same request: each is asked for and recorded by itself, and seeds a model
    that takes a seed.
    """

    messages: tuple[Message, ...]
    schema: AnswerSchema | None = None
    strength: Strength = Strength.STRONG
    max_output_tokens: int | None = None
    temperature: float = 0.0
    vote: int = 0

    @property
    def digest(self) -> str:
        """SHA-256 of all texts, in hexadecimal: the same for the same request."""
        texts = [part for message in self.messages for part in (message.role, message.text)]
        return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a provider gave, unchecked but for characters that can't be stored (U+FFFD stands for them).

    Token counts are None where the provider does not return them.
    """

    text: str
    finish_reason: FinishReason
    model: str
    tokens_in: int | None = None
    tokens_out: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", storable(self.text))
        object.__setattr__(self, "model", storable(self.model))


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmAnswer:
    """A checked answer. ``data`` is the parsed JSON where a schema was given.

    ``cost`` is in US$, None without configured prices. ``usage_is_estimated`` where the provider returned no counts.
    An answer ``from_cache`` has the counts of when it was made, and cost nothing now.
    """

    text: str
    model: str
    finish_reason: FinishReason
    tokens_in: int
    tokens_out: int
    cost: Decimal | None = None
    data: Any = None
    usage_is_estimated: bool = False
    from_cache: bool = False
    masked: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """``timeout_s`` bounds a request with all its retries, ``max_answer_chars`` the text of its answer."""

    timeout_s: float
    max_answer_chars: int


class Provider(Protocol):
    """Sends one prepared request. Messages are masked and limits set already; answers are checked by the caller.

    Both methods retry what may pass by itself and raise LlmUnavailable, LlmTimeout, LlmRefused, or LlmInvalidAnswer
    when the wire format is broken. They may be called from several threads.
    """

    @property
    def name(self) -> str:
        """Id as in LLM_PROVIDER."""
        ...

    @property
    def is_private(self) -> bool:
        """Whether requests stay on this machine or in the operator's own network."""
        ...

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Ask and wait for the whole answer."""
        ...

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Yield the answer's text piece by piece, and at the end the whole as a Completion.

        What fails before the first piece is retried; after it, LlmUnavailable with the code ``llm_stream_cut``.
        """
        ...

    def check(self) -> None:
        """Raise LlmUnavailable or LlmRefused when the provider can't be reached; costs no tokens."""
        ...

    def close(self) -> None:
        """Close the connections to the provider; the object is not used afterwards."""
        ...


@runtime_checkable
class NamesItsModel(Protocol):
    """A provider whose model is not the configured one."""

    @property
    def model(self) -> str:
        """The model, as answers are recorded under."""
        ...
