from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.hub.admin.support import client_of, make_user
from tests.knowledge.admin.search_page import ask, best, fill
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
PAGE = "admin:hub_search"


@pytest.fixture
def library() -> Library:
    library = Library(slug="default")
    fill(library)
    return library


@pytest.fixture
def curator(library: Library) -> Client:
    return client_of(make_user("佐藤", is_superuser=True), language="en")


def paths(context: dict[str, Any]) -> list[str]:
    return [one.hit.document_path for one in context["shown"].hits]


FILTERS: list[tuple[dict[str, str], set[str]]] = [
    ({}, {"基本設計書.md", "運用設計書.md"}),
    ({"document_type": "detailed_design"}, {"運用設計書.md"}),
    ({"section": "2.1"}, {"基本設計書.md"}),
    ({"section": "受発注システム 基本設計書 › 2. 性能要件"}, {"基本設計書.md"}),
    ({"language": "en"}, set()),
    ({"classification": "c3"}, set()),
    ({"metadata": "局=総務"}, {"運用設計書.md"}),
    ({"metadata": "局=総務、年度=7"}, set()),
    ({"metadata": '{"年度": 7}'}, {"運用設計書.md"}),
    ({"created_from": "2999-01-01"}, set()),
    ({"updated_to": "2001-01-01"}, set()),
    ({"threshold": "1"}, set()),
    ({"document": "doc_unknown"}, set()),
]


def test_every_filter_narrows_what_is_found(curator: Client) -> None:
    for filters, left in FILTERS:
        context = ask(curator, **filters)
        assert set(paths(context)) == left, filters
        assert context["form"].filters_used == len(filters)


def test_passages_of_one_document_are_limited(curator: Client) -> None:
    assert sorted(paths(ask(curator))) == ["基本設計書.md", "基本設計書.md", "運用設計書.md"]
    assert sorted(paths(ask(curator, per_document="1"))) == ["基本設計書.md", "運用設計書.md"]


def test_a_filter_that_makes_no_sense_is_told_and_nothing_is_searched(curator: Client) -> None:
    wrongs = ({"metadata": "年度"}, {"metadata": "{"}, {"created_from": "昨日"}, {"threshold": "2"}, {"limit": "7"})
    for wrong in wrongs:
        response = curator.get(reverse(PAGE), {"q": "応答", **wrong})
        shown = response.content.decode()
        assert 'role="alert"' in shown, wrong
        assert f'role="alert"><strong>{response.context_data["form"][next(iter(wrong))].label}</strong>' in shown
        assert "shown" not in response.context_data


def test_modes_stand_side_by_side_and_each_passage_tells_its_rank_in_the_others(curator: Client) -> None:
    columns = ask(curator, mode="compare")["columns"]
    assert [column.mode for column in columns] == ["hybrid", "vector", "lexical"]
    ranks = {column.mode: {one.hit.chunk_id: one.rank for one in column.hits} for column in columns}
    for column in columns:
        beside = [mode for mode in ranks if mode != column.mode]
        for one in column.hits:
            assert [rank for _label, rank in one.others] == [ranks[mode].get(one.hit.chunk_id) for mode in beside]


def test_explain_tells_plans_terms_filters_and_times(curator: Client) -> None:
    response = curator.get(
        reverse(PAGE), {"q": "FR-001 の「応答時間」", "explain": "on", "document_type": "detailed_design"}
    )
    told = response.context_data["shown"].explanation
    facts = list(dict(told["facts"]).values())
    assert "fr-001" in facts
    assert "応答時間" in facts
    assert "document_types: detailed_design" in facts
    assert {leg for leg, _candidates, _plan in told["legs"]} == {"by meaning", "by words"}
    assert "応答" in dict(told["words"])
    assert told["timings"][-1][2] == 100
    best = response.context_data["shown"].hits[0]
    assert best.hit.terms
    assert {leg for leg, _rank, _raw in best.legs} == {"by meaning", "by words"}


def test_the_page_asks_as_many_queries_however_much_is_found_and_kept(curator: Client, library: Library) -> None:
    def queries(**asked: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            ask(curator, limit="50", **asked)
        return len(captured)

    def keep(dataset: str) -> None:
        question = {"q": "画面の応答時間", "new_dataset": dataset, "keep": best(curator).chunk_id}
        curator.post(reverse("admin:hub_search_keep"), question)

    keep("gold")
    few = queries(), queries(mode="compare")
    for number in range(4):
        library.add(f"別の設計書{number}.md", [f"版{number}の画面の応答時間は{number}秒とする。"])
        keep(f"gold-{number}")
    assert (queries(), queries(mode="compare")) == few
    assert few[0] <= 30
    assert few[1] <= 56
