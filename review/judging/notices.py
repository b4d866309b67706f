"""What a review says to people about its language model; the words are in review/data/judging_notices.json."""

from __future__ import annotations

from hub.core.errors import HubError
from hub.core.languages import in_both
from knowledge.search import RetrievalStrategy
from knowledge.types.notices import Notice
from review.rules.base import shipped


def _notice(code: str) -> Notice:
    return Notice(code=code, **shipped("judging_notices")[code])


NOT_WANTED = _notice("llm_not_wanted")
NO_SAMPLING = _notice("sampling_unavailable")
NOT_REPEATED = _notice("callers_model_not_repeated")
SUGGESTIONS_NOT_REPEATED = _notice("llm_suggestions_not_repeated")
BUDGET_STOP = _notice("llm_budget_stop")
CONTEXT_HALVED = _notice("llm_context_halved")
EXCERPTS_ONLY = _notice("llm_excerpts_only")
SCREENING_FAILED = _notice("llm_screening_failed")
SECTION_SUMMARIES = _notice("llm_section_summaries")
SUMMARIES_INCOMPLETE = _notice("llm_summaries_incomplete")
NO_SUMMARIES = _notice("llm_summaries_not_made")
UNVERIFIED = _notice("llm_unverified")
CANNOT_TELL = _notice("llm_cannot_tell")
NOT_APPLICABLE = _notice("llm_not_applicable")
INSTRUCTION_IN_DOCUMENT = _notice("instruction_in_document")
PASS_NOT_TAKEN = _notice("llm_pass_not_taken")
BELOW_THRESHOLD = _notice("llm_below_threshold")
VOTES_DISAGREE = _notice("llm_votes_disagree")
VOTES_UNDECIDED = _notice("llm_votes_undecided")
NOT_REPLAYED = _notice("llm_not_replayed")
SUGGESTIONS_NO_MODEL = _notice("llm_suggestions_no_model")
SUGGESTIONS_BUDGET = _notice("llm_suggestions_budget")
SUGGESTIONS_REFUSED = _notice("llm_suggestions_refused")
SUGGESTIONS_LIMITED = _notice("llm_suggestions_limited")
SUGGESTIONS_WITHHELD = _notice("llm_suggestions_withheld")
LINT_NO_MODEL = _notice("llm_lint_no_model")
LINT_PARTIAL = _notice("llm_lint_partial")
LINT_BUDGET = _notice("llm_lint_budget")
LINT_REFUSED = _notice("llm_lint_refused")
RELATED_NOT_SENT = _notice("llm_related_not_sent")
RELATED_UNREAD = _notice("llm_related_unread")
PATHS_UNAVAILABLE = _notice("graph_paths_unavailable")
PATHS_WITHHELD = _notice("paths_withheld")
NOT_SEARCHABLE = _notice("retrieval_not_allowed")
RETRIEVAL_UNAVAILABLE = {
    RetrievalStrategy.VECTOR: _notice("passages_unavailable"),
    RetrievalStrategy.GRAPH: _notice("graph_unavailable"),
    RetrievalStrategy.ONTOLOGY: _notice("ontology_unavailable"),
    RetrievalStrategy.HYBRID: _notice("passages_unavailable"),
}
NOT_BY_CALLER = _notice("not_by_callers_model")
SECOND_OPINION_BUDGET = _notice("second_opinion_budget")
SECOND_OPINION_LIMITED = _notice("second_opinion_limited")
SECOND_OPINION_WITHHELD = _notice("second_opinion_withheld")
SECOND_OPINION_NOT_SET_ASIDE = _notice("second_opinion_not_set_aside")
SECOND_OPINION_CRITICAL_KEPT = _notice("second_opinion_critical_kept")
SECOND_OPINION_STAYS_MISSING = _notice("second_opinion_stays_missing")
SECOND_OPINION_REFUSED = _notice("second_opinion_refused")
SWEEP_BUDGET = _notice("sweep_budget")
SWEEP_UNREFUTED = _notice("sweep_unrefuted")
SWEEP_WITHHELD = _notice("sweep_withheld")
COMPLAINTS = {
    "no_grounds": _notice("llm_no_grounds"),
    "contradiction": _notice("llm_contradiction"),
    "only_fabricated": _notice("llm_only_fabricated"),
}


def suggestions_failed(error: HubError) -> Notice:
    """Say why a model gave no suggestions for some findings."""
    return _with_reason(_notice("llm_suggestions_failed"), error)


def second_opinion_failed(error: HubError) -> Notice:
    """Say why a model gave no opinion on some findings."""
    return _with_reason(_notice("second_opinion_failed"), error)


def sweep_failed(error: HubError) -> Notice:
    """Say why a model did not read some of a document."""
    return _with_reason(_notice("sweep_failed"), error)


def lint_failed(error: HubError) -> Notice:
    """Say why a model did not look at some items."""
    return _with_reason(_notice("llm_lint_failed"), error)


def failed(error: HubError, *, was_asked: bool) -> Notice:
    """Say why a model gave no usable judgement; ``was_asked`` tells a failure from a request that was never sent."""
    said = _with_reason(_notice("llm_failed" if was_asked else "llm_not_asked"), error)
    return Notice(code=error.error_code, ja=said.ja, en=said.en)


def _with_reason(notice: Notice, error: HubError) -> Notice:
    said = in_both(error)
    return Notice(code=notice.code, ja=f"{notice.ja}{said.ja}", en=f"{notice.en} {said.en}")
