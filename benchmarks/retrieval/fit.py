"""Fit what turns fused values into scores, and write it with where it came from."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone
from numpy.typing import NDArray

from benchmarks.retrieval.question_sets import Question, QuestionSet, load_set, read_sets
from hub.access.principals import local_operator
from knowledge.index.active_embedder import active_embedding_set, get_embedder
from knowledge.index.analysis import analyse_query
from knowledge.models import Chunk, ChunkVector
from knowledge.search.database import set_savepoint
from knowledge.search.fusion import (
    DATA_FILE,
    GOOD_EVIDENCE,
    WEIGHTS,
    CosineRange,
    Evidence,
    LogisticLine,
    Weights,
    fuse,
)
from knowledge.search.reach import reach_of
from knowledge.search.recall import Stopwatch, embed_question, recall
from knowledge.search.scope import permitted_chunks
from knowledge.types.search import SearchFilter, SearchMode

GOLD_WITHIN = 5
STEPS = 60


@dataclass(slots=True, kw_only=True)
class Sample:
    """Fused values by mode: of gold passages among the first, and of strangers' best passages."""

    gold: dict[SearchMode, list[float]] = field(default_factory=lambda: {mode: [] for mode in SearchMode})
    strangers: dict[SearchMode, list[float]] = field(default_factory=lambda: {mode: [] for mode in SearchMode})


def run(folder: Path, count: int, cache: Path) -> None:
    """Fit on all sets, print what fitting on the other sets alone would give on each, and write the file."""
    sets = read_sets(folder)
    collected = {s.name: collect(s, [o for o in sets if o is not s], count, cache) for s in sets}
    cosine_range = fit_range([one.cosines for one in collected.values()])
    samples = {name: sample_values(one, cosine_range) for name, one in collected.items()}
    for name, sample in samples.items():
        _print_transfer(name, sample, [other for key, other in samples.items() if key != name])
    lines = {mode: fit_line(list(samples.values()), mode) for mode in SearchMode}
    _write(lines, cosine_range, sets, count)


