"""The requests that judging a check takes as long as all goes well, planned without sending any. Pure.

What nobody knows before is stood in for: a summary by the beginning of its section, the sections that a check chooses
by those that search ranks first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hub.llm.types import LlmRequest
from review.judging.choosing import (
    OVERVIEW_SHARE,
    SCREENED,
    SCREENED_WITH_SUMMARIES,
    order_candidates,
    screening_parts,
)
from review.judging.digest import plan_parts
from review.judging.overview import choice_request, fit_overview, split_summaries, tokens_of
from review.judging.plan import fit, judge_request, screen_request
from review.judging.types import CheckTask, Material, Passage, PromptTexts, Summary

# Two sentences; a model is allowed twice as many characters.
USUAL_SUMMARY = 120


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
        if not is_long(material, tokens=self.tokens):
            return Forecast(
                leading=(),
                judging=self._judging(task, material, fit(material.text, material.ranked, tokens=self.tokens)),
            )
        summaries = self._stand_ins(material)
        overview = fit_overview(summaries, (), tokens=self.tokens // OVERVIEW_SHARE)
        candidates = order_candidates(material, (), tokens=self.tokens)
        left = self.tokens - sum(map(tokens_of, overview))
        return Forecast(
            leading=(*self._choices(task, summaries), *self._screenings(task, material, candidates, summaries)),
            judging=self._judging(task, material, fit(material.text, candidates, tokens=left), overview),
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
            screen_request(task, material.text, part, prompts=self.prompts, planted=material.planted) for part in parts
        ]

    def _judging(
        self, task: CheckTask, material: Material, passages: Sequence[Passage], overview: Sequence[Summary] = ()
    ) -> LlmRequest:
        return judge_request(
            task,
            material.text,
            passages,
            prompts=self.prompts,
            planted=material.planted,
            repair="",
            overview=overview,
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
