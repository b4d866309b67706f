"""What a provider of language models offers to :mod:`hub.llm.client`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from hub.llm.types import Completion, LlmRequest


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
