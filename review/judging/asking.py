"""Asking the hub's model in the steps beside the checks: what is asked is noted, so that a replay can repeat it.

A replay finds the same answers, and fails where the original run failed: it never asks more than was asked then.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.conf import settings
from django.db import Error

from hub.core.database import is_connection_lost, unavailable_by
from hub.core.errors import HubError
from hub.llm import client
from hub.llm.errors import BudgetExceeded, LlmInvalidAnswer
from hub.llm.preparation import Purpose
from hub.llm.types import LlmAnswer, LlmRequest
from knowledge.types.notices import Notice
from review.judging.excerpts import harmless_bodies
from review.judging.judge import Judge, model_judging
from review.judging.overview import cut_stretches
from review.judging.plan import fit, tokens_of_passages
from review.judging.types import CheckTask, Material, Passage, PromptTexts
from review.judging.unseen import NOTHING_UNFIT, Unfit, joined, unfit_for_proof, unseen_in
from review.types import RuleInput, Span

ANSWERED = "ok"
INVALID = "invalid"
CUT = "llm_answer_cut"


class NotAnswered(Exception):
    """No usable answer came; ``notice`` says why. ``is_final``: asking on makes no sense."""

    def __init__(self, notice: Notice, *, code: str, is_final: bool) -> None:
        super().__init__(code)
        self.notice = notice
        self.code = code
        self.is_final = is_final


class ReadDocument(Protocol):
    """The document of a step, with what of it speaks to a model and its passages ranked for a task."""

    @property
    def target(self) -> RuleInput: ...

    def planted_spans(self) -> tuple[Span, ...]: ...

    def material(self, task: CheckTask) -> Material: ...


@dataclass(slots=True, kw_only=True)
class Reader:
    """The hub's model as one step of a review asks it about the whole document.

    ``record`` is what a replay needs; ``earlier`` is the record of the review that is replayed.
    """

    session: ReadDocument
    judge: Judge
    purpose: Purpose
    failed: Callable[[HubError], Notice]
    budget_notice: Notice
    earlier: Mapping[str, Any] | None = None
    withheld: tuple[Span, ...] = ()
    unfit: Unfit = NOTHING_UNFIT
    tokens: int = 0
    _asked: list[dict[str, Any]] = field(default_factory=list)
    _shown: dict[str, list[Any]] = field(default_factory=dict)
    _bodies: tuple[Passage, ...] | None = None

    def __post_init__(self) -> None:
        target, planted = self.session.target, self.session.planted_spans()
        self.withheld = joined([*unseen_in(target.text), *planted])
        self.unfit = unfit_for_proof(target.text, target.sections, withheld=self.withheld, planted=planted)
        self.tokens = int(self.earlier["tokens"]) if self.earlier else settings.CONFIG.llm_reading_tokens

    @property
    def prompts(self) -> PromptTexts:
        """The curated texts of the review."""
        return self.judge.prompts

    @property
    def requests(self) -> int:
        """How many requests were answered or tried."""
        return len(self._asked)

    @property
    def bodies(self) -> tuple[Passage, ...]:
        """The whole document in stretches, small sections together."""
        if self._bodies is None:
            target = self.session.target
            self._bodies = cut_stretches(target.text, harmless_bodies(target), tokens=self.tokens)
        return self._bodies

    @property
    def fits(self) -> bool:
        """Whether one request can show the whole document."""
        return tokens_of_passages(self.session.target.text, self.bodies) <= self.tokens

    def ask(self, make: Callable[[str], LlmRequest]) -> LlmAnswer:
        """Ask, and once more after an answer that can't be used; ``make`` gets what is to be repaired, or nothing.

        :raises NotAnswered: none came.
        """
        first = make("")
        try:
            return self._ask(first)
        except NotAnswered as error:
            if error.is_final or error.code == CUT:
                raise
        return self._ask(make(LlmInvalidAnswer.code), repairs=first)

    def _ask(self, request: LlmRequest, *, repairs: LlmRequest | None = None) -> LlmAnswer:
        name = request.digest
        known = self._known(name)
        if known is not None and known["outcome"] != ANSWERED:
            self._asked.append(dict(known))
            raise NotAnswered(Notice(**known["notice"]), code=known["code"], is_final=known["outcome"] != INVALID)
        try:
            self.judge.heartbeat()
            answer = client.ask(
                self.judge.principal,
                request,
                purpose=self.purpose,
                budget=self.judge.budget,
                replay=self.judge.is_replay,
                provider=self.judge.provider,
                repairs=repairs,
            )
        except HubError as error:
            raise self._not_answered(name, error) from error
        self._asked.append({"request": name, "outcome": ANSWERED})
        return answer

    def _known(self, name: str) -> Mapping[str, Any] | None:
        rows = self.earlier["asked"] if self.earlier else ()
        return next((row for row in rows if row["request"] == name), None)

    def _not_answered(self, name: str, error: HubError) -> NotAnswered:
        is_budget = isinstance(error, BudgetExceeded)
        notice = self.budget_notice if is_budget else self.failed(error)
        outcome = INVALID if isinstance(error, LlmInvalidAnswer) else "failed"
        code = error.error_code
        self._asked.append({"request": name, "outcome": outcome, "code": code, "notice": notice.as_dict()})
        return NotAnswered(notice, code=code, is_final=outcome != INVALID)

    def passages_about(self, words: Sequence[str]) -> tuple[Passage, ...]:
        """The passages that bear on something, the whole document where it fits; the same ones in a replay.

        Of a document that does not fit they are so many as a check is judged by (LLM_CONTEXT_TOKENS).

        :raises NotAnswered: they can't be read.
        """
        if self.fits:
            return self.bodies
        question = "\n".join(words)
        name = hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:16]
        if self.earlier is not None:
            rows = self.earlier["shown"].get(name, [])
            self._shown[name] = list(rows)
        else:
            self._shown[name] = [one.as_row() for one in self._ranked(question)]
        return tuple(map(Passage.from_row, self._shown[name]))

    def _ranked(self, question: str) -> tuple[Passage, ...]:
        try:
            material = self.session.material(CheckTask(code="", name=question, description=""))
        except Error as error:
            meaning = unavailable_by(error)
            if meaning is None or is_connection_lost(error):
                raise
            raise NotAnswered(self.failed(meaning), code=meaning.error_code, is_final=True) from error
        return fit(material.text, material.ranked, tokens=settings.CONFIG.llm_context_tokens)

    def record(self) -> dict[str, Any]:
        """What a replay needs, and who answered."""
        return {
            "provider": self.judge.provider.name,
            "model": model_judging(self.judge.provider),
            "is_private": self.judge.provider.is_private,
            "prompts": dict(self.prompts.numbers),
            "tokens": self.tokens,
            "asked": self._asked,
            "shown": self._shown,
        }
