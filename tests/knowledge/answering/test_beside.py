"""A search for a question says when what it finds is about the subject and does not say what is asked."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from knowledge.answering import beside, search_passages
from knowledge.search import search_sources
from knowledge.types.search import SearchQuery
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.servers import hub_search, rag
from tests.knowledge.search.shelf import person

pytestmark = pytest.mark.django_db
CODE = beside.DOES_NOT_SAY_IT.code
SAID = "応答時間は何秒以内ですか"
NOT_SAID = "バックアップの費用はいくらですか"


@pytest.fixture(autouse=True)
def good_evidence(monkeypatch):
    """Two passages have no score that is good evidence: what else the search remarks is not the matter here."""
    monkeypatch.setattr(beside, "SAYS_MORE", frozenset())


def codes(text: str, principal=None, **more) -> list[str]:
    return [
        notice.code for notice in search_passages(principal or local_operator(), SearchQuery(text=text, **more)).notices
    ]


def test_only_a_question_that_what_was_found_does_not_answer_gets_the_notice(library):
    assert CODE in codes(NOT_SAID)
    assert CODE not in codes(SAID)
    assert CODE not in codes("バックアップ 費用")
    assert CODE not in codes(NOT_SAID, offset=1)


def test_it_asks_the_database_nothing_and_reads_only_what_the_caller_is_given(library):
    with CaptureQueriesContext(connection) as plain:
        search_sources(local_operator(), SearchQuery(text=NOT_SAID))
    with CaptureQueriesContext(connection) as warned:
        assert CODE in codes(NOT_SAID)
    assert len(warned) == len(plain)
    assert CODE not in codes(NOT_SAID, person("外の人"))


def test_every_door_gives_it(library):
    user = User.objects.create_superuser("管理者")
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    headers = {"Authorization": f"Bearer {token}"}
    body = {"query": NOT_SAID}
    rest = Client().post("/api/v1/search", body, content_type="application/json", headers=headers).json()
    with caller_context(Caller(principal=local_operator())):
        mcp = [tool(query=NOT_SAID).notices for tool in (rag.search, hub_search.search)]
    printed = StringIO()
    call_command("search", NOT_SAID, "--json", stdout=printed)
    for notices in (rest["notices"], *mcp, json.loads(printed.getvalue())["notices"]):
        assert CODE in [notice["code"] for notice in notices]
