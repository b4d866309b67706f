"""The answer to a question: a page or a part of one, whole, or sentence by sentence while a model writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from pydantic import BaseModel

from hub.access.principals import Principal
from hub.access.rights import sees_all_named
from hub.access.services import principal_for_user
from hub.admin_site.pages import principal_of
from hub.core.errors import HubError
from hub.home.addresses import passage_address, place_of
from hub.home.asking import Asked, read_asked, said
from hub.home.pages import PART, home_page, render_home
from hub.rest.responses import event_stream
from knowledge.answering import (
    Answer,
    AnswerSentence,
    Citation,
    Question,
    answer_question,
    asks_something,
    follow_question,
)
from knowledge.questions import note_question, owned_collections, takes_requests
from knowledge.text.excerpts import is_row
from knowledge.text.quotes import in_one_line
from knowledge.text.tables import cells_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place that an answer stands on, with the number that its sentences name it by; 0 for one that is only near."""

    number: int
    citation: Citation
    place: str
    link: str
    quote: str  # as people read it, without the signs of Markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSentence:
    """A sentence as the page shows it: its text, or the cells of a row by their columns, and its sources."""

    text: str
    columns: list[tuple[str, str]]
    sources: list[Source]


@dataclass(slots=True)
class Numbering:
    """Numbers the places in the order in which sentences name them."""

    sources: dict[tuple[str, int, int, int], Source] = field(default_factory=dict)

    def show(self, sentence: AnswerSentence) -> ShownSentence:
        """Give a sentence with the numbers of its places; a place that was named before has its number already."""
        named = []
        for citation in sentence.citations:
            hit = citation.hit
            key = (hit.document_id, hit.version, citation.start_offset, citation.end_offset)
            if key not in self.sources:
                self.sources[key] = _source(citation, number=len(self.sources) + 1)
            named.append(self.sources[key])
        return ShownSentence(text=in_one_line(sentence.text), columns=_columns(sentence), sources=named)


class AnswerPart(BaseModel):
    """A part of an answer's page, as the page puts it in."""

    html: str


@home_page
def answer(request: HttpRequest) -> HttpResponseBase:
    """Answer a question in sentences that name their places, or say that the documents don't."""
    principal, asked = principal_of(request), read_asked(request.GET)
    context: dict[str, Any] = {"asked": asked}
    if asked.text:
        try:
            context |= _whole(principal, asked, answer_question(principal, _question(asked)))
        except HubError as error:
            context["error"] = str(error)
    return render_home(request, "home/answer.html", title=asked.text or _("Ask the documents"), **context)


@home_page
def answer_stream(request: HttpRequest) -> HttpResponseBase:
    """Send each sentence as soon as a model wrote it and it was checked, and then the whole answer.

    It ends before the first part that the person may not have any more. Errors: see `follow_question`.
    """
    principal, asked = principal_of(request), read_asked(request.GET)
    parts = follow_question(principal, _question(asked))
    may_have = partial(_may_still_have, request)
    return event_stream(request, _events(request, principal, asked, parts), caller=principal, may_have=may_have)


def _question(asked: Asked) -> Question:
    return Question(text=asked.whole.text, filter=asked.filter)


def _events(
    request: HttpRequest, principal: Principal, asked: Asked, parts: Iterable[AnswerSentence | Answer]
) -> Iterator[tuple[str, AnswerPart]]:
    numbering = Numbering()
    for part in parts:
        if isinstance(part, Answer):
            context = {"asked": asked, "fetched": True, "frame": PART, **_whole(principal, asked, part)}
            yield "answer", AnswerPart(html=render_to_string("home/answer.html", context, request))
        else:
            shown = {"sentence": numbering.show(part)}
            yield "sentence", AnswerPart(html=render_to_string("home/sentence.html", shown))


def _may_still_have(request: HttpRequest, content: bytes) -> bool:
    """Whether the session that asked is still there, and its person may see all that a part names. Four queries."""
    user = User.objects.filter(pk=request.user.pk or 0, is_active=True).first()
    if user is None or not request.session.exists(request.session.session_key or ""):
        return False
    return sees_all_named(principal_for_user(user), content)


def _whole(principal: Principal, asked: Asked, found: Answer) -> dict[str, Any]:
    """Give what the page of an answer shows, and keep the question as the person wants it kept.

    Words to look for that are found are no question without an answer, and neither is what nobody could answer: the
    question of a person without any collection.
    """
    owned = [] if found.sentences else owned_collections(principal, asked.filter)
    if not (found.sentences or owned):
        return {"found": found, "has_no_collection": True}
    numbering = Numbering()
    sentences = [numbering.show(one) for one in found.sentences]
    text = asked.whole.text
    has_all_words = bool(found.nearest) and not found.looked_for.missing
    only_words = not sentences and has_all_words and not asks_something(text)
    shown = {
        "found": found,
        "sentences": sentences,
        "sources": list(numbering.sources.values()),
        "looked_for": found.looked_for.thing,
        "missing": " / ".join(found.looked_for.missing),
        "nearest": [_source(citation, number=0) for citation in found.nearest],
        "notices": said(found),
        "only_words": only_words,
        "is_refused": any(notice.code == "not_in_documents" for notice in found.notices),
        "question_id": note_question(principal, text, asked.filter, is_answered=bool(sentences) or only_words),
    }
    if not sentences:
        shown |= {"whole": text, "takes_requests": takes_requests(), "owned": owned}
    return shown


def _columns(sentence: AnswerSentence) -> list[tuple[str, str]]:
    """Give the row of a table by its columns; where they have no names, what its first cell names. Else nothing."""
    if not is_row(sentence.text):
        return []
    header = next((one.table_header for one in sentence.citations if one.table_header), "")
    name, *values = map(in_one_line, cells_of(sentence.text))
    if not header:
        return [(name, " / ".join(filter(None, values)))]
    pairs = zip(map(in_one_line, cells_of(header)), [name, *values], strict=False)
    return [(column, value) for column, value in pairs if value]


def _source(citation: Citation, *, number: int) -> Source:
    hit = citation.hit
    link = passage_address(hit.document_id, hit.version, citation.start_offset, citation.end_offset)
    return Source(number=number, citation=citation, place=place_of(hit), link=link, quote=in_one_line(citation.quote))
