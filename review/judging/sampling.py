"""The caller's own model as a provider: what it was asked before is here, anything else has to be asked first.

What it says is its caller's word. It serves the call that asked for it and nobody else, results that rest on it say so,
and nothing repeats it: not another review, nor a replay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from hub.llm.errors import AnswerPending
from hub.llm.models import CALLERS_MODEL
from hub.llm.recordings import CallRecordings
from hub.llm.types import Completion, LlmRequest


class AnswerTimedOut(AnswerPending):
    """The caller's model was asked, and did not answer in time; it is asked for less."""


class _Unconnected:
    """A provider with nobody to reach: the caller is there as long as the call is, and a replay asks nobody."""

    __slots__ = ()

    def check(self) -> None:
        """Nobody has to be reached."""

    def close(self) -> None:
        """There is nothing to close."""


@dataclass(slots=True, kw_only=True)
class SamplingProvider(_Unconnected):
    """Answers from ``answers`` (by the key of the request); what has none is put into ``wanted`` and held back.

    Requests among ``timed_out`` are not asked again.

    Who runs a review with it asks the caller for what is wanted, and runs it again with the same ``recordings``: in
    them are the answers that have been taken.
    """

    answers: Mapping[str, Completion] = field(default_factory=dict)
    timed_out: Collection[str] = ()
    wanted: dict[str, LlmRequest] = field(default_factory=dict)
    recordings: CallRecordings = field(default_factory=CallRecordings)
    name: str = CALLERS_MODEL
    is_private: bool = False
    model: str = "client"

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Give the caller's answer. :raises AnswerPending: there is none yet; AnswerTimedOut: none came in time."""
        key = request.digest
        if key in self.answers:
            return self.answers[key]
        if key in self.timed_out:
            raise AnswerTimedOut(_("The caller's language model did not answer in time."))
        self.wanted[key] = request
        raise AnswerPending(_("The caller's language model has to be asked first."))

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Yield the whole answer at once."""
        yield self.complete(request, model=model, max_output_tokens=max_output_tokens)


@dataclass(slots=True, kw_only=True)
class ReplayProvider(_Unconnected):
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
