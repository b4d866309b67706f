"""One check judged by a language model: choose passages, ask, hold the answer against the text.

Every way that this can go wrong ends in a verdict that says so: error when a model was asked and gave nothing that
holds, skipped when it was not asked or could not tell. None of them is ever a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from hub.access.principals import Principal
from hub.core.errors import HubError
from hub.llm import client
from hub.llm.budget import Budget
from hub.llm.errors import AnswerPending, BudgetExceeded, LlmInvalidAnswer, LlmRefused, LlmTimeout
from hub.llm.material import label_of
from hub.llm.ports import NamesItsModel, Provider
from hub.llm.preparation import Purpose, model_of
from hub.llm.types import LlmAnswer, LlmRequest, Strength
from knowledge.types import Notice
from review.judging import notices
from review.judging.plan import fit, holds_planted, judge_request, screen_request
from review.judging.reading import read_judgement
from review.judging.types import CheckTask, Material, Opinion, Passage, PromptTexts, Reading
from review.judging.votes import combine
from review.types import Verdict

# After a time-out the same request with half of the passages, this many times.
MAX_HALVINGS = 3
# The light model looks at this many times what the strong one gets.
SCREENED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was last asked, for the test bench: the request, and the answer when one came."""

    request: LlmRequest
    answer: LlmAnswer | None = None


@dataclass(slots=True, kw_only=True)
class Judge:
    """Asks one provider within one budget. ``heartbeat`` is called before each request.

    Once the budget is used up nothing more is asked. ``last`` is the last request that was made.
    """

    principal: Principal
    provider: Provider
    budget: Budget
    prompts: PromptTexts
    purpose: Purpose
    heartbeat: Callable[[], None]
    is_replay: bool = False
    is_stopped: bool = False
    last: Asked | None = None
    _remarks: list[Notice] = field(default_factory=list)

    def decide(self, task: CheckTask, material: Material) -> Opinion:
        """Judge one check. :raises AnswerPending: the caller's model has to be asked first."""
        if self.is_stopped:
            return Opinion(verdict=Verdict.SKIPPED, notices=(notices.BUDGET_STOP,))
        self._remarks = list(material.notices)
        try:
            passages = self._choose(task, material)
            before = list(self._remarks)
            votes: list[Opinion] = []
            for vote in range(self._votes_wanted):
                self._remarks = list(before)
                votes.append(self._cast(task, material, passages, vote=vote))
            return combine(votes)
        except BudgetExceeded:
            self.is_stopped = True
            return self._undecided(Verdict.SKIPPED, notices.BUDGET_STOP)
        except AnswerPending:
            raise
        except HubError as error:
            return self._failed(error)

    @property
    def _votes_wanted(self) -> int:
        """A caller's model is asked once: its user pays for it."""
        return 1 if isinstance(self.provider, NamesItsModel) else settings.CONFIG.llm_votes

    def _cast(self, task: CheckTask, material: Material, passages: Sequence[Passage], *, vote: int) -> Opinion:
        """One answer's opinion; an answer that fails is one, too. :raises BudgetExceeded, AnswerPending: as it says."""
        try:
            return self._judge(task, material, passages, vote=vote)
        except (AnswerPending, BudgetExceeded):
            raise
        except HubError as error:
            return self._failed(error)

    def _failed(self, error: HubError) -> Opinion:
        was_asked = not _was_never_sent(error)
        verdict = Verdict.ERROR if was_asked else Verdict.SKIPPED
        return self._undecided(verdict, notices.failed(error, was_asked=was_asked))

    def replay(self, task: CheckTask, material: Material, record: Mapping[str, Any]) -> Opinion:
        """Judge a check as an earlier review did, from the recorded answers alone; ``record`` is that review's."""
        cast = record.get("votes") or [record]
        return combine([self._recast(task, material, each, vote=vote) for vote, each in enumerate(cast)])

    def _recast(self, task: CheckTask, material: Material, record: Mapping[str, Any], *, vote: int) -> Opinion:
        if "passages" not in record:  # this vote gave nothing usable then
            said = tuple(Notice(**notice) for notice in record["notices"])
            return Opinion(verdict=Verdict(record["verdict"]), notices=said)
        self._remarks = [Notice(**remark) for remark in record["remarks"]]
        passages = [
            Passage(chunk_id=chunk_id, start=start, end=end, section_path=tuple(path))
            for chunk_id, start, end, path in record["passages"]
        ]
        try:
            reading = self._ask(task, material, passages, repair=record["repair"], vote=vote)
        except HubError as error:
            return self._undecided(Verdict.ERROR, notices.failed(error, was_asked=True))
        return self._conclude(task, reading, material, passages, repair=record["repair"])

    def _choose(self, task: CheckTask, material: Material) -> tuple[Passage, ...]:
        tokens = settings.CONFIG.llm_context_tokens
        chosen = fit(material.text, material.ranked, tokens=tokens)
        if len(chosen) == len(material.ranked):
            return chosen
        self._remarks.append(notices.EXCERPTS_ONLY)
        if not settings.CONFIG.llm_light_model or isinstance(self.provider, NamesItsModel):
            return chosen
        return fit(material.text, self._screened(task, material, tokens), tokens=tokens)

    def _screened(self, task: CheckTask, material: Material, tokens: int) -> Sequence[Passage]:
        """The passages with those first that the light model finds relevant; it reads them part by part."""
        relevant: list[Passage] = []
        left = list(fit_in_rank(material, tokens=SCREENED * tokens))
        try:
            while left:
                part = fit(material.text, left, tokens=tokens)
                left = [one for one in left if one not in part]
                answer = self._send(
                    screen_request(task, material.text, part, prompts=self.prompts, planted=material.planted)
                )
                named = {label_of(index): one for index, one in enumerate(part)}
                relevant += [named[label] for label in dict.fromkeys(answer.data["relevant"])]
        except BudgetExceeded:
            raise
        except HubError:
            self._remarks.append(notices.SCREENING_FAILED)
        return [*relevant, *(one for one in material.ranked if one not in relevant)]

    def _judge(self, task: CheckTask, material: Material, passages: Sequence[Passage], *, vote: int) -> Opinion:
        """Ask, with fewer passages after a time-out, and once more (saying why) after an answer that does not hold."""
        repair, halvings = "", 0
        while True:
            try:
                reading = self._ask(task, material, passages, repair=repair, vote=vote)
            except LlmTimeout:
                halvings += 1
                if halvings > MAX_HALVINGS or len(passages) < 2:
                    raise
                passages = _half(material, passages)
                self._remark(notices.CONTEXT_HALVED)
                continue
            except LlmInvalidAnswer:
                if repair or not self._may_repair:
                    raise
                repair = LlmInvalidAnswer.code
                continue
            if reading.is_usable or repair or not self._may_repair:
                return self._conclude(task, reading, material, passages, repair=repair)
            repair = reading.complaint

    @property
    def _may_repair(self) -> bool:
        """A caller's model gets each request once: its unusable answers are not kept between its calls."""
        return not isinstance(self.provider, NamesItsModel)

    def _ask(
        self, task: CheckTask, material: Material, passages: Sequence[Passage], *, repair: str, vote: int
    ) -> Reading:
        request = judge_request(
            task, material.text, passages, prompts=self.prompts, planted=material.planted, repair=repair, vote=vote
        )
        return read_judgement(task, self._send(request).data, material.text, passages)

    def _send(self, request: LlmRequest) -> LlmAnswer:
        self.heartbeat()
        self.last = Asked(request=request)
        answer = client.ask(
            self.principal,
            request,
            purpose=self.purpose,
            budget=self.budget,
            replay=self.is_replay,
            provider=self.provider,
        )
        self.last = Asked(request=request, answer=answer)
        return answer

    def _conclude(
        self, task: CheckTask, reading: Reading, material: Material, passages: Sequence[Passage], *, repair: str
    ) -> Opinion:
        said = [*self._remarks, *_remarks_of(task, reading)]
        verdict = reading.verdict
        if holds_planted(passages, material.planted):
            said.append(notices.INSTRUCTION_IN_DOCUMENT)
            if verdict in (Verdict.PASS, Verdict.WARNING):
                verdict = Verdict.SKIPPED
                said.append(notices.PASS_NOT_TAKEN)
        return Opinion(
            verdict=verdict,
            score=reading.score if reading.is_usable else None,
            findings=reading.findings,
            notices=tuple(dict.fromkeys(said)),
            record=self._record(reading, passages, repair=repair),
        )

    def _record(self, reading: Reading, passages: Sequence[Passage], *, repair: str) -> dict[str, Any]:
        return {
            "provider": self.provider.name,
            "model": model_judging(self.provider),
            "is_private": self.provider.is_private,
            "prompts": dict(self.prompts.numbers),
            "passages": [[one.chunk_id, one.start, one.end, list(one.section_path)] for one in passages],
            "repair": repair,
            "remarks": [remark.as_dict() for remark in self._remarks],
            "reason": reading.reason,
            "grounds": [[span.start, span.end] for span in reading.grounds],
        }

    def _undecided(self, verdict: Verdict, notice: Notice) -> Opinion:
        return Opinion(verdict=verdict, notices=tuple(dict.fromkeys([*self._remarks, notice])))

    def _remark(self, notice: Notice) -> None:
        if notice not in self._remarks:
            self._remarks.append(notice)


