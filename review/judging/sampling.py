"""The caller's own model as a provider: what it was asked before is here, anything else has to be asked first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from hub.llm.errors import AnswerPending
from hub.llm.types import Completion, LlmRequest


@dataclass(slots=True, kw_only=True)
class SamplingProvider:
    """Answers from ``answers`` (by the key of the request); what has none is put into ``wanted`` and held back.

    Who runs a review with it asks the caller for what is wanted, and runs it again.
    """

    answers: Mapping[str, Completion] = field(default_factory=dict)
    wanted: dict[str, LlmRequest] = field(default_factory=dict)
    name: str = "sampling"
    is_private: bool = False
    model: str = "client"

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Give the caller's answer. :raises AnswerPending: there is none yet."""
        key = request.digest
        if key in self.answers:
            return self.answers[key]
        self.wanted[key] = request
        raise AnswerPending(_("The caller's language model has to be asked first."))

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Yield the whole answer at once."""
        yield self.complete(request, model=model, max_output_tokens=max_output_tokens)

    def check(self) -> None:
        """The caller is there as long as the call is."""

    def close(self) -> None:
        """There is nothing to close."""


@dataclass(slots=True, kw_only=True)
class ReplayProvider:
    """Stands for the provider of an earlier review: its recorded answers are found under its name and model."""

    name: str
    model: str
    is_private: bool

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Never asked: replays end before."""
        raise NotImplementedError("a replay asks nobody")

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Never asked, either."""
        raise NotImplementedError("a replay asks nobody")

    def check(self) -> None:
        """There is nobody to reach."""

    def close(self) -> None:
        """There is nothing to close."""
