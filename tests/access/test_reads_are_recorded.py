"""Whoever is shown content leaves a line in the audit trail, through every door that there is.

Every REST call, MCP tool, resource and prompt and every page of the admin is gone through by the superuser. An answer
that has a sentence of the document in it, and wrote no line, fails here: a new door needs no entry in a list for that.
``READS`` names what the doors of today write, those whose answers are files included.
"""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from mcp import Client
from mcp.types import RequestParamsMeta

from hub.access.audit_lines import kind_of
from hub.access.models import AuditEvent
from knowledge.models import VersionContent
from mcp_bridge.calls import PURPOSE_META_KEY
from mcp_bridge.servers import build_server
from review.models import Review
from tests.access.admin_doors import Browser, addresses
from tests.access.mcp_doors import WHOLE, McpCaller, door_with, mcp_doors, one_connection
from tests.access.people import PeopledHub, make_peopled_hub
from tests.access.rest_doors import Sender, every_operation

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]

# What the doors write that only read; several lines where a door shows several things.
READS = {
    "GET /documents/{document_id}/chunks": ["DOCUMENT_READ"],
    "GET /documents/{document_id}/structure": ["DOCUMENT_READ"],
    "GET /documents/{document_id}/content": ["DOCUMENT_READ"],
    "GET /documents/{document_id}/file": ["DOCUMENT_DOWNLOAD"],
    "GET /documents/{document_id}/figures/{figure_id}": ["DOCUMENT_READ"],
    "GET /chunks/{chunk_id}": ["DOCUMENT_READ"],
    "GET /chunks/{chunk_id}/neighbors": ["DOCUMENT_READ"],
    "POST /search": ["SEARCH"],
    "POST /answer": ["ANSWER"],
    "POST /graph/search": ["SEARCH"],
    "POST /graph/query": ["SEARCH"],
    "POST /ontologies/{domain}/coverage": ["DOCUMENT_READ"],
    "GET /ontologies/{domain}": ["EXPORT"],
    "GET /checklists/{code}/export.xlsx": ["EXPORT"],
    "GET /checklists/{code}/export.csv": ["EXPORT"],
    "GET /reviews/{review_id}": ["RESULT_VIEW"],
    "GET /reviews/{review_id}/report": ["REPORT_DOWNLOAD"],
    "GET /findings/{finding_id}/history": ["RESULT_VIEW"],
    "GET /evaluation/datasets/{code}/cases": ["DATASET_READ"],
    "GET /audit": ["AUDIT_READ"],
    "GET /audit/export": ["AUDIT_EXPORT"],
    "GET /people/{username}/rights": ["RIGHTS_READ"],
    "tool search": ["SEARCH"],
    "tool vector_search": ["SEARCH"],
    "tool answer": ["ANSWER"],
    "tool graph_search": ["SEARCH"],
    "tool query_knowledge_graph": ["SEARCH"],
    "tool hybrid_retrieve": ["SEARCH"],
    "tool check_ontology": ["DOCUMENT_READ"],
    "tool check_ontology_coverage": ["DOCUMENT_READ"],
    "tool get_section": ["DOCUMENT_READ"],
    "tool get_review": ["RESULT_VIEW"],
    "tool create_report": ["REPORT_DOWNLOAD", "RESULT_VIEW"],
    "template smartreviewer://documents/{id}": ["DOCUMENT_READ"],
    "template smartreviewer://results/{id}": ["RESULT_VIEW"],
    "template smartreviewer-rag://chunks/{id}": ["DOCUMENT_READ"],
    "GET hub_rights_of": ["RIGHTS_READ"],
    "GET hub_seen_by": ["SEEN_AS"],
    "GET knowledge_document_file": ["DOCUMENT_DOWNLOAD"],
    "GET knowledge_document_figures": ["DOCUMENT_READ"],
    "GET knowledge_document_figure": ["DOCUMENT_READ"],
    "GET review_review_report": ["REPORT_DOWNLOAD"],
    "GET review_review_triage": ["RESULT_VIEW"],
    "GET review_review_triage_check": ["RESULT_VIEW"],
    "GET review_review_triage_finding": ["RESULT_VIEW"],
    "GET review_checklist_export": ["EXPORT"],
    "GET knowledge_ontology_export": ["EXPORT"],
    "page knowledge.document change": ["DOCUMENT_READ"],
    "page knowledge.chunk list": ["DOCUMENT_READ"],
    "page knowledge.chunk change": ["DOCUMENT_READ"],
    "page review.review change": ["RESULT_VIEW"],
    "page access.auditevent list": ["AUDIT_READ"],
    "page access.auditevent change": ["AUDIT_READ"],
}
ADDRESSES = {
    "GET hub_search": ("q=%E4%BA%88%E7%B4%84", ["SEARCH"]),
    "GET hub_graph_data": ("entity=FR-777", ["SEARCH"]),
    "GET hub_traceability": ("collection=dev-4711", ["DOCUMENT_READ"]),
}


