"""The answer service: one function behind REST and MCP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from django.db.models.functions import Greatest

from hub.access.principals import Classification, Principal, Scope
from hub.core.errors import HubError
from hub.core.languages import in_both
from hub.core.measures import ANSWERS, Point, count
from hub.llm.preparation import ceiling_of
from hub.llm.providers.registry import get_provider, is_configured
from knowledge.answering.asked import read_asked
from knowledge.answering.extractive import LEAST_LIKELY, Rated, choose, in_reading_order, rate_sentences
from knowledge.answering.grounded import GroundedAnswer
from knowledge.answering.parts import parts_of
from knowledge.answering.subjects import phrases_of
from knowledge.answering.types import (
    CLASSIFIED_LEFT_OUT,
    EXTRACTIVE,
    Answer,
    AnswerMode,
    AnswerPart,
    AnswerSentence,
    LookedFor,
    Question,
    llm_failed,
    not_in_documents,
)
from knowledge.documents.documents import check_filters, check_search_filter
from knowledge.graph.search import GraphQuery, GraphResult, graph_search
from knowledge.index.analysis import NO_SYNONYMS
from knowledge.models import Document
from knowledge.ontology.store import expand
from knowledge.search import NOTHING_TO_SEARCH, check_number, record_question, search
from knowledge.text.folding import fold_terms
from knowledge.types.notices import Notice
from knowledge.types.search import Hit, SearchFilter, SearchQuery, SearchResult

MAX_PASSAGES = 20
# Passages below it are hardly about the subject: they are read, but not shown as the nearest.
LEAST_SCORE = 0.35
MOST_NEAREST = 3


def answer_question(principal: Principal, question: Question) -> Answer:
    """Answer a question from what the caller may search, or say that the documents don't.

    With a language model, which reads the passages whatever their scores, each sentence is the model's and was found
    to be borne out by the places that it quotes; without one, or when it fails, and from passages that it may not
    see, sentences are taken from the documents as they are.

    :raises Forbidden: the caller lacks the scope search. :raises InvalidInput: names the field.
    :raises NotFound: a collection of the filter. :raises Unavailable: the search can't answer.
    """
    *_sentences, whole = follow_question(principal, question)
    assert isinstance(whole, Answer)  # noqa: S101 - what follow_question ends with
    return whole


def answers_by_model() -> bool:
    """Whether a language model writes the sentences of answers, so that they come one after the other."""
    return is_configured()


def follow_question(principal: Principal, question: Question) -> Iterator[AnswerSentence | Answer]:
    """Yield each sentence as soon as it is checked, and at the end the whole answer.

    Searches at once, so that what `answer_question` raises is raised by this call and not by the iteration.
    """
    check_search_filter(principal, question.filter)
    check_number("limit", question.limit, 1, MAX_PASSAGES)
    parts = parts_of(question.text)
    results = [search(principal, SearchQuery(text=part, filter=question.filter, limit=MAX_PASSAGES)) for part in parts]
    documents = dict.fromkeys(hit.document_id for result in results for hit in result.hits)
    record_question(
        principal,
        "ANSWER",
        question.text,
        mode="answer",
        asked=question.filter,
        documents=list(documents),
        results=sum(len(result.hits) for result in results),
    )
    return _sentences(principal, question, [_read(*one) for one in zip(parts, results, strict=True)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of a question: what was found for it, and the sentences that may answer, likeliest first.

    ``remarks`` are the search's.
    """

    asks: str
    hits: Sequence[Hit]
    rated: Sequence[Rated]
    remarks: Sequence[Notice]

    def answered_by(self, given: Sequence[AnswerSentence], *, place: int) -> list[AnswerSentence]:
        """The sentences for this part, at its place in the question; of a document those that are likely to answer."""
        likely = {(one.one.hit.chunk_id, one.one.start) for one in self.rated if one.chance >= LEAST_LIKELY}
        return [
            one
            for one in given
            if one.part == place
            or (
                one.part is None
                and any((c.hit.chunk_id, c.start_offset - c.hit.start_offset) in likely for c in one.citations)
            )
        ]


def _read(asks: str, result: SearchResult) -> _Part:
    has_synonyms = all(notice.code != "synonyms_unavailable" for notice in result.notices)
    synonyms = expand(asks) if has_synonyms and result.hits else NO_SYNONYMS
    rated = rate_sentences(asks, result.hits, synonyms=synonyms)
    return _Part(asks=asks, hits=result.hits, rated=rated, remarks=result.notices)


