"""From fused evidence to what is shown: calibrated scores, equal texts folded, variety, and a reranker's order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import lru_cache
from itertools import compress

import numpy as np
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

from hub.core.errors import Unavailable
from knowledge.index.analysis import OtherName
from knowledge.models import Chunk, EmbeddingSet
from knowledge.ports import Reranker
from knowledge.search.candidates import Candidates
from knowledge.search.fusion import GOOD_EVIDENCE, Calibration, Ranking, fuse, weights_for
from knowledge.search.query import Question
from knowledge.search.recall import Findings
from knowledge.search.scope import SMALL, PermittedChunks
from knowledge.search.weighing import SYNONYM_WEIGHT
from knowledge.text.folding import fold_terms
from knowledge.text.structure import names_contents
from knowledge.types.notices import Notice
from knowledge.types.search import Explanation, LegScore, SearchDetail, SearchMode, SearchQuery

# The most that is not good evidence.
DOUBTFUL = GOOD_EVIDENCE - 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The candidates of the threshold or more in order, the ``best`` score of all, and the codes that none has.

    ``reranked`` is what the reranker said, by the chunk's key.
    """

    found: Ranking
    best: float
    missing: tuple[str, ...]
    reranked: Mapping[int, LegScore] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate of a page: its score, what each leg said of it, its terms, and candidates that have the same text."""

    chunk_id: int
    score: float
    legs: dict[str, LegScore]
    terms: tuple[str, ...] = ()
    duplicates: tuple[int, ...] = ()


def rank(query: SearchQuery, question: Question, findings: Findings, calibration: Calibration) -> Ranked:
    """Fuse what the legs said, and calibrate it to scores between 0 and 1, of six digits.

    Nothing is good evidence for a query without a word, such as ？！, unless it is quoted and so must occur; nor where
    nothing has any of the codes that it names: what is near FR-001 says nothing of FR-999. Their order stays.
    """
    terms, missing = question.terms, _missing_codes(question, findings)
    fused = fuse(
        findings.evidence,
        mode=findings.mode,
        cosine_range=calibration.cosine_range,
        weights=weights_for(query.text),
        wants_contents=names_contents(query.text),
    )
    scores = calibration.scores(fused.scores, findings.mode, passages=findings.passages)
    is_void = not (terms or question.phrases) or (bool(terms.codes) and len(missing) == len(terms.codes))
    ranking = Ranking(places=fused.places, scores=np.round((DOUBTFUL if is_void else 1.0) * scores, 6))
    found = ranking.at(np.flatnonzero(ranking.scores >= query.threshold))
    return Ranked(found=found, best=float(ranking.scores.max(initial=0.0)), missing=missing)


def _missing_codes(question: Question, findings: Findings) -> tuple[str, ...]:
    """Return which of the codes no candidate has; none where the lexical leg was not asked or failed.

    What is in a phrase that the query quotes is looked for as a phrase, and need not be whole: 「FR-00」.
    """
    if findings.mode is SearchMode.VECTOR:
        return ()
    found = {term for term, of_candidates in zip(findings.terms, findings.matched, strict=True) if of_candidates.any()}
    quoted = [fold_terms(phrase) for phrase in question.phrases]
    codes = question.terms.codes
    return tuple(code for code in codes if code not in found and not any(code in text for text in quoted))


def arrange(found: Ranking, query: SearchQuery, candidates: Candidates) -> tuple[Ranking, int]:
    """Choose what is shown, in order: what comes behind the earlier pages, and how many there are in all.

    Of passages with the same text the best one stands for all; with ``full_document`` the best of each document does.
    Of each document there are at most ``per_document``. One query, from the second page on.
    """
    groups = (candidates.version_ids if query.full_document else candidates.fingerprints)[found.places]
    best = np.sort(np.unique(groups, return_index=True)[1])
    before = query.after.shown if query.after else ()
    documents: Counter[int] = Counter()
    if before:
        documents.update(_versions_of(before, candidates))
        gone = [*documents] if query.full_document else groups[np.isin(candidates.chunk_ids[found.places], before)]
        best = best[~np.isin(groups[best], gone)]
    if query.per_document is not None:
        best = best[_within_limit(candidates.version_ids[found.places[best]], documents, query.per_document)]
    return found.at(best), best.size + len(set(before))


def _within_limit(version_ids: NDArray[np.int64], documents: Counter[int], limit: int) -> NDArray[np.bool_]:
    """Return which of passages in order are among the first ``limit`` of their document, after those shown before."""
    kept = []
    for version_id in version_ids.tolist():
        documents[version_id] += 1
        kept.append(documents[version_id] <= limit)
    return np.array(kept, bool)


def _versions_of(chunk_ids: Sequence[int], candidates: Candidates) -> list[int]:
    """Return the version of each chunk that there still is. One query, unless all are candidates."""
    known = dict(zip(candidates.chunk_ids.tolist(), candidates.version_ids.tolist(), strict=True))
    if others := set(chunk_ids) - known.keys():
        known |= dict(Chunk.objects.filter(pk__in=others).values_list("pk", "version_id"))
    return [known[chunk_id] for chunk_id in set(chunk_ids) if chunk_id in known]


def scored_candidates(page: Ranking, ranked: Ranked, findings: Findings, query: SearchQuery) -> list[Scored]:
    places, candidates = page.places.tolist(), findings.candidates
    has_legs = query.level.includes(SearchDetail.SCORES)
    legs = _legs(page.places, findings, ranked.reranked) if has_legs else [{} for _place in places]
    keys = candidates.chunk_ids[page.places].tolist()
    return [
        Scored(
            chunk_id=chunk_id,
            score=score,
            legs=said,
            terms=tuple(dict.fromkeys(compress(findings.terms, findings.matched[:, place]))),
            duplicates=() if query.full_document else _duplicates(place, ranked.found, candidates),
        )
        for place, chunk_id, score, said in zip(places, keys, page.scores.tolist(), legs, strict=True)
    ]


def _legs(places: NDArray[np.int64], findings: Findings, reranked: Mapping[int, LegScore]) -> list[dict[str, LegScore]]:
    evidence = findings.evidence.at(places)
    lexical = zip(findings.lexical_ranks[places].tolist(), evidence.lexical.tolist(), strict=True)
    vector = zip(findings.vector_ranks[places].tolist(), evidence.cosines.tolist(), strict=True)
    legs: list[dict[str, LegScore]] = []
    for chunk_id, (rank, share), (near, cosine) in zip(evidence.chunk_ids.tolist(), lexical, vector, strict=True):
        said: dict[str, LegScore] = {}
        if findings.mode is not SearchMode.VECTOR:
            said["lexical"] = LegScore(rank=rank or None, raw=share)
        if not math.isnan(cosine):
            said["vector"] = LegScore(rank=near or None, raw=cosine)
        if chunk_id in reranked:
            said["reranker"] = reranked[chunk_id]
        legs.append(said)
    return legs


def _duplicates(place: int, found: Ranking, candidates: Candidates) -> tuple[int, ...]:
    same = found.places[candidates.fingerprints[found.places] == candidates.fingerprints[place]]
    return tuple(candidates.chunk_ids[same[same != place]].tolist())


def explain(
    query: SearchQuery,
    question: Question,
    embedding_set: EmbeddingSet,
    permitted: PermittedChunks,
    findings: Findings,
) -> Explanation:
    """Collect what was looked for and how. Nothing in it depends on passages that the caller may not see, but
    for whether the permitted ones are few among all.

    So terms are listed whether or not the index has them, and without their rarity.
    """
    terms, is_small = question.terms, permitted.is_small
    given = {one.name: getattr(query.filter, one.name) for one in fields(query.filter)}
    vector_plan = "all permitted passages" if permitted.is_comparable else "HNSW, iterative scan"
    return Explanation(
        mode=findings.mode.value,
        embedding_set=embedding_set.name,
        permitted=permitted.count if is_small else None,
        plans={
            "vector": f"exact over up to {SMALL} permitted passages" if is_small else vector_plan,
            "lexical": "all permitted passages" if is_small else "best passages first, then permissions",
        },
        words=_with_others(terms.words, terms.other_words),
        bigrams=_with_others(terms.bigrams, terms.other_bigrams),
        codes=terms.codes,
        phrases=question.phrases,
        filters={
            name: value.isoformat() if isinstance(value, date) else value for name, value in given.items() if value
        },
        candidates={
            "vector": int(np.count_nonzero(findings.vector_ranks)),
            "lexical": int(np.count_nonzero(findings.lexical_ranks)),
        },
    )


def _with_others(asked: Mapping[str, float], others: Sequence[OtherName]) -> dict[str, float]:
    """Add the terms of synonyms, with what all terms of one bring together of what they stand for."""
    terms = dict.fromkeys((term for other in others for term in other.terms), SYNONYM_WEIGHT)
    return {**asked, **{term: weight for term, weight in terms.items() if term not in asked}}


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, from a folder on this machine. Loading it takes seconds, once."""

    def __init__(self, path: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise Unavailable(
                _("RERANKER_MODEL is set, but sentence-transformers is not installed: {command}"),
                code="reranker_unavailable",
                command="pip install -r requirements/ml.txt",
            ) from error
        self.name = path
        try:
            self._model = CrossEncoder(path, local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise Unavailable(
                _("RERANKER_MODEL: there is no cross-encoder that can be loaded from {path}."),
                code="reranker_unavailable",
                path=path,
            ) from error

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Rate each passage as an answer; higher is better, the scale is the model's own. Raises Unavailable."""
        try:
            rated = np.asarray(self._model.predict([(query, passage) for passage in passages]), float).ravel()
        except (RuntimeError, ValueError, IndexError, MemoryError) as error:  # torch's are RuntimeErrors
            raise Unavailable(
                _("The cross-encoder of RERANKER_MODEL failed: {reason}."),
                code="reranker_unavailable",
                reason=type(error).__name__,
            ) from error
        return rated.tolist()


def configured_reranker() -> Reranker | None:
    """The cross-encoder of RERANKER_MODEL, kept for this process; None without one. Raises Unavailable."""
    path = settings.CONFIG.reranker_model
    return _load(path) if path else None


@lru_cache(maxsize=1)
def _load(path: str) -> Reranker:
    return CrossEncoderReranker(path)


DEPTH = 30


def rerank(
    query: str, found: Ranking, candidates: Candidates, reranker: Reranker
) -> tuple[Ranking, dict[int, LegScore]]:
    """Order the first ``DEPTH`` candidates by the reranker, equals as they were; the others follow. One query.

    Scores stay those of the legs, since a reranker's scale is its own; what it said is returned by the chunk's key.

    :raises Unavailable: the reranker fails, or what it says can't be used.
    """
    first = candidates.chunk_ids[found.places[:DEPTH]].tolist()
    rows = Chunk.objects.filter(pk__in=first).values_list("pk", "context_prefix", "content")
    texts = {pk: prefix + content for pk, prefix, content in rows}
    known = [place for place, chunk_id in enumerate(first) if chunk_id in texts]
    if not known:
        return found, {}
    rated = _rated(query, [texts[first[place]] for place in known], reranker)
    order = sorted(range(len(known)), key=lambda one: -rated[one])
    said = {first[known[one]]: LegScore(rank=rank, raw=rated[one]) for rank, one in enumerate(order, 1)}
    moved = [known[one] for one in order]
    return found.at(np.array([*moved, *range(DEPTH, found.places.size)])), said


def _rated(query: str, passages: Sequence[str], reranker: Reranker) -> list[float]:
    rated = reranker.scores(query, passages)
    if len(rated) != len(passages) or not all(map(math.isfinite, rated)):
        raise Unavailable(
            _("The reranker {name} does not give one number for each passage."),
            code="reranker_unavailable",
            name=reranker.name,
        )
    return rated
