"""Asking: the home page with its question, and the passages that the answer may stand on; it is fetched by the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.access.principals import Classification, Principal, Scope
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import principal_of
from hub.core.errors import HubError
from hub.core.languages import shown
from hub.home.addresses import passage_address, place_of
from hub.home.pages import home_page, render_home
from knowledge.answering import Answer, answers_by_model, search_passages
from knowledge.models import Collection
from knowledge.questions import own_questions, requests_to
from knowledge.rendering import ShownText, markdown_versions, shown_text
from knowledge.search import MAX_OFFSET, MAX_QUERY_CHARS
from knowledge.text.follow_ups import MOST_CHARACTERS, FollowUp, resolve_follow_up
from knowledge.types.search import Facet, Hit, SearchDetail, SearchFilter, SearchQuery, SearchResult
from review.triage.own_work import count_assigned, count_to_sign

PER_PAGE = 10
SNIPPET_CHARS = 220
MOST_COLLECTIONS = 30
LATEST_QUESTIONS = 5
_YEAR = re.compile(r"[12][0-9]{3}", re.ASCII)
# The names of facets in an address, and of their fields in a filter; a year is asked for by its days.
FACETS = {"collection": "collections", "document_type": "document_types", "classification": "classifications"}
FACET_NAMES: dict[str, str | Promise] = {
    "collection": gettext_lazy("Collection"),
    "document_type": gettext_lazy("Document type"),
    "classification": gettext_lazy("Classification"),
    "year": gettext_lazy("Year of upload"),
}
# What a reader is told by the answer itself, or has no use for.
UNSAID = frozenset({"extractive_answer", "not_in_documents", "no_good_evidence"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks: the question, the one before, the value of each facet, and where the page begins."""

    text: str = ""
    before: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    offset: int = 0

    @property
    def whole(self) -> FollowUp:
        """The question as one that stands by itself, with what it carries over from the one before."""
        return resolve_follow_up(self.text, self.before)

    @property
    def filter(self) -> SearchFilter:
        named: dict[str, Any] = {FACETS[name]: (value,) for name, value in self.chosen.items() if name in FACETS}
        if year := int(self.chosen.get("year", 0)):
            named |= {"created_from": date(year, 1, 1), "created_to": date(year, 12, 31)}
        return SearchFilter(**named)

    def address(self, **changed: str | int | None) -> str:
        """Give the query of an address that asks this with some of it changed; None takes a value out."""
        values: dict[str, Any] = {"q": self.text, "before": self.before, **self.chosen, **changed}
        query = QueryDict(mutable=True)
        query.update({name: str(value) for name, value in values.items() if value not in (None, "")})
        return f"?{query.urlencode()}"


def read_asked(given: QueryDict) -> Asked:
    """Read what an address asks; what is not understood is left out."""
    return Asked(
        text=given.get("q", "").strip(),
        before=given.get("before", "").strip()[: MOST_CHARACTERS + 1],
        chosen={name: value for name in FACET_NAMES if (value := given.get(name, "")) and _is_known(name, value)},
        offset=min(whole_number(given.get("offset"), digits=6) or 0, MAX_OFFSET),
    )


def _is_known(name: str, value: str) -> bool:
    if name == "year":
        return _YEAR.fullmatch(value) is not None
    return name != "classification" or value in {level.short for level in Classification}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A passage as the page lists it."""

    hit: Hit
    text: ShownText
    place: str
    link: str


@home_page
def home(request: HttpRequest) -> HttpResponseBase:
    """Show the question's field, and for a question the passages; the answer is fetched by the page."""
    principal, asked = principal_of(request), read_asked(request.GET)
    context: dict[str, Any] = {"asked": asked, "longest": MAX_QUERY_CHARS, "answer_query": asked.address()}
    context |= {"whole": asked.whole, "as_typed": asked.address(before=None), "streams": answers_by_model()}
    if not asked.text:
        listed = Collection.objects.visible_to(principal, Scope.SEARCH).order_by("name")
        context["collections"] = list(listed[: MOST_COLLECTIONS + 1])
        context["questions"] = own_questions(principal, most=LATEST_QUESTIONS)
        context["waiting"] = requests_to(principal).count()
        context["assigned"] = count_assigned(principal)
        context["to_sign"] = count_to_sign(principal)
        return render_home(request, "home/ask.html", title=_("Ask the documents"), **context)
    try:
        context |= _passages(principal, asked)
    except HubError as error:
        context["error"] = str(error)
    return render_home(request, "home/ask.html", title=asked.text, **context)


def _passages(principal: Principal, asked: Asked) -> dict[str, Any]:
    query = SearchQuery(
        text=asked.whole.text,
        filter=asked.filter,
        limit=PER_PAGE,
        offset=asked.offset,
        detail=SearchDetail.HIGHLIGHTS,
        with_facets=True,
    )
    result = search_passages(principal, query)
    return {
        "result": result,
        "snippets": _snippets(result.hits),
        "facets": _facets(asked, result.facets),
        "notices": said(result),
        "first": asked.offset + 1,
        "last": asked.offset + len(result.hits),
        "previous": asked.address(offset=max(asked.offset - PER_PAGE, 0) or None) if asked.offset else "",
        "next": asked.address(offset=result.next_offset) if result.next_offset else "",
    }


def said(result: SearchResult | Answer) -> list[str]:
    """Give what a result says of itself that a reader has a use for."""
    return [shown(notice) for notice in result.notices if notice.code not in UNSAID]


def _snippets(hits: Sequence[Hit]) -> list[Snippet]:
    own_markdown = markdown_versions(hits)
    return [
        Snippet(
            hit=hit,
            text=shown_text(hit, room=SNIPPET_CHARS, is_markdown=(hit.document_id, hit.version) in own_markdown),
            place=place_of(hit),
            link=passage_address(hit.document_id, hit.version, hit.start_offset, hit.end_offset),
        )
        for hit in hits
    ]


def _facets(asked: Asked, found: Sequence[Facet]) -> list[tuple[str | Promise, list[dict[str, Any]]]]:
    """Group facets with where each leads: to the same question narrowed down, or from the chosen one back.

    One value that all passages have narrows nothing down, and is left out unless it was chosen.
    """
    groups = []
    for name, title in FACET_NAMES.items():
        values = [one for one in found if one.field == name]
        chosen = asked.chosen.get(name)
        if len(values) < 2 and not chosen:
            continue
        shown_values = [
            {
                "label": one.label,
                "is_chosen": one.value == chosen,
                "link": asked.address(**{name: None if one.value == chosen else one.value}),
            }
            for one in values
        ]
        if chosen and chosen not in {one.value for one in values}:
            shown_values.append({"label": chosen, "is_chosen": True, "link": asked.address(**{name: None})})
        groups.append((title, shown_values))
    return groups