def _sentences(principal: Principal, question: Question, parts: Sequence[_Part]) -> Iterator[AnswerSentence | Answer]:
    remarks = list(dict.fromkeys(notice for part in parts for notice in part.remarks))
    given: list[AnswerSentence] = []
    mode = AnswerMode.LLM if answers_by_model() else AnswerMode.EXTRACTIVE
    passages = _to_read(parts, limit=question.limit)
    read: set[str] = set()
    if mode is AnswerMode.LLM and passages:
        grounded = _ask_model(principal, question.text, passages, parts)
        try:
            for sentence in grounded.sentences():
                given.append(sentence)
                yield sentence
            read = {hit.chunk_id for hit in grounded.passages}
        except HubError as error:
            remarks.append(llm_failed(error.error_code, in_both(error)))
        remarks += grounded.remarks
        if not given and len(read) < len(passages):
            mode = AnswerMode.EXTRACTIVE
    if mode is AnswerMode.EXTRACTIVE:
        limit = max(1, question.limit // len(parts))
        unread = [[one for one in part.rated if one.one.hit.chunk_id not in read] for part in parts]
        said = [one.said() for rated in unread for one in choose(rated, limit=limit)]
        given = list({one.text: one for one in said}.values())
        remarks += [EXTRACTIVE] if given else []
        yield from given
    count(Point(family=ANSWERS, labels=("answered" if given else "no_evidence",), value=1))
    yield _whole(question.text, mode, given, remarks, parts)


def _to_read(parts: Sequence[_Part], *, limit: int) -> list[Hit]:
    """Choose up to ``limit`` passages for a language model, from each part in turn."""
    orders = [in_reading_order(part.rated, part.hits) for part in parts]
    in_turn = [hit for row in zip_longest(*orders) for hit in row if hit is not None]
    return list({hit.chunk_id: hit for hit in in_turn}.values())[:limit]


def _whole(
    question: str,
    mode: AnswerMode,
    given: Sequence[AnswerSentence],
    remarks: Sequence[Notice],
    parts: Sequence[_Part],
) -> Answer:
    """Put an answer together; of what has no sentence it tells what was looked for, and what is nearest to it."""
    answered = [_answer_to(part, part.answered_by(given, place=place)) for place, part in enumerate(parts)]
    unanswered = [one for one in answered if not one.sentences] if len(parts) > 1 or not given else []
    first = unanswered[0] if unanswered else answered[0]
    notices = [notice for notice in remarks if not given or notice.code != "no_good_evidence"]
    if all(notice.code != NOTHING_TO_SEARCH.code for notice in remarks):
        notices += [not_in_documents(one.looked_for) for one in unanswered]
    return Answer(
        query=question,
        mode=mode,
        looked_for=first.looked_for,
        sentences=tuple(given),
        nearest=tuple(citation for one in unanswered for citation in one.nearest),
        parts=tuple(answered) if len(parts) > 1 else (),
        notices=tuple(dict.fromkeys(notices)),
    )


def _answer_to(part: _Part, given: Sequence[AnswerSentence]) -> AnswerPart:
    nearest = [] if given else _nearest(part.rated)
    read = [one.hit for sentence in given for one in sentence.citations] or [one.one.hit for one in nearest]
    return AnswerPart(
        asks=part.asks,
        looked_for=_looked_for(part.asks, read),
        sentences=tuple(given),
        nearest=tuple(one.one.cite(chance=one.chance) for one in nearest),
    )


def _nearest(rated: Sequence[Rated]) -> list[Rated]:
    """The likeliest sentence of each of a few passages about the subject, none of which answers."""
    about = [one for one in rated if (one.one.hit.score or 0.0) >= LEAST_SCORE]
    first = {one.one.hit.chunk_id: one for one in reversed(about)}
    return sorted(first.values(), key=lambda one: -one.chance)[:MOST_NEAREST]


def _looked_for(question: str, hits: Iterable[Hit]) -> LookedFor:
    """What was looked for, and which of the things that the question names these passages have."""
    asked = read_asked(question)
    text = fold_terms("\n".join(f"{hit.title}\n{' '.join(hit.section_path)}\n{hit.content}" for hit in hits))
    lines = text.splitlines()
    named = [one for one in phrases_of(question) if one.folded != asked.unit or len(asked.unit) > 1]
    there = [one for one in named if any(one.is_in(line) for line in lines)]
    return LookedFor(
        kind=asked.kind,
        thing=asked.phrase,
        found=tuple(one.shown for one in there),
        missing=tuple(one.shown for one in named if one not in there),
    )


def _ask_model(principal: Principal, question: str, passages: Sequence[Hit], parts: Sequence[_Part]) -> GroundedAnswer:
    """Prepare the question to the model with the passages that it may see. Two queries at most."""
    kept, classification = _permitted_outside(passages)
    return GroundedAnswer(
        principal=principal,
        question=question,
        parts=[part.asks for part in parts],
        passages=kept,
        classification=classification,
        chances=_chances(parts),
        remarks=[CLASSIFIED_LEFT_OUT] if len(kept) < len(passages) else [],
    )


def _chances(parts: Sequence[_Part]) -> dict[tuple[str, int], float]:
    """The chance of each sentence, by its passage and place: the best one, where it may answer several parts."""
    found: dict[tuple[str, int], float] = {}
    for one in (one for part in parts for one in part.rated):
        place = one.one.hit.chunk_id, one.one.start
        found[place] = max(found.get(place, 0.0), one.chance)
    return found


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
    asked = SearchFilter(
        collections=(query.collection,) if query.collection else (),
        document_ids=(query.document_id,) if query.document_id else (),
    )
    documents = [node.id for node in found.nodes if node.id.startswith("doc_")]
    record_question(
        principal, "SEARCH", query.entity, mode="graph", asked=asked, documents=documents, results=len(found.nodes)
    )
    return found
