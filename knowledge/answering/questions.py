"""Answers and walks through the graph, for the doors: what they are restricted to is looked at first."""

from __future__ import annotations

from collections.abc import Iterator

from hub.access.principals import Principal, Scope
from knowledge.answering.service import answer, follow_answer
from knowledge.answering.types import Answer, AnswerSentence, Question
from knowledge.documents.filters import check_filters, check_search_filter
from knowledge.graph.search import GraphQuery, GraphResult, graph_search


def answer_question(principal: Principal, question: Question) -> Answer:
    """Answer from what the caller may search. Raises what `follow_question` raises."""
    check_search_filter(principal, question.filter)
    return answer(principal, question)


def follow_question(principal: Principal, question: Question) -> Iterator[AnswerSentence | Answer]:
    """Yield each sentence as soon as it is checked, and at the end the whole answer.

    Raises at once what `knowledge.answering.follow_answer` raises, NotFound for a collection and InvalidInput for a
    document type in the filter that is not there.
    """
    check_search_filter(principal, question.filter)
    return follow_answer(principal, question)


def walk_graph(principal: Principal, query: GraphQuery) -> GraphResult:
    """Walk the graph from an entity. Raises what `graph_search` raises, NotFound for a collection that is not there."""
    principal.require(Scope.SEARCH)
    check_filters(principal, scope=Scope.SEARCH, collections=[query.collection])
    return graph_search(principal, query)
