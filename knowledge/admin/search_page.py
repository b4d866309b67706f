"""The search page: the same search as through every other door, for people, and how it came about in words."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from hub.access.principals import HubRight, Principal
from hub.admin_site.pages import admin_page, principal_of, render_page
from hub.core.errors import HubError
from hub.core.languages import shown
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.admin.addresses import passage_address
from knowledge.admin.search_form import MODES, SearchForm
from knowledge.answering import search_passages
from knowledge.evaluation.questions import cases_of, is_kept, question_of
from knowledge.rendering import COLUMN_ROOM, ROOM, ShownText, markdown_versions, shown_text
from knowledge.search import compare_modes
from knowledge.types.search import Explanation, Hit, SearchMode, SearchQuery, SearchResult

LEGS = {
    "vector": gettext_lazy("by meaning"),
    "lexical": gettext_lazy("by words"),
    "reranker": gettext_lazy("reranker"),
}
STEPS = {
    "phrases": gettext_lazy("quoted phrases"),
    "embed": gettext_lazy("embedding of the question"),
    "vector": gettext_lazy("search by meaning"),
    "lexical": gettext_lazy("search by words"),
    "fuse": gettext_lazy("fusion and score"),
    "rerank": gettext_lazy("reranker"),
    "load": gettext_lazy("loading the passages"),
    "total": gettext_lazy("total"),
}

# The plans as search names them; one that is not here is shown as it is.
PLANS = (
    gettext_noop("exact over up to 10000 permitted passages"),
    gettext_noop("HNSW, iterative scan"),
    gettext_noop("all permitted passages"),
    gettext_noop("best passages first, then permissions"),
)


def leg_name(leg: str) -> str | Promise:
    """Give the name of a leg that people read; one that has none is shown as it is."""
    return LEGS.get(leg, leg)


def explained(result: SearchResult) -> dict[str, Any] | None:
    """Turn an explanation into names and values for the page; None where none was asked for or nothing was searched.

    ``timings`` are (step, seconds, share of the longest in percent), the total last.
    """
    explanation = result.explanation
    if explanation is None:
        return None
    return {
        "facts": _facts(explanation),
        "legs": [
            (leg_name(leg), explanation.candidates.get(leg, 0), _(plan)) for leg, plan in explanation.plans.items()
        ],
        "words": sorted(explanation.words.items(), key=lambda pair: (-pair[1], pair[0])),
        "bigrams": sorted(explanation.bigrams.items(), key=lambda pair: (-pair[1], pair[0])),
        "timings": _timings(result),
    }


def _facts(explanation: Explanation) -> list[tuple[str, str]]:
    permitted = _("more than 10,000") if explanation.permitted is None else str(explanation.permitted)
    facts = [
        (_("Mode that answered"), str(dict(MODES).get(explanation.mode, explanation.mode))),
        (_("Embedding set"), explanation.embedding_set),
        (_("Passages that may answer"), permitted),
        (_("Codes looked for"), ", ".join(explanation.codes)),
        (_("Quoted phrases"), ", ".join(explanation.phrases)),
        (_("Filters"), "; ".join(f"{name}: {_value(value)}" for name, value in explanation.filters.items())),
    ]
    return [(name, value) for name, value in facts if value]


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _timings(result: SearchResult) -> list[tuple[str, float, int]]:
    steps = sorted(result.timings_ms.items(), key=lambda pair: pair[1])
    longest = max((spent for _name, spent in steps), default=0) or 1
    return [(str(STEPS.get(name, name)), spent / 1000, round(100 * spent / longest)) for name, spent in steps]


CHOSEN_DATASET = "hub_dataset"
FIRST_DATASET = "saved-queries"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHit:
    """A hit as the page shows it. ``rank`` counts from 1 over all pages.

    Of the question's terms it has the ``words``, the ``synonyms`` and the ``pairs`` of characters. ``others`` are its
    ranks in the columns beside, None where it is not among theirs; ``kept_in`` are the codes of the datasets in which
    it is a right answer to the question.
    """

    rank: int
    hit: Hit
    text: ShownText
    link: str
    legs: list[tuple[str | Promise, int | None, float]]
    words: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    kept_in: tuple[str, ...] = ()
    others: tuple[tuple[str, int | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One search's answer: the only one of the page, or a column of three."""

    mode: str
    label: str | Promise
    result: SearchResult
    hits: list[ShownHit]
    notices: list[str]
    explanation: dict[str, Any] | None


