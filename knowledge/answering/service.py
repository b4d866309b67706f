"""The answer service: one function behind REST and MCP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models.functions import Greatest

from hub.access.principals import Classification, Principal, Scope
from hub.core.errors import HubError
from hub.core.languages import in_both
from hub.llm.preparation import ceiling_of
from hub.llm.providers.registry import get_provider, is_configured
from knowledge.answering.extractive import best_sentences
from knowledge.answering.grounded import GroundedAnswer
from knowledge.answering.types import (
    CLASSIFIED_LEFT_OUT,
    EXTRACTIVE,
    NOT_IN_DOCUMENTS,
    Answer,
    AnswerMode,
    AnswerSentence,
    Question,
    llm_failed,
)
from knowledge.documents.documents import check_filters, check_search_filter
from knowledge.graph.search import GraphQuery, GraphResult, graph_search
from knowledge.models import Document
from knowledge.search import GOOD_EVIDENCE, check_number, record_question, search
from knowledge.types.notices import Notice
from knowledge.types.search import Hit, SearchFilter, SearchQuery

MAX_PASSAGES = 20
# Beside a passage that answers, weaker ones may complete it.
LEAST_SCORE = 0.35


def answer_question(principal: Principal, question: Question) -> Answer:
    """Answer a question from what the caller may search, or say that the documents don't.

    With a language model each sentence is the model's and was found to be borne out by the passages that it cites;
    without one, or when it fails, sentences are taken from the documents as they are.

    :raises Forbidden: the caller lacks the scope search. :raises InvalidInput: names the field.
    :raises NotFound: a collection of the filter. :raises Unavailable: the search can't answer.
    """
    *_sentences, whole = follow_question(principal, question)
    assert isinstance(whole, Answer)  # noqa: S101 - what follow_question ends with
    return whole


def follow_question(principal: Principal, question: Question) -> Iterator[AnswerSentence | Answer]:
    """Yield each sentence as soon as it is checked, and at the end the whole answer.

    Searches at once, so that what `answer_question` raises is raised by this call and not by the iteration.
    """
    check_search_filter(principal, question.filter)
    check_number("limit", question.limit, 1, MAX_PASSAGES)
    result = search(
        principal, SearchQuery(text=question.text, filter=question.filter, limit=MAX_PASSAGES, threshold=LEAST_SCORE)
    )
    codes = {notice.code for notice in result.notices}
    record_question(
        principal,
        "ANSWER",
        question.text,
        mode="answer",
        asked=question.filter,
        documents=[hit.document_id for hit in result.hits],
        results=len(result.hits),
    )
    is_good = "uncalibrated_scores" in codes or (result.hits and (result.hits[0].score or 0) >= GOOD_EVIDENCE)
    return _sentences(principal, question, result.hits if is_good else (), list(result.notices))


def _sentences(
    principal: Principal, question: Question, passages: Sequence[Hit], remarks: list[Notice]
) -> Iterator[AnswerSentence | Answer]:
    given: list[AnswerSentence] = []
    mode = AnswerMode.LLM if is_configured() else AnswerMode.EXTRACTIVE
    if mode is AnswerMode.LLM and passages:
        grounded = _ask_model(principal, question.text, passages[: question.limit])
        remarks += grounded.remarks
        try:
            for sentence in grounded.sentences():
                given.append(sentence)
                yield sentence
        except HubError as error:
            mode = AnswerMode.EXTRACTIVE
            remarks.append(llm_failed(error.error_code, in_both(error)))
        remarks += [notice for notice in grounded.remarks if notice not in remarks]
        if not grounded.passages:
            mode = AnswerMode.EXTRACTIVE
    if mode is AnswerMode.EXTRACTIVE and passages:
        given = list(best_sentences(question.text, passages, limit=question.limit))
        remarks += [EXTRACTIVE] if given else []
        yield from given
    remarks += [] if given else [NOT_IN_DOCUMENTS]
    yield Answer(query=question.text, mode=mode, sentences=tuple(given), notices=tuple(remarks))


def _ask_model(principal: Principal, question: str, passages: Sequence[Hit]) -> GroundedAnswer:
    """Prepare the question to the model with the passages that it may see. Two queries at most."""
    kept, classification = _permitted_outside(passages)
    return GroundedAnswer(
        principal=principal,
        question=question,
        passages=kept,
        classification=classification,
        remarks=[CLASSIFIED_LEFT_OUT] if len(kept) < len(passages) else [],
    )


def _permitted_outside(passages: Sequence[Hit]) -> tuple[list[Hit], Classification]:
    """Leave out what a model outside may not see, and give the highest classification of the rest."""
    highest = Greatest("classification", "collection__classification")
    rows = Document.objects.filter(public_id__in={hit.document_id for hit in passages}).annotate(highest=highest)
    levels = {public_id: Classification(level) for public_id, level in rows.values_list("public_id", "highest")}
    ceiling = ceiling_of(get_provider())
    # a document that was deleted since the search has no level, and is not sent
    kept = [hit for hit in passages if hit.document_id in levels and levels[hit.document_id] <= ceiling]
    return kept, max((levels[hit.document_id] for hit in kept), default=Classification.C1)


def walk_graph(principal: Principal, query: GraphQuery) -> GraphResult:
    """Walk the graph from an entity, and say so in the audit trail.

    Raises what `graph_search` raises, NotFound for a collection that is not there.
    """
    principal.require(Scope.SEARCH)
    check_filters(principal, scope=Scope.SEARCH, collections=[query.collection])
    found = graph_search(principal, query)
    asked = SearchFilter(collections=(query.collection,)) if query.collection else None
    documents = [node.id for node in found.nodes if node.id.startswith("doc_")]
    record_question(
        principal, "SEARCH", query.entity, mode="graph", asked=asked, documents=documents, results=len(found.nodes)
    )
    return found