@pytest.fixture(scope="module")
def hub(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PeopledHub]:
    """One of everything, and people of every kind; taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_peopled_hub(tmp_path_factory.mktemp("reads"))
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def sentences(hub: PeopledHub) -> list[str]:
    """Sentences of the reviewed document that no name of a thing has."""
    review = Review.objects.get(public_id=hub.examples["review_id"])
    text = VersionContent.objects.get(pk=review.version_id).markdown
    found = [part for line in text.splitlines() if not line.startswith(("#", "|")) for part in line.split("。")]
    found = [part.strip(" -・") for part in found if len(part.strip(" -・")) >= 10]
    assert len(found) >= 3
    return found


@contextmanager
def written(database: BaseDatabaseWrapper | None = None) -> Iterator[list[str]]:
    """The actions of the lines that are written inside the block, whatever is taken back later."""
    actions: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "INSERT INTO access_auditevent" in sql:
            actions.append(params[1])
        return execute(sql, params, many, context)

    with (database or connections["default"]).execute_wrapper(note):
        yield actions


def is_in(sentence: str, text: str) -> bool:
    return any(form in text for form in (sentence, html.escape(sentence), json.dumps(sentence)[1:-1]))


def differences(door: str, text: str, actions: list[str], sentences: list[str]) -> list[str]:
    if door in READS and sorted(actions) != READS[door]:
        return [f"{door}: wrote {actions}, not {READS[door]}; {text[:150]}"]
    shown = [sentence for sentence in sentences if is_in(sentence, text)]
    return [f"{door}: shows “{shown[0]}” and wrote nothing"] if shown and not actions else []


def test_every_rest_call_that_shows_content_writes_a_line(hub: PeopledHub, sentences: list[str]) -> None:
    found, sender, shown = [], Sender(), 0
    for door, operation in every_operation(hub.examples).items():
        with written() as actions:
            _status, text = sender.send(operation.ordinary_call(), hub.tokens["superuser"])
        found += differences(door, text, actions, sentences)
        shown += any(is_in(sentence, text) for sentence in sentences)
    assert found == []
    assert shown >= 7


def test_everything_of_mcp_that_shows_content_writes_a_line(hub: PeopledHub, sentences: list[str]) -> None:
    async def walk() -> tuple[list[str], int]:
        found, shown = [], 0
        async with Client(build_server(WHOLE, door_with(hub.tokens["superuser"]))) as client:
            caller = Whole(hub, client)
            for door in mcp_doors_of_today:
                with written(ours) as actions:
                    await caller.answer(door)
                found += differences(door, caller.text, actions, sentences)
                shown += any(is_in(sentence, caller.text) for sentence in sentences)
        return found, shown

    ours = connections["default"]
    with one_connection():
        mcp_doors_of_today = mcp_doors(hub)
        found, shown = asyncio.run(walk())
    assert found == []
    assert shown >= 5


def test_an_mcp_request_says_in_its_meta_what_it_is_for(hub: PeopledHub) -> None:
    async def search() -> None:
        async with Client(build_server(WHOLE, door_with(hub.tokens["superuser"]))) as client:
            await client.call_tool(
                "search", {"query": "予約"}, meta=cast(RequestParamsMeta, {PURPOSE_META_KEY: "四半期の監査"})
            )

    with one_connection(), transaction.atomic():
        asyncio.run(search())
        line = AuditEvent.objects.filter(action="SEARCH").latest("pk")
        transaction.set_rollback(True)
    assert (line.door, line.purpose) == ("mcp", "四半期の監査")


class Whole(McpCaller):
    """Keeps the whole text of the last answer."""

    text = ""

    async def _tool(self, name: str) -> tuple[str, bool]:
        return self._kept(await super()._tool(name))

    async def _resource(self, uri: str) -> tuple[str, bool]:
        return self._kept(await super()._resource(uri))

    async def _prompt(self, name: str) -> tuple[str, bool]:
        return self._kept(await super()._prompt(name))

    async def _completion(self, template: str) -> tuple[str, bool]:
        return self._kept(await super()._completion(template))

    async def _list(self, name: str) -> tuple[str, bool]:
        return self._kept(await super()._list(name))

    def _kept(self, answered: tuple[str, bool]) -> tuple[str, bool]:
        self.text = answered[0]
        return answered


def test_every_page_that_shows_content_writes_a_line(hub: PeopledHub, sentences: list[str]) -> None:
    """Changes write theirs in services that have tests of their own; pages that are opened are what this is about."""
    found, shown, browser = [], 0, Browser(hub, "superuser")
    for door, address in addresses(hub).items():
        if address.method != "GET":
            continue
        with written() as actions:
            response = browser.send(address)
        text = "" if response.streaming else response.content.decode(errors="replace")
        found += differences(door, text, actions, sentences)
        shown += any(is_in(sentence, text) for sentence in sentences)
    for door, (query, expected) in ADDRESSES.items():
        address = addresses(hub)[door]
        with written() as actions:
            browser.send(type(address)(method="GET", path=f"{address.path}?{query}", form={}))
        found += [] if actions == expected else [f"{door}: wrote {actions}, not {expected}"]
    assert found == []
    assert shown >= 3


def test_what_only_reads_is_kept_as_reading() -> None:
    assert {kind_of(action) for actions in READS.values() for action in actions} == {"read", "access"}
