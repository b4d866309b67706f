"""Finding passages: analysis of the question, two legs, fusion, calibrated scores."""

from knowledge.search.audit import record_question
from knowledge.search.fusion import GOOD_EVIDENCE, calibration_for
from knowledge.search.highlights import best_window
from knowledge.search.hybrid import search
from knowledge.search.notices import NOTHING_TO_SEARCH
from knowledge.search.pages import find_chunk, get_chunk, neighbours
from knowledge.search.query import (
    MAX_LIMIT,
    MAX_OFFSET,
    MAX_QUERY_CHARS,
    FilterIn,
    Name,
    Names,
    asked_filter,
    check_number,
    check_query,
    named,
    search_filter,
    several,
)
from knowledge.search.retrieval import MAX_CONTEXT_CHUNKS, Retrieval, RetrievalStrategy, retrieve
from knowledge.search.schemas import ExplanationOut, HitOut, SearchOut, hit_out, page_mark, page_position, search_out
from knowledge.search.single_document import RankedChunks, chunks_of, nearest_within, rank_within
from knowledge.search.sources import ask_knowledge_base, compare_modes, knowledge_base_config, search_sources
