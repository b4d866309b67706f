"""What the found passages are of, on all pages, as a filter on it would find them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from hub.access.principals import Classification, Role, Scope, local_operator
from knowledge.models import Collection, Document, DocumentType
from knowledge.search.hybrid import search
from knowledge.types.search import Facet, SearchFilter, SearchQuery
from tests.factories import principal_with
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
QUERY = SearchQuery(text="性能", limit=2, with_facets=True)
FIELDS = ("collection", "document_type", "classification", "year")
FILTERS = {"collection": "collections", "document_type": "document_types", "classification": "classifications"}


@pytest.fixture(autouse=True)
def library() -> Library:
    DocumentType.objects.get_or_create(code="guideline", defaults={"name_ja": "指針", "name_en": "Guideline"})
    made = Library()
    made.add("設計書.md", [f"性能の記述その{n}" for n in range(5)])
    made.add("指針.md", ["性能の指針"], document_type_id="guideline", classification=Classification.C1)
    turn = datetime(2024, 1, 1, 0, 30, tzinfo=timezone.get_current_timezone())  # the year before in UTC
    Document.objects.filter(path="指針.md").update(created_at=turn)
    Library(slug="other").add("秘密.md", ["性能の別の記述"], classification=Classification.C3)
    return made


def chosen_by(facet: Facet) -> SearchFilter:
    if facet.field == "year":
        year = int(facet.value)
        return SearchFilter(created_from=date(year, 1, 1), created_to=date(year, 12, 31))
    return SearchFilter(**{FILTERS[facet.field]: (facet.value,)})  # type: ignore[arg-type]


def test_the_facets_count_passages_of_all_pages_as_the_filters_find_them():
    first = search(local_operator(), QUERY)
    assert len(first.hits) == 2
    assert {one.value for one in first.facets if one.field == "year"} == {"2024", str(timezone.localdate().year)}
    for facet in first.facets:
        chosen = chosen_by(facet)
        assert search(local_operator(), replace(QUERY, filter=chosen)).total_found == facet.count
    assert {field: sum(one.count for one in first.facets if one.field == field) for field in FIELDS} == dict.fromkeys(
        FIELDS, first.total_found
    )


def test_they_are_named_in_the_readers_language_and_only_when_asked_for():
    assert search(local_operator(), replace(QUERY, with_facets=False)).facets == ()
    with translation.override("en"):
        labels = {facet.label for facet in search(local_operator(), QUERY).facets}
    assert "Guideline" in labels


def test_they_count_nothing_that_the_reader_may_not_see(library):
    reader = principal_with(Role.READER, Collection.objects.get(slug=library.collection.slug))
    facets = search(replace(reader, scopes=frozenset({Scope.SEARCH})), QUERY).facets
    assert {facet.value for facet in facets if facet.field == "collection"} == {library.collection.slug}
    assert sum(facet.count for facet in facets if facet.field == "classification") == 6


def test_they_cost_one_query():

    search(local_operator(), QUERY)
    with CaptureQueriesContext(connection) as without:
        search(local_operator(), replace(QUERY, with_facets=False))
    with CaptureQueriesContext(connection) as with_facets:
        search(local_operator(), QUERY)
    assert len(with_facets) == len(without) + 1
