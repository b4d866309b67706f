"""A search for a question, with a notice where what it finds is about its subject and does not say what is asked."""

from __future__ import annotations

from dataclasses import replace

from hub.access.principals import Principal
from knowledge.answering.asked import asks_something
from knowledge.answering.extractive import rate_sentences
from knowledge.search import search_sources
from knowledge.types.notices import notice_of
from knowledge.types.search import SearchQuery, SearchResult, SearchSource

# Of the found passages, those whose sentences are read, and of these those that are rated: reading five passages and
# rating 28 costs nearly twice as much, and finds the same (benchmarks/history/2026-11-answers.md).
MOST_READ = 3
MOST_RATED = 8
# Below it the best sentence hardly answers; chosen on the build half of jaquad_ja (see there).
LEAST_WITHOUT_MEANING = 0.06
# Where a search remarks one of these, nobody takes what it found for an answer.
SAYS_MORE = frozenset({"no_good_evidence", "uncalibrated_scores"})
DOES_NOT_SAY_IT = notice_of("answering", "does_not_say_it")


def search_passages(
    principal: Principal, query: SearchQuery, *, source: SearchSource = SearchSource.LOCAL
) -> SearchResult:
    """Search as `search_sources` does; for a question say when the passages that were found hardly answer it.

    The sentences of the first ones are rated by the same signs as for an answer, but for those of meaning, which would
    need the embedding model once more. It reads only what is given to the caller, and asks the database nothing.
    """
    result = search_sources(principal, query, source=source)
    is_first_page = query.after is None and not query.offset
    if is_first_page and not query.full_document and asks_something(query.text) and _is_beside(query.text, result):
        return replace(result, notices=(*result.notices, DOES_NOT_SAY_IT))
    return result


def _is_beside(question: str, result: SearchResult) -> bool:
    """Whether passages that are good evidence for the subject have no sentence that is likely to answer."""
    if any(notice.code in SAYS_MORE for notice in result.notices):
        return False
    scored = sorted((hit for hit in result.hits if hit.score is not None), key=lambda hit: -(hit.score or 0.0))
    if not scored or result.remote:
        return False
    rated = rate_sentences(question, scored[:MOST_READ], with_meaning=False, most=MOST_RATED)
    return not rated or rated[0].chance < LEAST_WITHOUT_MEANING
