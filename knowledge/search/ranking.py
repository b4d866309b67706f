"""From fused evidence to what is shown: calibrated scores, equal texts folded, variety, and where a page starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from knowledge.backends.analysis import QueryTerms, fold
from knowledge.models import Chunk
from knowledge.search.calibration import GOOD_EVIDENCE, Calibration
from knowledge.search.candidates import Candidate
from knowledge.search.fusion import Evidence, Fused
from knowledge.search.legs import Findings
from knowledge.types import LegScore, SearchMode, SearchQuery

# The most that is not good evidence.
DOUBTFUL = GOOD_EVIDENCE - 0.01


class Scored(NamedTuple):
    """A candidate with its calibrated score, what each leg said of it, and candidates that have the same text.

    ``legs`` is empty unless somebody is told of it.
    """

    chunk_id: int
    score: float
    legs: dict[str, LegScore]
    terms: tuple[str, ...] = ()
    duplicates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    version_id: int
    fingerprint: int | None


def missing_codes(terms: QueryTerms, findings: Findings, phrases: Sequence[str]) -> tuple[str, ...]:
    """Tell which of a query's codes no candidate has; none where the lexical leg was not asked or failed.

    What stands in a phrase that the query quotes is looked for as a phrase, and need not be whole: 「FR-00」.
    """
    if findings.mode is SearchMode.VECTOR:
        return ()
    found = {term for one in findings.evidence for term in one.matched}
    quoted = [fold(phrase) for phrase in phrases]
    return tuple(code for code in terms.codes if code not in found and not any(code in text for text in quoted))


def ceiling_for(terms: QueryTerms, missing: Collection[str], phrases: Sequence[str]) -> float:
    """Tell what the scores of an answer can reach.

    Nothing is good evidence for a query without a word, such as ？！, unless it is quoted and so must occur; nor where
    nothing has any of the codes that it names: what is near FR-001 does not tell of FR-999. Their order stays.
    """
    is_void = not (terms or phrases) or (bool(terms.codes) and len(missing) == len(terms.codes))
    return DOUBTFUL if is_void else 1.0


def score_candidates(
    ranked: Sequence[Fused], findings: Findings, calibration: Calibration, *, ceiling: float = 1.0, tell_legs: bool
) -> list[Scored]:
    """Calibrate the candidates' values between 0 and ``ceiling``, and with ``tell_legs`` collect what the legs said."""
    scores = calibration.scores([one.value for one in ranked], findings.mode)
    return [
        Scored(
            chunk_id=one.evidence.chunk_id,
            score=round(ceiling * score, 6),
            legs=_legs(one.evidence, findings) if tell_legs else {},
            terms=one.evidence.matched,
        )
        for one, score in zip(ranked, scores, strict=True)
    ]


def _legs(evidence: Evidence, findings: Findings) -> dict[str, LegScore]:
    """Tell what each leg that was asked said of a candidate."""
    legs = {}
    if findings.mode is not SearchMode.VECTOR:
        legs["lexical"] = LegScore(rank=findings.lexical_ranks.get(evidence.chunk_id), raw=evidence.lexical)
    if evidence.cosine is not None:
        legs["vector"] = LegScore(rank=findings.vector_ranks.get(evidence.chunk_id), raw=evidence.cosine)
    return legs


def arrange(
    found: Sequence[Scored], query: SearchQuery, candidates: Mapping[int, Candidate]
) -> tuple[list[Scored], int]:
    """Choose what is shown, in order: what comes behind the earlier pages, and how many there are in all.

    Of passages with the same text the best one stands for all; with ``full_document`` the best of each document does.
    Of each document there are at most ``per_document``. One query, from the second page on.
    """
    shown = set(query.after.shown) if query.after else set()
    facts: dict[int, _Facts | Candidate] = {**_facts(shown - candidates.keys()), **candidates}
    groups = _group(found, facts, by_document=query.full_document)
    documents = Counter(facts[chunk_id].version_id for chunk_id in shown if chunk_id in facts)
    rest, limit = [], query.per_document
    for group in groups:
        version_id = facts[group[0].chunk_id].version_id
        if _was_shown(group, shown, documents, version_id, by_document=query.full_document):
            continue
        documents[version_id] += 1
        if limit is None or documents[version_id] <= limit:
            is_alone = query.full_document or len(group) == 1
            others = () if is_alone else tuple(one.chunk_id for one in group[1:])
            rest.append(group[0] if is_alone else group[0]._replace(duplicates=others))
    return rest, len(rest) + len(shown)


def _was_shown(
    group: Sequence[Scored], shown: set[int], documents: Counter[int], version_id: int, *, by_document: bool
) -> bool:
    if by_document:
        return bool(documents[version_id])
    return bool(shown) and any(one.chunk_id in shown for one in group)


def _group(
    found: Sequence[Scored], facts: Mapping[int, _Facts | Candidate], *, by_document: bool
) -> list[list[Scored]]:
    groups: dict[tuple[str, int], list[Scored]] = {}
    for one in found:
        fact = facts[one.chunk_id]
        if by_document:
            key = ("version", fact.version_id)
        elif fact.fingerprint is not None:
            key = ("text", fact.fingerprint)
        else:
            key = ("chunk", one.chunk_id)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _facts(chunk_ids: Collection[int]) -> dict[int, _Facts]:
    if not chunk_ids:
        return {}
    rows = Chunk.objects.filter(pk__in=chunk_ids).values_list("pk", "version_id", "lexical_entry__fingerprint")
    return {pk: _Facts(version_id=version_id, fingerprint=fingerprint) for pk, version_id, fingerprint in rows}
