"""One check judged by a language model: choose passages, ask, hold the answer against the text.

Every way that this can go wrong ends in a verdict that says so: error when a model was asked and gave nothing that
holds, or when what it should see could not be found; skipped when it was not asked or could not tell. None of them is
ever a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import HubError, Unavailable
from hub.llm import client
from hub.llm.budget import Budget
from hub.llm.errors import NEVER_SENT, AnswerPending, BudgetExceeded, LlmInvalidAnswer, LlmRefused, LlmTimeout
from hub.llm.preparation import Purpose, model_of
from hub.llm.types import LlmAnswer, LlmRequest, NamesItsModel, Provider, Strength
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.choosing import Chosen, choose_whole
from review.judging.long_documents import LongDocument
from review.judging.plan import halve_supplements, holds_planted, judge_request
from review.judging.reading import documents_of, read_judgement
from review.judging.sampling import AnswerTimedOut, ReplayProvider
from review.judging.types import (
    CheckTask,
    Consultation,
    Material,
    Opinion,
    Passage,
    PromptTexts,
    Reading,
    Summary,
    Supplement,
)
from review.judging.votes import combine
from review.types import Consulted, Verdict

# After a time-out the same request with half of the passages, this many times.
MAX_HALVINGS = 3


# Supplements again, from what a record has of them.
Remake = Callable[[Sequence[Mapping[str, Any]]], tuple[Supplement, ...]]


class Unranked(Unavailable):
    """What bears on a check can't be found in a document that can't be shown whole."""

    code = "passages_unranked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was last asked, for the test bench: the request, and the answer when one came."""

    request: LlmRequest
    answer: LlmAnswer | None = None


