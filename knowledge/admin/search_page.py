"""The search page: the same search as through every other door, for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from hub.access.principals import Principal, Scope
from hub.admin_site.callers import principal_of
from hub.admin_site.pages import admin_page, render_page
from hub.core.errors import HubError
from hub.core.languages import in_language
from knowledge.admin.highlight import highlight
from knowledge.models import Collection
from knowledge.search.hybrid import search
from knowledge.search.query import MAX_QUERY_CHARS
from knowledge.types import Hit, Notice, SearchFilter, SearchMode, SearchQuery, SearchResult

LIMITS = (10, 20, 50)
MODES = (
    (SearchMode.HYBRID.value, _("hybrid")),
    (SearchMode.VECTOR.value, _("by meaning")),
    (SearchMode.LEXICAL.value, _("by words")),
)


class SearchForm(forms.Form):
    """What to look for, and where. All of it is in the address, so that a search can be kept and shared."""

    q = forms.CharField(max_length=MAX_QUERY_CHARS, strip=True)
    mode = forms.ChoiceField(label=_("Mode"), choices=MODES, required=False, widget=UnfoldAdminSelectWidget)
    collection = forms.ChoiceField(label=_("Collection"), required=False, widget=UnfoldAdminSelectWidget)
    limit = forms.TypedChoiceField(
        label=_("Results"),
        choices=[(number, number) for number in LIMITS],
        coerce=int,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    explain = forms.BooleanField(label=_("Explain scores"), required=False)
    offset = forms.IntegerField(min_value=0, max_value=10_000, required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        visible = Collection.objects.visible_to(principal, Scope.SEARCH).order_by("slug")
        choices = [("", _("all")), *((row.slug, row.name) for row in visible)]
        self.fields["collection"].choices = choices  # type: ignore[attr-defined]

    def as_query(self) -> SearchQuery:
        """Turn valid input into a query for the search service."""
        asked = self.cleaned_data
        return SearchQuery(
            text=asked["q"],
            mode=SearchMode(asked["mode"] or SearchMode.HYBRID),
            limit=asked["limit"] or LIMITS[0],
            offset=asked["offset"] or 0,
            detail=asked["explain"],
            filter=SearchFilter(collections=(asked["collection"],) if asked["collection"] else ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHit:
    """A hit as the page shows it. ``rank`` counts from 1 over all pages."""

    rank: int
    hit: Hit
    text: SafeString
    link: str
    legs: list[tuple[str, int | None, float]]


@admin_page("search/", name="hub_search")
def search_page(request: HttpRequest) -> HttpResponseBase:
    """Show the form, and the results of what the address asks for."""
    principal = principal_of(request)
    form = SearchForm(request.GET if "q" in request.GET else None, principal=principal)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        query = form.as_query()
        try:
            context |= _results(request, query, search(principal, query))
        except HubError as error:
            context["error"] = str(error)
    return render_page(request, "admin/hub/search.html", title=_("Search"), **context)


def _results(request: HttpRequest, query: SearchQuery, result: SearchResult) -> dict[str, Any]:
    return {
        "result": result,
        "hits": [_shown(rank, hit, query.text) for rank, hit in enumerate(result.hits, query.offset + 1)],
        "notices": [_in_language(notice) for notice in result.notices],
        "timings": sorted(result.timings_ms.items()) if query.detail else [],
        "next_link": _page_link(request, result.next_offset),
        "previous_link": _page_link(request, max(query.offset - query.limit, 0)) if query.offset else None,
    }


def _shown(rank: int, hit: Hit, query: str) -> ShownHit:
    place = urlencode({"version": hit.version, "start": hit.start_offset, "end": hit.end_offset})
    legs = [(name, leg.rank, leg.raw) for name, leg in sorted((hit.legs or {}).items())]
    link = reverse("admin:knowledge_document_by_id", args=[hit.document_id])
    return ShownHit(rank=rank, hit=hit, text=highlight(hit.content, query), link=f"{link}?{place}", legs=legs)


def _in_language(notice: Notice) -> str:
    return in_language(notice.ja, notice.en)


def _page_link(request: HttpRequest, offset: int | None) -> str | None:
    if offset is None:
        return None
    asked = request.GET.copy()
    asked["offset"] = str(offset)
    return f"?{asked.urlencode()}"
