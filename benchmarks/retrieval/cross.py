"""Choose weights and calibration on one question set, and report what they are worth on another."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.retrieval.fit import Collected, collect, fit_line, fit_range, ranked_keys, sample_values, separation
from benchmarks.retrieval.measure import TOP, alternatives, chance
from benchmarks.retrieval.quality import evaluate
from benchmarks.retrieval.question_sets import QuestionSet, read_sets
from hub.evaluation.metrics import ndcg_at
from knowledge.search.fusion import WEIGHTS, CosineRange, Weights
from knowledge.types.search import SearchMode

STEPS = 10
# Every way to share 1 among the three in tenths.
GRID = [
    Weights(words=words / STEPS, bigrams=bigrams / STEPS, cosine=(STEPS - words - bigrams) / STEPS)
    for words in range(STEPS + 1)
    for bigrams in range(STEPS + 1 - words)
]
FITTED, SHIPPED = "hybrid, fitted there", "hybrid, shipped weights"
HEADER = f"{'':25}{'nDCG@10':>9}{'recall@10':>11}{'MRR@10':>9}{'p':>8}{'gold≥.7':>10}{'strangers<.7':>15}"
Rankings = list[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """One set: the evidence its questions and strangers found, and the alternatives' rankings."""

    collected: Collected
    rivals: Mapping[str, Rankings]

    @property
    def gold(self) -> list[frozenset[str]]:
        """The right passages of each question."""
        return [gold for _evidence, gold, _names in self.collected.own]


def run(folder: Path, count: int, cache: Path) -> None:
    """Report each set with what every other set alone would have chosen."""
    sets = read_sets(folder)
    if len(sets) < 2:
        sys.exit(f"{folder} holds {len(sets)} question set(s): choosing on one and reporting on another takes two")
    gathered = {one.name: _gather(one, [other for other in sets if other is not one], count, cache) for one in sets}
    for fitted, there in gathered.items():
        cosine_range = fit_range([there.collected.cosines])
        weights = _choose_weights(there, cosine_range)
        for reported, here in gathered.items():
            if reported != fitted:
                print(
                    f"\nfitted on {fitted}, reported on {reported}, {len(here.gold)} questions: words {weights.words}, "
                    f"bigrams {weights.bigrams}, cosine {weights.cosine}, cosines from {cosine_range.low}"
                )
                _report(there.collected, here, weights, cosine_range)
    print(f"\np: chance of a difference in nDCG@10 to '{FITTED}' as large as this one, if there were none")
    print("gold≥.7, strangers<.7: with the calibration fitted there")


def _gather(question_set: QuestionSet, others: Sequence[QuestionSet], count: int, cache: Path) -> Gathered:
    collected = collect(question_set, others, count, cache)
    questions = question_set.sample(count)
    rivals = {name: [rank(one.text) for one in questions] for name, rank in alternatives(question_set).items()}
    return Gathered(collected=collected, rivals=rivals)


def _choose_weights(there: Gathered, cosine_range: CosineRange) -> Weights:
    """Take the middle of all weights that the set cannot tell from its best ones.

    Many are equally good on one set, and the very best of them is chance: those count whose paired loss of nDCG@10
    against it is within one standard error. Source: the rule of Breiman, Friedman, Olshen & Stone 1984.
    """
    gains = np.array(
        [_gains(_rankings(there.collected, SearchMode.HYBRID, cosine_range, weights), there.gold) for weights in GRID]
    )
    loss = gains[gains.mean(axis=1).argmax()] - gains
    error = loss.std(axis=1, ddof=1) / np.sqrt(loss.shape[1])
    good = [weights for weights, is_good in zip(GRID, loss.mean(axis=1) <= error, strict=True) if is_good]
    words, bigrams = (round(fmean(getattr(one, name) for one in good), 2) for name in ("words", "bigrams"))
    return Weights(words=words, bigrams=bigrams, cosine=round(1 - words - bigrams, 2))


def _report(there: Collected, here: Gathered, weights: Weights, cosine_range: CosineRange) -> None:
    rows = {FITTED: (SearchMode.HYBRID, weights), SHIPPED: (SearchMode.HYBRID, WEIGHTS)}
    rows |= {f"hub {mode.value}": (mode, weights) for mode in (SearchMode.LEXICAL, SearchMode.VECTOR)}
    found = {name: _rankings(here.collected, mode, cosine_range, used) for name, (mode, used) in rows.items()}
    ours = _gains(found[FITTED], here.gold)
    print(HEADER)
    for name, rankings in (found | dict(here.rivals)).items():
        quality = evaluate(list(zip(rankings, here.gold, strict=True)), k=TOP)
        p = chance(ours, _gains(rankings, here.gold))
        print(f"{name:25}{quality.ndcg:9.3f}{quality.recall:11.3f}{quality.mrr:9.3f}{p:8.3f}", end="")
        print(_separation(there, here.collected, *rows[name], cosine_range) if name in rows else "", flush=True)


def _separation(
    there: Collected, here: Collected, mode: SearchMode, weights: Weights, cosine_range: CosineRange
) -> str:
    line = fit_line([sample_values(there, cosine_range, weights)], mode)
    gold, strangers = separation(line, sample_values(here, cosine_range, weights), mode)
    return f"{gold:10.3f}{strangers:15.3f}"


def _rankings(collected: Collected, mode: SearchMode, cosine_range: CosineRange, weights: Weights) -> Rankings:
    return [
        [names[key] for key in ranked_keys(evidence, mode, cosine_range, weights)[0][:TOP]]
        for evidence, _gold, names in collected.own
    ]


def _gains(rankings: Rankings, gold: Sequence[frozenset[str]]) -> list[float]:
    return [ndcg_at(ranked, right, TOP) for ranked, right in zip(rankings, gold, strict=True)]