@dataclass(slots=True, kw_only=True)
class Judge:
    """Asks one provider within one budget about one document. ``heartbeat`` is called before each request.

    Once the budget is used up nothing more is asked. ``last`` is the last request that was made. ``light`` answers
    light requests where that is another provider: in a replay.
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
    light: Provider | None = None
    _reading: LongDocument | None = None
    _remarks: list[Notice] = field(default_factory=list)

    def decide(self, task: CheckTask, material: Material) -> Opinion:
        """Judge one check. :raises AnswerPending: the caller's model has to be asked first."""
        if self.is_stopped:
            return Opinion(verdict=Verdict.SKIPPED, notices=(notices.BUDGET_STOP,))
        self._remarks = list(material.notices)
        try:
            chosen = self._choose(task, material)
            before = list(self._remarks)
            votes: list[Opinion] = []
            for vote in range(self._votes_wanted):
                self._remarks = list(before)
                votes.append(self._cast(task, material, chosen, vote=vote))
            return combine(votes)
        except BudgetExceeded:
            self.is_stopped = True
            return self._undecided(Verdict.SKIPPED, notices.BUDGET_STOP)
        except AnswerPending:
            raise
        except Unranked as error:
            return self._undecided(Verdict.ERROR, notices.failed(error, was_asked=False))
        except HubError as error:
            return self._failed(error)

    @property
    def _votes_wanted(self) -> int:
        """A caller's model is asked once: its user pays for it."""
        return 1 if isinstance(self.provider, NamesItsModel) else settings.CONFIG.llm_votes

    def _cast(self, task: CheckTask, material: Material, chosen: Chosen, *, vote: int) -> Opinion:
        """One answer's opinion; an answer that fails is one, too. :raises BudgetExceeded, AnswerPending: as it says."""
        try:
            return self._judge(task, material, chosen, vote=vote)
        except (AnswerPending, BudgetExceeded):
            raise
        except HubError as error:
            return self._failed(error)

    def _failed(self, error: HubError) -> Opinion:
        was_asked = not (isinstance(error, LlmRefused) and error.error_code in NEVER_SENT)
        verdict = Verdict.ERROR if was_asked else Verdict.SKIPPED
        return self._undecided(verdict, notices.failed(error, was_asked=was_asked))

    def replay(self, task: CheckTask, material: Material, record: Mapping[str, Any], remake: Remake) -> Opinion:
        """Judge a check as an earlier review did, from the recorded answers alone; ``record`` is that review's.

        ``remake`` makes the supplements again from what the record has of them.
        """
        cast = record.get("votes") or [record]
        return combine([self._recast(task, material, each, remake, vote=vote) for vote, each in enumerate(cast)])

    def _recast(
        self, task: CheckTask, material: Material, record: Mapping[str, Any], remake: Remake, *, vote: int
    ) -> Opinion:
        if "passages" not in record:  # this vote gave nothing usable then
            said = tuple(Notice(**notice) for notice in record["notices"])
            return Opinion(verdict=Verdict(record["verdict"]), notices=said)
        self._remarks = [Notice(**remark) for remark in record["remarks"]]
        material = replace(
            material,
            consultation=replace(material.consultation, consulted=tuple(map(Consulted, record.get("consulted", ())))),
        )
        try:
            chosen = Chosen(
                passages=tuple(map(Passage.from_row, record["passages"])),
                overview=self._overview_again(task, material, record),
                supplements=remake(record.get("supplements", ())),
            )
            reading = self._ask(task, material, chosen, repair=record["repair"], vote=vote)
        except HubError as error:
            return self._undecided(Verdict.ERROR, notices.failed(error, was_asked=True))
        return self._conclude(task, reading, material, chosen, repair=record["repair"])

    def _overview_again(self, task: CheckTask, material: Material, record: Mapping[str, Any]) -> tuple[Summary, ...]:
        """The summaries that an earlier review's model saw, from the recorded answers."""
        if "overview" not in record:
            return ()
        self.light = ReplayProvider(
            name=record["provider"], model=record["overview"]["model"], is_private=record["is_private"]
        )
        return self._long.again(task, material, record["overview"])

    @property
    def _long(self) -> LongDocument:
        if self._reading is None:
            self._reading = LongDocument(
                send=self._send,
                provider=self.provider,
                budget=self.budget,
                purpose=self.purpose,
                prompts=self.prompts,
                may_repair=self._may_repair,
            )
        return self._reading

    def _choose(self, task: CheckTask, material: Material) -> Chosen:
        """All passages where they fit; else those that summaries, a light model and search find."""
        tokens = settings.CONFIG.llm_context_tokens
        if whole := choose_whole(material, tokens=tokens):
            return whole
        if not material.is_ranked:
            raise Unranked(
                _("The document is too long to be shown whole, and the search for what bears on a check is down.")
            )
        self._remark(notices.EXCERPTS_ONLY)
        chosen = self._long.choose(task, material, tokens=tokens)
        for remark in chosen.remarks:
            self._remark(remark)
        return chosen

    def _judge(self, task: CheckTask, material: Material, chosen: Chosen, *, vote: int) -> Opinion:
        """Ask, with fewer passages after a time-out, and once more (saying why) after an answer that does not hold."""
        repair, halvings = "", 0
        while True:
            try:
                reading = self._ask(task, material, chosen, repair=repair, vote=vote)
            except LlmTimeout:
                halvings += 1
                if halvings > MAX_HALVINGS or len(chosen.passages) < 2:
                    raise
                supplements = halve_supplements(chosen.supplements)
                chosen = Chosen(passages=_half(material, chosen.passages), supplements=supplements)
                self._remark(notices.CONTEXT_HALVED)
                continue
            except LlmInvalidAnswer:
                if repair or not self._may_repair:
                    raise
                repair = LlmInvalidAnswer.code
                continue
            if reading.is_usable or repair or not self._may_repair:
                return self._conclude(task, reading, material, chosen, repair=repair)
            repair = reading.complaint

    @property
    def _may_repair(self) -> bool:
        """A caller's model gets each request once: its unusable answers are not kept between its calls."""
        return not isinstance(self.provider, NamesItsModel)

    def _ask(self, task: CheckTask, material: Material, chosen: Chosen, *, repair: str, vote: int) -> Reading:
        make = partial(
            judge_request,
            task,
            material.text,
            chosen.passages,
            prompts=self.prompts,
            withheld=material.withheld,
            vote=vote,
            overview=chosen.overview,
            supplements=chosen.supplements,
        )
        repairs = make(repair="") if repair == LlmInvalidAnswer.code else None
        return read_judgement(
            task,
            self._send(make(repair=repair), repairs=repairs).data,
            material.text,
            chosen.passages,
            supplements=chosen.supplements,
            texts=material.texts,
        )

    def _send(self, request: LlmRequest, *, repairs: LlmRequest | None = None) -> LlmAnswer:
        self.heartbeat()
        self.last = Asked(request=request)
        try:
            answer = client.ask(
                self.principal,
                request,
                purpose=self.purpose,
                budget=self.budget,
                replay=self.is_replay,
                provider=(self.light if request.strength is Strength.LIGHT else None) or self.provider,
                repairs=repairs,
            )
        except AnswerTimedOut as error:
            raise LlmTimeout(_("The caller's language model did not answer in time.")) from error
        self.last = Asked(request=request, answer=answer)
        return answer

    def _conclude(
        self, task: CheckTask, reading: Reading, material: Material, chosen: Chosen, *, repair: str
    ) -> Opinion:
        said = [*self._remarks, *_remarks_of(task, reading)]
        verdict = reading.verdict
        if holds_planted(chosen.passages, material.planted) or any(one.is_planted for one in chosen.supplements):
            said.append(notices.INSTRUCTION_IN_DOCUMENT)
            if verdict in (Verdict.PASS, Verdict.WARNING):
                verdict = Verdict.SKIPPED
                said.append(notices.PASS_NOT_TAKEN)
        return Opinion(
            verdict=verdict,
            score=reading.score if reading.is_usable else None,
            findings=reading.findings,
            notices=tuple(dict.fromkeys(said)),
            record=self._record(reading, material, chosen, repair=repair),
            consultation=_consultation(material, chosen),
        )

    def _record(self, reading: Reading, material: Material, chosen: Chosen, *, repair: str) -> dict[str, Any]:
        record = {
            "provider": self.provider.name,
            "model": model_judging(self.provider),
            "is_private": self.provider.is_private,
            "prompts": dict(self.prompts.numbers),
            "passages": [one.as_row() for one in chosen.passages],
            "repair": repair,
            "consulted": list(material.consultation.consulted),
            "remarks": [remark.as_dict() for remark in self._remarks],
            "reason": reading.reason,
            "grounds": [[span.start, span.end] for span in reading.grounds if not span.document],
        }
        if chosen.supplements:
            record["supplements"] = [one.as_json() for one in chosen.supplements]
            record["related"] = list(documents_of(chosen.supplements))
        if chosen.overview:
            model = model_judging(self.light or self.provider, Strength.LIGHT)
            record["overview"] = {"model": model, **self._long.record(chosen.overview)}
        return record

    def _undecided(self, verdict: Verdict, notice: Notice) -> Opinion:
        return Opinion(verdict=verdict, notices=tuple(dict.fromkeys([*self._remarks, notice])))

    def _remark(self, notice: Notice) -> None:
        if notice not in self._remarks:
            self._remarks.append(notice)