def fit_in_rank(material: Material, *, tokens: int) -> tuple[Passage, ...]:
    """The passages that fit into ``tokens``, best first."""
    chosen = set(fit(material.text, material.ranked, tokens=tokens))
    return tuple(one for one in material.ranked if one in chosen)


def _half(material: Material, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The better half of the passages, in document order."""
    ranked = [one for one in material.ranked if one in passages]
    return tuple(sorted(ranked[: max(1, len(ranked) // 2)], key=lambda one: (one.start, one.end)))


def _remarks_of(task: CheckTask, reading: Reading) -> list[Notice]:
    said: list[Notice] = []
    if reading.complaint:
        said.append(notices.COMPLAINTS[reading.complaint])
    if reading.fabricated:
        said.append(notices.UNVERIFIED)
    if reading.verdict is Verdict.SKIPPED:
        said.append(notices.CANNOT_TELL)
    if reading.verdict is Verdict.WARNING and task.threshold is not None and reading.score < task.threshold:
        said.append(notices.BELOW_THRESHOLD)
    return said


def _was_never_sent(error: HubError) -> bool:
    return isinstance(error, LlmRefused) and error.error_code == "llm_classification_too_high"


def model_judging(provider: Provider) -> str:
    """The model that gives judgements: the configured one, or the provider's own."""
    return provider.model if isinstance(provider, NamesItsModel) else model_of(Strength.STRONG)
