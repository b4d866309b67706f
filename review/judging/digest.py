"""Summaries of a long document's sections, asked for once and kept with the recorded answers.

The same section of the same document costs nothing again: not for the next check, not in the next review, and not
after a worker was killed. What a model does not give is left out; the passages that search finds are there in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hub.core.errors import HubError
from hub.llm.errors import AnswerPending, BudgetExceeded, LlmInvalidAnswer, LlmTimeout, LlmUnavailable
from hub.llm.types import LlmAnswer, LlmRequest
from review.judging.excerpts import speaks
from review.judging.overview import cut_requests, cut_stretches, read_summaries, summary_request
from review.judging.plan import holds_planted, without_withheld
from review.judging.types import Material, Passage, PromptTexts, Summary

Send = Callable[[LlmRequest], LlmAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPart:
    """Stretches that one answered request holds; ``repair`` tells that it was the second one about them."""

    stretches: tuple[Passage, ...]
    repair: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A document's summaries in its order, and the requests that they came from."""

    summaries: tuple[Summary, ...] = ()
    parts: tuple[AskedPart, ...] = ()
    is_complete: bool = True
    is_affordable: bool = True


@dataclass(slots=True, kw_only=True)
class Digester:
    """Asks for the summaries of one document. ``may_repair``: an answer that can't be used is asked for once more."""

    send: Send
    prompts: PromptTexts
    title: str
    may_repair: bool
    _summaries: list[Summary] = field(default_factory=list)
    _parts: list[AskedPart] = field(default_factory=list)
    _is_complete: bool = True
    _has_stopped: bool = False
    _pending: AnswerPending | None = None

    def digest(self, material: Material, *, tokens: int) -> Digest:
        """Ask part by part; after a model that is away no more.

        :raises AnswerPending: after all parts were asked for. :raises BudgetExceeded: as soon as it is.
        """
        parts, is_whole = plan_parts(material, tokens=tokens)
        self._is_complete = is_whole
        for part in parts:
            self._take(material, part)
        if self._pending:
            raise self._pending
        ordered = tuple(sorted(self._summaries, key=lambda one: one.stretch.start))
        return Digest(summaries=ordered, parts=tuple(self._parts), is_complete=self._is_complete)

    def again(self, material: Material, parts: Sequence[AskedPart]) -> Digest:
        """The summaries of an earlier review, from its recorded answers. Raises what sending does."""
        for part in parts:
            self._ask(material, part)
        return Digest(summaries=tuple(self._summaries), parts=tuple(parts))

    def _take(self, material: Material, stretches: Sequence[Passage]) -> None:
        """Ask about stretches; in two halves after a time-out, once more after an answer that can't be used."""
        if self._has_stopped:
            self._is_complete = False
            return
        try:
            self._ask_twice(material, tuple(stretches))
        except AnswerPending as pending:
            self._pending = pending
        except BudgetExceeded:
            raise
        except LlmTimeout:
            if len(stretches) > 1:
                middle = len(stretches) // 2
                self._take(material, stretches[:middle])
                self._take(material, stretches[middle:])
            else:
                self._has_stopped, self._is_complete = True, False
        except LlmUnavailable:
            self._has_stopped, self._is_complete = True, False
        except HubError:
            self._is_complete = False

    def _ask_twice(self, material: Material, stretches: tuple[Passage, ...]) -> None:
        try:
            self._ask(material, AskedPart(stretches=stretches))
        except LlmInvalidAnswer:
            if not self.may_repair:
                raise
            self._ask(material, AskedPart(stretches=stretches, repair=True))

    def _ask(self, material: Material, part: AskedPart) -> None:
        answer = self.send(request_for(material, part, title=self.title, prompts=self.prompts))
        said = read_summaries(answer.data, part.stretches)
        kept = [summary for summary in said if not speaks(summary.text)]
        self._is_complete = self._is_complete and len(kept) == len(part.stretches)
        self._summaries += kept
        self._parts.append(part)


def plan_parts(material: Material, *, tokens: int) -> tuple[tuple[tuple[Passage, ...], ...], bool]:
    """Cut a document into what is asked in one request each, and tell whether that is all of it.

    Stretches that speak to a model are left out: nothing of them is to come back as a summary.
    """
    stretches = cut_stretches(material.text, material.bodies, tokens=tokens)
    safe = [stretch for stretch in stretches if not holds_planted([stretch], material.planted)]
    return cut_requests(material.text, safe, tokens=tokens), len(safe) == len(stretches)


def request_for(material: Material, part: AskedPart, *, title: str, prompts: PromptTexts) -> LlmRequest:
    """The request about one part of a document."""
    shown = [without_withheld(material.text, stretch, material.withheld) for stretch in part.stretches]
    return summary_request(part.stretches, shown, title=title, prompts=prompts, repair=part.repair)


def plan_digest(material: Material, *, title: str, prompts: PromptTexts, tokens: int) -> list[LlmRequest]:
    """The requests that a document's summaries take as long as all goes well."""
    parts, _is_whole = plan_parts(material, tokens=tokens)
    return [request_for(material, AskedPart(stretches=part), title=title, prompts=prompts) for part in parts]


def parts_as_json(parts: Sequence[AskedPart]) -> list[dict[str, Any]]:
    """The parts as a review's record keeps them."""
    return [
        {
            "stretches": [one.as_row()[1:] for one in part.stretches],
            "repair": part.repair,
        }
        for part in parts
    ]


def parts_from_json(rows: Sequence[Mapping[str, Any]]) -> tuple[AskedPart, ...]:
    """The parts of an earlier review's record."""
    return tuple(
        AskedPart(
            stretches=tuple(Passage.from_row(("", *stretch)) for stretch in row["stretches"]),
            repair=row["repair"],
        )
        for row in rows
    )