def _half(material: Material, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The better half of the passages, in document order."""
    ranked = [one for one in material.ranked if one in passages]
    return tuple(sorted(ranked[: max(1, len(ranked) // 2)], key=lambda one: (one.start, one.end)))


def _consultation(material: Material, chosen: Chosen) -> Consultation:
    related = [one.passage for one in chosen.supplements if one.passage is not None]
    shown = Consultation(
        consulted=(Consulted.MODEL,),
        chunks=tuple((one.chunk_id, one.document) for one in (*chosen.passages, *related) if one.chunk_id),
        articles=tuple(one.code for one in chosen.supplements if one.code),
    )
    return replace(material.consultation, notices=()).and_(shown)


def _remarks_of(task: CheckTask, reading: Reading) -> list[Notice]:
    said: list[Notice] = []
    if reading.complaint:
        said.append(notices.COMPLAINTS[reading.complaint])
    if reading.fabricated:
        said.append(notices.UNVERIFIED)
    if reading.verdict is Verdict.SKIPPED:
        said.append(notices.CANNOT_TELL if reading.is_applicable else notices.NOT_APPLICABLE)
    if reading.verdict is Verdict.WARNING and task.is_below(reading.score):
        said.append(notices.BELOW_THRESHOLD)
    return said


def model_judging(provider: Provider, strength: Strength = Strength.STRONG) -> str:
    """The model that gives judgements: the configured one, or the provider's own."""
    return provider.model if isinstance(provider, NamesItsModel) else model_of(strength)
