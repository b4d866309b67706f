"""From fused evidence to what is shown: calibrated scores, equal texts folded, variety, and how it came about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.index.analysis import OtherName, QueryTerms
from knowledge.models import Chunk, EmbeddingSet
from knowledge.search.candidates import Candidates
from knowledge.search.fusion import GOOD_EVIDENCE, WEIGHTS, Calibration, Columnar, Weights, fuse
from knowledge.search.legs import Findings
from knowledge.search.scope import SMALL, PermittedChunks
from knowledge.search.weighing import SYNONYM_WEIGHT
from knowledge.text.folding import fold_terms
from knowledge.types.search import Explanation, LegScore, SearchDetail, SearchFilter, SearchMode, SearchQuery

# The most that is not good evidence.
DOUBTFUL = GOOD_EVIDENCE - 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Columnar):
    """Places of candidates in the findings, the best first, with their calibrated scores, in columns."""

    places: NDArray[np.int64]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate of a page: its score, what each leg said of it, its terms, and candidates that have the same text."""

    chunk_id: int
    score: float
    legs: dict[str, LegScore]
    terms: tuple[str, ...] = ()
    duplicates: tuple[int, ...] = ()


def missing_codes(terms: QueryTerms, findings: Findings, phrases: Sequence[str]) -> tuple[str, ...]:
    """Tell which of a query's codes no candidate has; none where the lexical leg was not asked or failed.

    What stands in a phrase that the query quotes is looked for as a phrase, and need not be whole: 「FR-00」.
    """
    if findings.mode is SearchMode.VECTOR:
        return ()
    found = {term for term, of_candidates in zip(findings.told, findings.matched, strict=True) if of_candidates.any()}
    quoted = [fold_terms(phrase) for phrase in phrases]
    return tuple(code for code in terms.codes if code not in found and not any(code in text for text in quoted))


def ceiling_for(terms: QueryTerms, missing: Collection[str], phrases: Sequence[str]) -> float:
    """Tell what the scores of an answer can reach.

    Nothing is good evidence for a query without a word, such as ？！, unless it is quoted and so must occur; nor where
    nothing has any of the codes that it names: what is near FR-001 does not tell of FR-999. Their order stays.
    """
    is_void = not (terms or phrases) or (bool(terms.codes) and len(missing) == len(terms.codes))
    return DOUBTFUL if is_void else 1.0


def rank_candidates(
    findings: Findings,
    calibration: Calibration,
    *,
    weights: Weights = WEIGHTS,
    ceiling: float = 1.0,
    wants_contents: bool = False,
) -> Ranking:
    """Fuse what the legs said, and calibrate it to scores between 0 and ``ceiling``, of six digits."""
    fused = fuse(
        findings.evidence,
        mode=findings.mode,
        cosine_range=calibration.cosine_range,
        weights=weights,
        wants_contents=wants_contents,
    )
    scores = calibration.scores(fused.values, findings.mode, passages=findings.passages)
    return Ranking(places=fused.places, scores=np.round(ceiling * scores, 6))


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
    """Tell which of passages in order are among the first ``limit`` of their document, after those shown before."""
    kept = []
    for version_id in version_ids.tolist():
        documents[version_id] += 1
        kept.append(documents[version_id] <= limit)
    return np.array(kept, bool)


def _versions_of(chunk_ids: Sequence[int], candidates: Candidates) -> list[int]:
    """Give the version of each chunk that there still is. One query, unless all are candidates."""
    known = dict(zip(candidates.chunk_ids.tolist(), candidates.version_ids.tolist(), strict=True))
    if others := set(chunk_ids) - known.keys():
        known |= dict(Chunk.objects.filter(pk__in=others).values_list("pk", "version_id"))
    return [known[chunk_id] for chunk_id in set(chunk_ids) if chunk_id in known]


def tell(
    page: Ranking, found: Ranking, findings: Findings, query: SearchQuery, reranked: Mapping[int, LegScore]
) -> list[Scored]:
    """Make a page's candidates; what the legs said of them only where the query asks for it."""
    places = page.places.tolist()
    is_told = query.level.includes(SearchDetail.SCORES)
    legs = _legs(page.places, findings, reranked) if is_told else [{} for _place in places]
    return [
        Scored(
            chunk_id=chunk_id,
            score=score,
            legs=said,
            terms=_terms(place, findings),
            duplicates=() if query.full_document else _duplicates(place, found, findings.candidates),
        )
        for place, chunk_id, score, said in zip(
            places, findings.candidates.chunk_ids[page.places].tolist(), page.scores.tolist(), legs, strict=True
        )
    ]


def _legs(places: NDArray[np.int64], findings: Findings, reranked: Mapping[int, LegScore]) -> list[dict[str, LegScore]]:
    """Tell what each leg that was asked, and the reranker, said of some candidates."""
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


def _terms(place: int, findings: Findings) -> tuple[str, ...]:
    """Give the terms that a candidate has, of those that are told."""
    told = zip(findings.told, findings.matched[:, place].tolist(), strict=True)
    return tuple(dict.fromkeys(term for term, is_here in told if is_here))


def _duplicates(place: int, found: Ranking, candidates: Candidates) -> tuple[int, ...]:
    """Give the other candidates found with the same text, the best first."""
    same = found.places[candidates.fingerprints[found.places] == candidates.fingerprints[place]]
    return tuple(candidates.chunk_ids[same[same != place]].tolist())


def explain(
    query: SearchQuery,
    embedding_set: EmbeddingSet,
    terms: QueryTerms,
    phrases: tuple[str, ...],
    permitted: PermittedChunks,
    findings: Findings,
) -> Explanation:
    """Collect what was looked for and how. Nothing in it depends on passages that the caller may not see, but
    for whether the permitted ones are few among all.

    So terms are listed whether or not the index has them, and without their rarity.
    """
    is_small = permitted.is_small
    return Explanation(
        mode=findings.mode.value,
        embedding_set=embedding_set.name,
        permitted=permitted.count if is_small else None,
        plans={
            "vector": _vector_plan(permitted),
            "lexical": "all permitted passages" if is_small else "best passages first, then permissions",
        },
        words=_with_others(terms.words, terms.other_words),
        bigrams=_with_others(terms.bigrams, terms.other_bigrams),
        codes=terms.codes,
        phrases=phrases,
        filters=_given(query.filter),
        candidates={
            "vector": int(np.count_nonzero(findings.vector_ranks)),
            "lexical": int(np.count_nonzero(findings.lexical_ranks)),
        },
    )


def _with_others(asked: Mapping[str, float], others: Sequence[OtherName]) -> dict[str, float]:
    """Add the terms of synonyms, with what all terms of one bring together of what they stand for."""
    terms = dict.fromkeys((term for other in others for term in other.terms), SYNONYM_WEIGHT)
    return {**asked, **{term: weight for term, weight in terms.items() if term not in asked}}


def _vector_plan(permitted: PermittedChunks) -> str:
    if permitted.is_small:
        return f"exact over up to {SMALL} permitted passages"
    return "all permitted passages" if permitted.is_comparable else "HNSW, iterative scan"


def _given(restriction: SearchFilter) -> dict[str, Any]:
    given = {one.name: getattr(restriction, one.name) for one in fields(restriction)}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in given.items() if value}
