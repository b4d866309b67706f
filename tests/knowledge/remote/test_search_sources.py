"""Search with source local, bedrock or all, against an endpoint with Bedrock's real wire format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from hub.access.principals import Principal, Scope, local_operator
from hub.access.services import create_token
from hub.core.errors import Forbidden, InvalidInput, Unavailable
from knowledge.index.active_embedder import active_embedding_set
from knowledge.search import recall
from knowledge.search.sources import search_sources
from knowledge.types.search import SearchFilter, SearchQuery, SearchResult, SearchSource
from tests.hub.admin.support import client_of, make_user
from tests.knowledge.remote.bedrock_server import RESULTS, BedrockServer, bedrock_server
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
ME = local_operator()
QUESTION = "非機能要求の大項目はいくつか"


@pytest.fixture(autouse=True)
def library() -> None:
    texts = ["非機能要求は可用性など六つの大項目に分けて定める。", "運用の記録は一年間保存する。"]
    Library(slug="default").add("要求.md", texts)


@pytest.fixture
def bedrock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockServer]:
    with bedrock_server() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
        # a model is there, and a search does not have it write anything
        settings.CONFIG = settings.CONFIG.model_copy(
            update={"bedrock_kb_id": "KB12345678", "bedrock_model_arn": "arn:aws:bedrock:ap-northeast-1::x/y"}
        )
        yield server


def ask(source: SearchSource, *, principal: Principal = ME, **more: Any) -> SearchResult:
    return search_sources(principal, SearchQuery(text=QUESTION, **{"limit": 5, **more}), source=source)


def codes(result: SearchResult) -> set[str]:
    return {notice.code for notice in result.notices if notice.code.startswith(("bedrock", "local"))}


def test_both_sources_keep_their_own_order_and_scores(bedrock: BedrockServer) -> None:
    alone, both = ask(SearchSource.LOCAL), ask(SearchSource.ALL)
    assert both.hits == alone.hits
    assert [(hit.rank, hit.score, hit.address) for hit in both.remote] == [
        (1, 0.82, "s3://guides/非機能.pdf"),
        (2, 0.41, "s3://guides/非機能.pdf"),
    ]
    assert both.total_found == alone.total_found + len(RESULTS)
    assert bedrock.requests[0]["path"].endswith("/retrieve")
    assert bedrock.requests[0]["retrievalConfiguration"]["vectorSearchConfiguration"] == {"numberOfResults": 5}


def test_bedrock_alone_gives_nothing_of_the_hub_and_the_hub_alone_asks_nobody(bedrock: BedrockServer) -> None:
    remote = ask(SearchSource.BEDROCK)
    assert (remote.hits, len(remote.remote), remote.total_found) == ((), 2, 2)
    bedrock.requests.clear()
    assert ask(SearchSource.LOCAL).remote == ()
    assert bedrock.requests == []


def test_later_pages_are_the_hubs_alone(bedrock: BedrockServer) -> None:
    first = ask(SearchSource.ALL, limit=1)
    second = ask(SearchSource.ALL, limit=1, after=first.next_page)
    assert (len(first.remote), len(second.remote), len(second.hits)) == (2, 0, 1)


@pytest.mark.parametrize("source", [SearchSource.BEDROCK, SearchSource.ALL])
def test_without_a_knowledge_base_a_notice_names_the_setting(source: SearchSource) -> None:
    result = ask(source)
    assert codes(result) == {"bedrock_not_configured"}
    assert "BEDROCK_KB_ID" in next(one for one in result.notices if one.code.startswith("bedrock")).ja
    assert bool(result.hits) is (source is SearchSource.ALL)


def test_a_knowledge_base_that_fails_leaves_a_notice_and_the_hubs_passages(bedrock: BedrockServer) -> None:
    bedrock.failure = (403, "AccessDeniedException")
    result = ask(SearchSource.ALL)
    assert codes(result) == {"bedrock_unavailable"}
    assert "AuthenticationError" in result.notices[-1].en
    assert result.hits == ask(SearchSource.LOCAL).hits


def test_a_filter_that_bedrock_can_not_keep_keeps_bedrock_out(bedrock: BedrockServer) -> None:
    result = ask(SearchSource.ALL, filter=SearchFilter(collections=("default",)))
    assert (codes(result), result.remote, bedrock.requests) == ({"bedrock_not_filtered"}, (), [])
    assert result.hits


def test_when_the_hubs_search_is_down_bedrock_answers_alone(
    bedrock: BedrockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_more: object) -> None:
        raise Unavailable("search is down")

    active_embedding_set()
    monkeypatch.setattr(recall, "_findings", fail)
    result = ask(SearchSource.ALL)
    assert (codes(result), len(result.remote)) == ({"local_unavailable"}, 2)
    bedrock.failure = (500, "InternalServerException")
    with pytest.raises(Unavailable):
        ask(SearchSource.ALL)


def test_bedrock_needs_the_scope_search_and_a_question(bedrock: BedrockServer) -> None:
    reader = Principal(name="x", user_id=None, scopes=frozenset({Scope.READ}), ceiling=ME.ceiling)
    with pytest.raises(Forbidden):
        ask(SearchSource.BEDROCK, principal=reader)
    with pytest.raises(InvalidInput):
        search_sources(ME, SearchQuery(text=" \t"), source=SearchSource.BEDROCK)
    assert bedrock.requests == []


def test_rest_names_the_source_of_each_result(bedrock: BedrockServer, queue: None) -> None:
    _row, token = create_token(
        principal=ME, user=make_user("佐藤", is_superuser=True), name="t", scopes=frozenset({Scope.SEARCH})
    )
    headers = {"Authorization": f"Bearer {token}"}

    def post(**body: object) -> Any:
        return Client().post(
            "/api/v1/search", json.dumps({"query": QUESTION, **body}), content_type="application/json", headers=headers
        )

    results = post(source="all").json()["results"]
    assert [one["source"] for one in results] == ["local", "local", "bedrock", "bedrock"]
    last = results[-1]
    assert (last["rank"], last["source_score"], last["score"], last["chunk_id"]) == (2, 0.41, None, None)
    assert last["location"] == RESULTS[1]["location"]
    assert set(results[0]) - {
        "legs",
        "highlights",
        "terms",
        "duplicates",
        "collection",
        "version",
        "ocr_confidence",
    } <= set(last)
    assert post(source="elsewhere").status_code == 422


def test_the_command_line_and_the_admin_show_them_apart(bedrock: BedrockServer) -> None:
    out = StringIO()
    call_command("search", QUESTION, "--source", "all", stdout=out, stderr=StringIO())
    assert "bedrock 1. s3://guides/非機能.pdf" in out.getvalue()
    client = client_of(make_user("佐藤", is_superuser=True))
    page = client.get(reverse("admin:hub_search"), {"q": QUESTION, "source": "all"}).content.decode()
    assert page.index("要求.md") < page.index("s3://guides/非機能.pdf")


def test_the_admin_offers_no_source_without_a_knowledge_base() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    assert 'name="source"' not in client.get(reverse("admin:hub_search")).content.decode()
