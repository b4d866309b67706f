"""Answers by a language model beside those of the documents alone: the same questions, asked side by side.

Every question is asked twice. The first time its request goes out and the documents answer by themselves; once all
requests are answered, or given up, it is asked again, and the model's answer is there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks.answering.measure import Asked, Given, Way, ask
from benchmarks.first_shot.side_by_side import asked_side_by_side
from benchmarks.retrieval.measure import share
from hub.llm.errors import LlmInvalidAnswer, LlmTimeout, LlmUnavailable
from hub.llm.providers.registry import CHARACTERS_PER_TOKEN
from hub.llm.types import Limits
from knowledge.answering.types import BESIDE_THE_QUESTION, SENTENCES_DROPPED, UNLIKELY_BY_SIGNS

NO_ANSWER = {LlmUnavailable.code, LlmTimeout.code, LlmInvalidAnswer.code}
"""The last for one that is still under way."""
HEADER = (
    f"{'':34}{'there':>6}{'from it':>9}{'elsewhere':>10}{'right':>7}{'out':>5}{'no':>7}{'unsaid':>8}{'no':>7}"
    f"{'dropped':>9}{'beside':>8}{'warned':>8}{'right':>7}"
)
LEGEND = """
there: questions whose passage is there; from it: answered with a sentence of the passage; elsewhere: of others alone;
right: of the answers given then, those with one of the known answers
out, unsaid: questions whose passage was taken out, and those of others or that a document does not answer; no: refused
dropped, beside: questions of which a sentence of the model's was left out; warned: answers that the signs doubt, right:
of these. Questions that the model did not answer in time are in no figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """What a question got from the documents alone, and with the model."""

    way: Way
    alone: Given
    with_model: Given

    @property
    def is_answered(self) -> bool:
        """Whether the model answered at all; where its answer was of no use, the documents' own counts as its."""
        return _codes(self.with_model).isdisjoint(NO_ANSWER)


def run(asked: Sequence[Asked], cache: Path, *, lines: Path | None, waits: Callable[[int], None]) -> None:
    """Print two lines for each set; ``waits`` is called with how many requests wait, once all of them do."""
    config = settings.CONFIG
    most = config.llm_max_output_tokens * CHARACTERS_PER_TOKEN
    limits = Limits(timeout_s=config.llm_timeout_s, max_answer_chars=most)
    with asked_side_by_side(config.llm_base_url, limits=limits) as provider:
        alone = [[(way, ask(question)) for way, question in one.each(cache)] for one in asked]
        waits(len(provider.sent.answers))
        provider.sent.wait()
        again = [[ask(question) for _way, question in one.each(cache)] for one in asked]
    print(HEADER)
    for one, before, after in zip(asked, alone, again, strict=True):
        both = [Both(way=way, alone=first, with_model=then) for (way, first), then in zip(before, after, strict=True)]
        _print(one.corpus.name, both)
        if lines:
            with lines.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(_line(one.corpus.name, each), ensure_ascii=False) + "\n" for each in both)
    print(LEGEND)


def _print(name: str, both: Sequence[Both]) -> None:
    counted = [one for one in both if one.is_answered]
    alone = _by_way((one.way, one.alone) for one in counted)
    with_model = _by_way((one.way, one.with_model) for one in counted)
    print(f"{name[:33]:34}{_figures(alone)}\n{'':34}{_figures(with_model)}", flush=True)
    if len(counted) < len(both):
        print(f"{'':34}not answered in time: {len(both) - len(counted)}")


def _by_way(given: Iterable[tuple[Way, Given]]) -> dict[Way, list[Given]]:
    found: dict[Way, list[Given]] = {way: [] for way in Way}
    for way, one in given:
        found[way].append(one)
    return found


def _figures(measured: Mapping[Way, Sequence[Given]]) -> str:
    there, out, strangers = (measured[way] for way in (Way.THERE, Way.OUT, Way.STRANGER))
    answered = [one for one in there if not one.is_refused]
    codes = Counter(code for given in measured.values() for one in given for code in _codes(one))
    doubted = [_is_right(one) for one in answered if UNLIKELY_BY_SIGNS in one.answer.notices]
    return (
        f"{len(there):>6}{share(one.is_from_gold for one in there):>9.3f}"
        f"{share(not one.is_refused and not one.is_from_gold for one in there):>10.3f}"
        f"{share(_is_right(one) for one in answered):>7.3f}"
        f"{len(out):>5}{share(one.is_refused for one in out):>7.3f}"
        f"{len(strangers):>8}{share(one.is_refused for one in strangers):>7.3f}"
        f"{codes[SENTENCES_DROPPED.code]:>9}{codes[BESIDE_THE_QUESTION.code]:>8}"
        f"{codes[UNLIKELY_BY_SIGNS.code]:>8}{share(doubted):>7.3f}"
    )


def _codes(given: Given) -> set[str]:
    return {notice.code for notice in given.answer.notices}


def _is_right(given: Given) -> bool:
    return any(given.is_right(one) for one in given.answer.sentences)


def _line(name: str, both: Both) -> dict[str, Any]:
    question = both.alone.question
    ways = {"alone": both.alone, "with_model": both.with_model}
    return {
        "set": name,
        "way": both.way.value,
        "question": question.text,
        "answers": sorted(question.answers),
        "answered_by_model": both.is_answered,
        **{
            title: {
                "sentences": [
                    {"text": one.text, "quotes": [cited.quote for cited in one.citations]}
                    for one in given.answer.sentences
                ],
                "from_gold": given.is_from_gold,
                "right": _is_right(given),
                "notices": [notice.code for notice in given.answer.notices],
            }
            for title, given in ways.items()
        },
    }
