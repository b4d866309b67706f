"""What of a document that no request can hold the judging model gets to see.

Sections are summarised once (`digest`), a check chooses sections from the summaries, and where there is a light model
it reads what is likeliest and quotes what bears on the check. Only passages are chosen that way: each of these models
may be wrong, so the best that search finds is always among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hub.core.errors import HubError
from hub.llm.errors import AnswerPending, BudgetExceeded
from hub.llm.material import label_of
from hub.llm.types import LlmRequest
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.digest import Digest, Send, plan_parts
from review.judging.overview import choice_request, fit_overview, read_choice, split_summaries, tokens_of
from review.judging.plan import (
    SUPPLEMENTS_SHARE,
    fit,
    fit_supplements,
    judge_request,
    screen_request,
    tokens_of_passages,
    tokens_of_supplement,
)
from review.judging.reading import find_quote
from review.judging.types import CheckTask, Material, Passage, PromptTexts, Summary, Supplement

# The light model looks at this many times what the strong one gets; fewer where summaries have shown the way.
SCREENED = 4
SCREENED_WITH_SUMMARIES = 2
# The shares (one of so many) of what the strong model gets that are search's own and the overview's.
SEARCHED_SHARE = 4
OVERVIEW_SHARE = 4
# Two sentences; a model is allowed twice as many characters.
USUAL_SUMMARY = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a model judges from. ``overview`` is of a long document, and no evidence."""

    passages: tuple[Passage, ...]
    overview: tuple[Summary, ...] = ()
    supplements: tuple[Supplement, ...] = ()
    remarks: tuple[Notice, ...] = ()