Asked = list[tuple[Evidence, frozenset[str], dict[int, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a set's questions and other sets' questions find in its corpus, and how near the latter's vectors lie."""

    own: Asked
    strangers: Asked
    cosines: NDArray[np.float32]


def collect(question_set: QuestionSet, others: Sequence[QuestionSet], count: int, cache: Path) -> Collected:
    """Load a set, and ask it its own questions and those of others: ``count`` of each."""
    load_set(question_set, cache)
    strangers = [question for other in others for question in other.sample(count)]
    return Collected(own=_ask(question_set.sample(count)), strangers=_ask(strangers), cosines=_cosines(strangers))


def _ask(questions: Sequence[Question]) -> Asked:
    names = dict(Chunk.objects.values_list("pk", "public_id"))
    used = active_embedding_set()
    permitted = permitted_chunks(reach_of(local_operator()), SearchFilter(), used)
    asked: Asked = []
    for question in questions:
        with transaction.atomic():
            set_savepoint()
            watch = Stopwatch()
            terms = analyse_query(question.text)
            found = recall(
                partial(embed_question, question.text, used, watch),
                terms,
                mode=SearchMode.HYBRID,
                embedding_set=used,
                permitted=permitted,
                watch=watch,
            )
        asked.append((found.evidence, question.gold, names))
    return asked


def _cosines(strangers: Sequence[Question]) -> NDArray[np.float32]:
    stored = ChunkVector.objects.filter(embedding_set=active_embedding_set())[:1000]
    passages = np.array([row.vector for row in stored], np.float32)
    queries = np.array([get_embedder().embed_query(question.text) for question in strangers])
    cosines: NDArray[np.float32] = queries @ passages.T
    return cosines


def fit_range(cosines: Sequence[NDArray[np.float32]]) -> CosineRange:
    """Texts without anything in common begin three deviations below the strangers' mean cosine."""
    every = np.concatenate([one.ravel() for one in cosines])
    return CosineRange(low=round(float(every.mean() - 3 * every.std()), 2), high=1.0)


def sample_values(collected: Collected, cosine_range: CosineRange, weights: Weights = WEIGHTS) -> Sample:
    """Fuse what was found, and keep the values that a calibration is fitted on."""
    sample = Sample()
    for mode in SearchMode:
        for evidence, gold, names in collected.own:
            keys, values = ranked_keys(evidence, mode, cosine_range, weights)
            first = zip(keys[:GOLD_WITHIN], values, strict=False)
            sample.gold[mode] += [value for key, value in first if names[key] in gold]
        for evidence, _gold, _names in collected.strangers:
            _keys, values = ranked_keys(evidence, mode, cosine_range, weights)
            sample.strangers[mode].append(values[0] if values else 0.0)
    return sample


def ranked_keys(
    evidence: Evidence, mode: SearchMode, cosine_range: CosineRange, weights: Weights
) -> tuple[list[int], list[float]]:
    """Fuse what a mode would have found: keys of passages, the best first, and their values."""
    is_found = evidence.lexical > 0 if mode is SearchMode.LEXICAL else np.ones(evidence.chunk_ids.size, bool)
    found = evidence.at(np.flatnonzero(is_found))
    ranked = fuse(found, mode=mode, cosine_range=cosine_range, weights=weights)
    return found.chunk_ids[ranked.places].tolist(), ranked.scores.tolist()


def fit_line(samples: Sequence[Sample], mode: SearchMode) -> LogisticLine:
    """Fit a logistic line by Newton's method, then move it so that 0.7 errs equally often on both sides."""
    gold = np.array([value for sample in samples for value in sample.gold[mode]])
    strangers = np.array([value for sample in samples for value in sample.strangers[mode]])
    design = np.column_stack([np.ones(len(gold) + len(strangers)), np.concatenate([gold, strangers])])
    label = np.concatenate([np.ones(len(gold)), np.zeros(len(strangers))])
    line = np.zeros(2)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ line))
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + 1e-4 * np.eye(2)
        line += np.linalg.solve(curvature, design.T @ (label - chance))
    cut = _balanced_cut(gold, strangers)
    slope = float(line[1])
    return LogisticLine(
        intercept=round(math.log(GOOD_EVIDENCE / (1 - GOOD_EVIDENCE)) - slope * cut, 3), slope=round(slope, 3)
    )


def separation(line: LogisticLine, sample: Sample, mode: SearchMode) -> tuple[float, float]:
    """Give the shares of gold passages that a line scores 0.7 or more, and of strangers' best that it scores less."""
    gold = np.mean(line.scores(np.array(sample.gold[mode])) >= GOOD_EVIDENCE)
    strangers = np.mean(line.scores(np.array(sample.strangers[mode])) < GOOD_EVIDENCE)
    return float(gold), float(strangers)


def _balanced_cut(gold: NDArray[np.float64], strangers: NDArray[np.float64]) -> float:
    cuts = np.linspace(strangers.min(), gold.max(), 2001)
    unbalance = [abs((gold >= cut).mean() - (strangers < cut).mean()) for cut in cuts]
    return float(cuts[int(np.argmin(unbalance))])


def _print_transfer(name: str, sample: Sample, others: Sequence[Sample]) -> None:
    for mode in SearchMode:
        gold, strangers = separation(fit_line(others, mode), sample, mode)
        print(f"{name:12} {mode.value:8} fitted on the others: gold ≥ 0.7 {gold:.3f}, strangers < 0.7 {strangers:.3f}")


def _write(
    lines: dict[SearchMode, LogisticLine], cosine_range: CosineRange, sets: Sequence[QuestionSet], count: int
) -> None:
    data: dict[str, Any] = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    embedding_set = active_embedding_set()
    provenance = {
        "sets": [question_set.name for question_set in sets],
        "questions_per_set": count,
        "fitted_at": timezone.now().date().isoformat(),
    }
    entry = {
        "backend": embedding_set.backend,
        "model": embedding_set.model,
        "fingerprint": embedding_set.fingerprint,
        "cosine_range": [cosine_range.low, cosine_range.high],
        **{mode.value: _as_dict(lines[mode]) for mode in (SearchMode.VECTOR, SearchMode.HYBRID)},
        "provenance": provenance,
    }
    others = [one for one in data["models"] if (one["backend"], one["model"]) != (entry["backend"], entry["model"])]
    data["models"] = sorted([*others, entry], key=lambda one: (one["backend"], one["model"]))
    data["lexical"] = {**_as_dict(lines[SearchMode.LEXICAL]), "provenance": provenance}
    DATA_FILE.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {DATA_FILE.name}: {entry['backend']} {entry['model']}, cosine range {entry['cosine_range']}")


def _as_dict(line: LogisticLine) -> dict[str, float]:
    return {"intercept": line.intercept, "slope": line.slope}
