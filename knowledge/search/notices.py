"""What a search says to people about a partial or weak answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hub.core.texts import Text
from knowledge.types.notices import Notice, notice_of

_MOST_NAMED = 5

QUERY_CUT = notice_of("search", "query_cut")
LEXICAL_EMPTY = notice_of("search", "lexical_empty")
LEXICAL_UNAVAILABLE = notice_of("search", "lexical_unavailable")
PASSAGE_FACTS_UNAVAILABLE = notice_of("search", "passage_facts_unavailable")
PASSAGES_UNRANKED = notice_of("search", "passages_unranked")
SYNONYMS_UNAVAILABLE = notice_of("search", "synonyms_unavailable")
PHRASES_UNAVAILABLE = notice_of("search", "phrases_unavailable")
RERANKER_UNAVAILABLE = notice_of("search", "reranker_unavailable")
EMBEDDER_MISMATCH = notice_of("search", "embedder_mismatch", code="vector_unavailable")
NO_GOOD_EVIDENCE = notice_of("search", "no_good_evidence")
UNCALIBRATED = notice_of("search", "uncalibrated_scores")
PHRASE_NOT_FOUND = notice_of("search", "phrase_not_found")
PHRASE_DIVIDED = notice_of("search", "phrase_divided")
NOTHING_TO_SEARCH = notice_of("search", "nothing_to_search")
PHRASE_CUT = notice_of("search", "phrase_cut")
INDEX_BEHIND = notice_of("search", "index_behind")
INDEX_CUT = notice_of("search", "index_cut")
OUTPUT_CUT = notice_of("search", "output_budget")
DOCUMENT_CUT = notice_of("search", "document_cut")

# Which part a search went on without, by the code of its notice.
PARTS: Mapping[str, str] = {
    "vector_unavailable": "vector",
    LEXICAL_UNAVAILABLE.code: "lexical",
    PASSAGE_FACTS_UNAVAILABLE.code: "lexical",
    PHRASES_UNAVAILABLE.code: "phrases",
    SYNONYMS_UNAVAILABLE.code: "synonyms",
    RERANKER_UNAVAILABLE.code: "reranker",
}


_NO_REASON = Text(ja="", en="")


def vector_unavailable(reason: Text = _NO_REASON) -> Notice:
    notice = notice_of("search", "vector_unavailable", reason=reason)
    return replace(notice, en=notice.en.strip())


def codes_not_found(codes: Sequence[str]) -> Notice:
    named = [code.upper() for code in codes[:_MOST_NAMED]]
    more = " …" if len(codes) > _MOST_NAMED else ""
    return notice_of("search", "code_not_found", codes=Text(ja="」「".join(named), en=", ".join(named)), more=more)