@dataclass(slots=True, kw_only=True)
class Chooser:
    """Chooses passages for one check, within ``tokens``. ``screens``: a light model reads them first."""

    send: Send
    task: CheckTask
    material: Material
    prompts: PromptTexts
    tokens: int
    screens: bool
    _remarks: list[Notice] = field(default_factory=list)

    def choose(self, digest: Digest) -> Chosen:
        """Choose with the help of summaries, if there are any. :raises AnswerPending, BudgetExceeded: by sending."""
        chosen = self._sections(digest.summaries)
        overview = fit_overview(digest.summaries, chosen, tokens=self.tokens // OVERVIEW_SHARE)
        supplements = fit_supplements(self.material.supplements, tokens=beside_of(self.tokens))
        left = self.tokens - sum(map(tokens_of, overview)) - sum(map(tokens_of_supplement, supplements))
        candidates: Sequence[Passage] = order_candidates(self.material, chosen, tokens=self.tokens)
        if self.screens:
            times = SCREENED_WITH_SUMMARIES if digest.summaries else SCREENED
            candidates = self._screened(candidates, tokens=times * self.tokens)
        passages = fit(self.material.text, candidates, tokens=left)
        remarks = tuple(dict.fromkeys(self._remarks))
        return Chosen(passages=passages, overview=overview, supplements=supplements, remarks=remarks)

    def _sections(self, summaries: Sequence[Summary]) -> tuple[Summary, ...]:
        """The sections that the light model finds relevant by their summaries, from every part of a long table."""
        chosen: list[Summary] = []
        pending: AnswerPending | None = None
        for part in split_summaries(summaries, tokens=self.tokens):
            try:
                answer = self.send(choice_request(self.task, part, prompts=self.prompts))
            except AnswerPending as error:
                pending = error
            except BudgetExceeded:
                raise
            except HubError:
                self._remarks.append(notices.SCREENING_FAILED)
                break
            else:
                chosen += read_choice(answer.data, part)
        if pending:
            raise pending
        return tuple(chosen)

    def _screened(self, candidates: Sequence[Passage], *, tokens: int) -> Sequence[Passage]:
        """The passages with those first that the light model quotes from; it reads them part by part."""
        relevant: list[Passage] = []
        try:
            for part in screening_parts(self.material.text, candidates, most=tokens, tokens=self.tokens):
                relevant += self._quoted(part)
        except BudgetExceeded:
            raise
        except HubError:
            self._remarks.append(notices.SCREENING_FAILED)
        return list(dict.fromkeys([*relevant, *candidates]))

    def _quoted(self, part: Sequence[Passage]) -> list[Passage]:
        """The passages in which a quote of the light model's really stands, in its order."""
        material = self.material
        answer = self.send(
            screen_request(self.task, material.text, part, prompts=self.prompts, withheld=material.withheld)
        )
        named = {label_of(index): one for index, one in enumerate(part)}
        found: list[Passage] = []
        for choice in answer.data["relevant"]:
            places = (named[choice["passage"]], *part)
            holding = (
                one for one in places if find_quote(material.text, choice["quote"], start=one.start, end=one.end)
            )
            found += [one for one in [next(holding, None)] if one]
        return found


def beside_of(tokens: int) -> int:
    """The tokens of what stands beside the passages of a document that is not shown whole."""
    return int(tokens * SUPPLEMENTS_SHARE)


def choose_whole(material: Material, *, tokens: int) -> Chosen | None:
    """Choose all passages, and beside them what still fits; None where the passages alone are too many."""
    passages = fit(material.text, material.ranked, tokens=tokens)
    if len(passages) < len(material.ranked):
        return None
    taken = tokens_of_passages(material.text, passages)
    return Chosen(passages=passages, supplements=fit_supplements(material.supplements, tokens=tokens - taken))


def order_candidates(material: Material, chosen: Sequence[Summary], *, tokens: int) -> tuple[Passage, ...]:
    """The passages by search's rank, but those of the chosen sections right after search's best."""
    best = set(fit(material.text, material.ranked, tokens=max(tokens // SEARCHED_SHARE, 1)))
    stretches = [summary.stretch for summary in chosen]

    def rank(passage: Passage) -> int:
        if passage in best:
            return 0
        return 1 if any(one.start < passage.end and passage.start < one.end for one in stretches) else 2

    return tuple(sorted(material.ranked, key=rank))


def screening_parts(text: str, candidates: Sequence[Passage], *, most: int, tokens: int) -> list[tuple[Passage, ...]]:
    """Cut the best ``most`` tokens of the candidates into requests of ``tokens``, the best first."""
    reached = set(fit(text, candidates, tokens=most))
    left = [one for one in candidates if one in reached]
    parts: list[tuple[Passage, ...]] = []
    while left:
        part = fit(text, left, tokens=tokens)
        taken = set(part)
        left = [one for one in left if one not in taken]
        parts.append(part)
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The requests about one check: what leads to its passages, and the one that is made for each vote."""

    leading: tuple[LlmRequest, ...]
    judging: LlmRequest


def is_long(material: Material, *, tokens: int) -> bool:
    """Tell whether a document's passages are more than one request of ``tokens`` holds."""
    return len(fit(material.text, material.ranked, tokens=tokens)) < len(material.ranked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecaster:
    """Plans for documents judged within ``tokens``; ``summarises`` and ``screens`` as the review will."""

    prompts: PromptTexts
    tokens: int
    summarises: bool
    screens: bool

    def forecast(self, task: CheckTask, material: Material) -> Forecast:
        """Plan the requests of one check, without those for the document's summaries."""
        if whole := choose_whole(material, tokens=self.tokens):
            return Forecast(leading=(), judging=self._judging(task, material, whole))
        summaries = self._stand_ins(material)
        overview = fit_overview(summaries, (), tokens=self.tokens // OVERVIEW_SHARE)
        candidates = order_candidates(material, (), tokens=self.tokens)
        supplements = fit_supplements(material.supplements, tokens=beside_of(self.tokens))
        left = self.tokens - sum(map(tokens_of, overview)) - sum(map(tokens_of_supplement, supplements))
        passages = fit(material.text, candidates, tokens=left)
        return Forecast(
            leading=(*self._choices(task, summaries), *self._screenings(task, material, candidates, summaries)),
            judging=self._judging(
                task, material, Chosen(passages=passages, overview=tuple(overview), supplements=supplements)
            ),
        )

    def _choices(self, task: CheckTask, summaries: Sequence[Summary]) -> list[LlmRequest]:
        parts = split_summaries(summaries, tokens=self.tokens)
        return [choice_request(task, part, prompts=self.prompts) for part in parts]

    def _screenings(
        self, task: CheckTask, material: Material, candidates: Sequence[Passage], summaries: Sequence[Summary]
    ) -> list[LlmRequest]:
        if not self.screens:
            return []
        times = SCREENED_WITH_SUMMARIES if summaries else SCREENED
        parts = screening_parts(material.text, candidates, most=times * self.tokens, tokens=self.tokens)
        return [
            screen_request(task, material.text, part, prompts=self.prompts, withheld=material.withheld)
            for part in parts
        ]

    def _judging(self, task: CheckTask, material: Material, chosen: Chosen) -> LlmRequest:
        return judge_request(
            task,
            material.text,
            chosen.passages,
            prompts=self.prompts,
            withheld=material.withheld,
            repair="",
            overview=chosen.overview,
            supplements=chosen.supplements,
        )

    def _stand_ins(self, material: Material) -> list[Summary]:
        if not self.summarises:
            return []
        parts, _is_whole = plan_parts(material, tokens=self.tokens)
        stretches = [stretch for part in parts for stretch in part]
        return [
            Summary(stretch=one, text=" ".join(material.text[one.start : one.end].split())[:USUAL_SUMMARY])
            for one in stretches
        ]