@admin_page("search/", name="hub_search")
def search_page(request: HttpRequest) -> HttpResponseBase:
    """Show the form, and the results of what the address asks for."""
    principal = principal_of(request)
    form = SearchForm(request.GET if "q" in request.GET else None, principal=principal)
    context: dict[str, Any] = {"form": form, "curates": principal.may(HubRight.EVALUATION)}
    if form.is_bound and form.is_valid():
        try:
            context |= _answer(request, principal, form)
        except HubError as error:
            context["error"] = str(error)
    return render_page(request, "admin/hub/search.html", title=_("Search"), **context)


def _answer(request: HttpRequest, principal: Principal, form: SearchForm) -> dict[str, Any]:
    query = form.as_query()
    question = question_of(query)
    context: dict[str, Any] = {"question": question, "options": json.dumps(question.options, ensure_ascii=False)}
    kept: list[EvaluationCase] = []
    if principal.may(HubRight.EVALUATION):
        kept = cases_of(principal, question)
        context |= _datasets(request, principal)
    if form.compares:
        found = compare_modes(principal, query, [SearchMode(mode) for mode, _label in MODES])
        return context | {"columns": _columns(query, found, kept)}
    result = search_passages(principal, query, source=form.chosen_source)
    shown = _shown(query, result, kept, markdown_versions(result.hits), room=ROOM)
    return context | {
        "shown": shown,
        "next_link": _page_link(request, shown.result.next_offset),
        "previous_link": _page_link(request, max(query.offset - query.limit, 0)) if query.offset else None,
    }


def _datasets(request: HttpRequest, principal: Principal) -> dict[str, Any]:
    """The datasets to keep answers in, and the one that was used last."""
    codes = list(EvaluationDataset.objects.visible_to(principal).order_by("code").values_list("code", flat=True))
    last = request.session.get(CHOSEN_DATASET)
    chosen = last if last in codes else next(iter(codes), "")
    return {"datasets": codes, "chosen_dataset": chosen, "first_dataset": "" if codes else FIRST_DATASET}


def _columns(
    query: SearchQuery, found: Sequence[tuple[str, SearchResult]], kept: Sequence[EvaluationCase]
) -> list[Shown]:
    """Put the modes beside each other; each hit says where the other modes have it."""
    own_markdown = markdown_versions(hit for _mode, result in found for hit in result.hits)
    ranks = {mode: {hit.chunk_id: rank for rank, hit in enumerate(result.hits, 1)} for mode, result in found}
    columns = []
    for mode, result in found:
        shown = _shown(replace(query, mode=SearchMode(mode)), result, kept, own_markdown, room=COLUMN_ROOM)
        beside = [name for name in ranks if name != mode]
        hits = [
            replace(one, others=tuple((_label(name), ranks[name].get(one.hit.chunk_id)) for name in beside))
            for one in shown.hits
        ]
        columns.append(replace(shown, hits=hits))
    return columns


def _label(mode: str) -> str:
    return str(dict(MODES)[mode])


def _shown(
    query: SearchQuery,
    result: SearchResult,
    kept: Sequence[EvaluationCase],
    own_markdown: Collection[tuple[str, int]],
    *,
    room: int,
) -> Shown:
    def shown_hit(rank: int, hit: Hit) -> ShownHit:
        text = shown_text(hit, room=room, is_markdown=(hit.document_id, hit.version) in own_markdown)
        return _shown_hit(rank, hit, text, kept, result.explanation)

    return Shown(
        mode=query.mode.value,
        label=_label(query.mode.value),
        result=result,
        hits=[shown_hit(rank, hit) for rank, hit in enumerate(result.hits, query.offset + 1)],
        notices=[shown(notice) for notice in result.notices],
        explanation=explained(result),
    )


def _shown_hit(
    rank: int, hit: Hit, text: ShownText, kept: Sequence[EvaluationCase], explanation: Explanation | None
) -> ShownHit:
    return ShownHit(
        rank=rank,
        hit=hit,
        text=text,
        link=passage_address(hit.document_id, hit.version, hit.start_offset, hit.end_offset),
        words=tuple(term for term in hit.terms or () if explanation and explanation.words.get(term) == 1.0),
        synonyms=tuple(term for term in hit.terms or () if explanation and explanation.words.get(term, 1.0) < 1.0),
        pairs=tuple(term for term in hit.terms or () if explanation and term not in explanation.words),
        legs=[(leg_name(name), leg.rank, leg.raw) for name, leg in sorted((hit.legs or {}).items())],
        kept_in=tuple(case.dataset.code for case in kept if is_kept(case, hit)),
    )


def _page_link(request: HttpRequest, offset: int | None) -> str | None:
    if offset is None:
        return None
    asked = request.GET.copy()
    asked["offset"] = str(offset)
    return f"?{asked.urlencode()}"
