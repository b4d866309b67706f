"""Every REST operation, as the OpenAPI description lists them: nothing without a token, nothing for an outsider."""

from __future__ import annotations

import re

import pytest

from tests.flows.hub_process import HubProcess

pytestmark = pytest.mark.timeout(600)

METHODS = ("get", "post", "put", "patch", "delete")
# What answers 200 to somebody without any grant, and why that gives nothing away.
OPEN_TO_ALL = {
    ("get", "/documents"): "an empty list",
    ("get", "/collections"): "an empty list",
    ("get", "/reviews"): "an empty list",
    ("get", "/check-items"): "check masters are for everyone who signs in",
    ("get", "/checklists"): "check masters are for everyone who signs in",
    ("get", "/checklists/{code}/versions"): "check masters are for everyone who signs in",
    ("get", "/checklists/{code}/export.xlsx"): "check masters are for everyone who signs in",
    ("get", "/checklists/{code}/export.csv"): "check masters are for everyone who signs in",
    ("get", "/rules"): "the rules are for everyone who signs in",
    ("post", "/search"): "no results",
    ("post", "/answer"): "no answer",
    ("get", "/guidelines"): "published guidelines are for everyone who signs in",
    ("get", "/guidelines/mappings"): "check masters and guidelines are for everyone who signs in",
    ("get", "/guidelines/suspects"): "check masters are for everyone; the list of results is empty",
    ("get", "/graph/schema"): "types are for everyone who signs in",
    ("get", "/jobs"): "an empty list",
    ("get", "/evaluation/datasets"): "an empty list",
    ("get", "/evaluation/runs"): "an empty list",
    ("get", "/sources"): "an empty list",
    ("get", "/scenarios"): "published scenarios are for everyone who signs in",
    ("get", "/ontologies"): "ontologies are for everyone who signs in",
    ("get", "/audit"): "lists only lines about what the caller audits",
    ("get", "/audit/export"): "lines about what the caller audits, here only the names of the columns",
}


@pytest.fixture(scope="module")
def operations(hub: HubProcess) -> list[tuple[str, str]]:
    described = hub.call("GET", "/openapi.json", token="").json()
    assert described["openapi"].startswith("3.1")
    found = [
        (method, path.removeprefix("/api/v1"))
        for path, item in described["paths"].items()
        for method in METHODS
        if method in item
    ]
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def filled(hub: HubProcess) -> dict[str, str]:
    """Real ids of things that the outsider must not see."""
    documents = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    hub.wait_until_finished(*(document["document_id"] for document in documents))
    document = next(item for item in documents if item["document_type"] == "basic_design")["document_id"]
    review = hub.call("POST", "/reviews", json={"document_id": document, "options": {"wait_seconds": 40}}).json()
    chunk = hub.call("GET", f"/documents/{document}/chunks").json()["items"][0]
    return {
        "document_id": document,
        "review_id": review["review_id"],
        "chunk_id": chunk["chunk_id"],
        "slug": "sample",
        "code": "basic-design",
    }


@pytest.fixture(scope="module")
def outsider(hub: HubProcess) -> str:
    """A token with every scope but admin, of somebody who has no grant anywhere."""
    script = (
        "from django.contrib.auth.models import User; from hub.access.services import create_token; "
        "from hub.access.principals import ALL_SCOPES, Scope, local_operator; "
        "user, _ = User.objects.get_or_create(username='outsider'); "
        "print(create_token(principal=local_operator(), user=user, name='t', scopes=ALL_SCOPES - {Scope.ADMIN})[1])"
    )
    return hub.manage("shell", "--no-imports", "-c", script).stdout.strip().splitlines()[-1]


# The asker's own word, as it was given and in what an answer says it looked for.
ASKED = re.compile('"稼働率"|「稼働率」|do not say this: 稼働率 ')


def address(path: str, ids: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: ids.get(match[1], "x"), path)


def test_without_a_token_every_operation_is_401(hub, operations, filled):
    for method, path in operations:
        response = hub.call(method.upper(), address(path, filled), token="")
        assert response.status_code == 401, (method, path, response.status_code)
        assert response.json()["code"] == "unauthenticated"


def test_an_outsider_gets_nothing_of_what_is_there(hub, operations, filled, outsider):
    for method, path in operations:
        response = hub.call(
            method.upper(),
            address(path, filled),
            token=outsider,
            json={"query": "稼働率", "document_id": filled["document_id"]}
            if method in {"post", "patch", "put"}
            else None,
        )
        if (method, path) in OPEN_TO_ALL:
            assert "稼働率" not in ASKED.sub("", response.text), (method, path)
            assert filled["document_id"] not in response.text, (method, path)
        else:
            assert response.status_code in {403, 404, 415, 422}, (method, path, response.status_code, response.text)
    documents = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    assert filled["document_id"] in {document["document_id"] for document in documents}


def test_a_hidden_id_answers_exactly_like_an_unknown_one(hub, filled, outsider):
    for kind, path in (("document_id", "/documents/{}"), ("review_id", "/reviews/{}"), ("chunk_id", "/chunks/{}")):
        hidden = hub.call("GET", path.format(filled[kind]), token=outsider).json()
        unknown = hub.call("GET", path.format("x" * len(filled[kind])), token=outsider).json()
        for volatile in ("detail", "instance", "request_id"):
            hidden.pop(volatile), unknown.pop(volatile)
        assert hidden == unknown


def test_scopes_of_a_token_hold_at_every_write(hub, operations, filled):
    reader = hub.manage("token", "create", "--user", "admin", "--scopes", "read,search").stdout.strip()
    for method, path in operations:
        if method == "get" or path in {"/search", "/answer"}:
            continue
        body = (
            {"document_id": filled["document_id"], "slug": "new", "title": "x"}
            if method in {"post", "patch", "put"}
            else None
        )
        response = hub.call(method.upper(), address(path, filled), token=reader, json=body)
        assert response.status_code in {403, 404, 415, 422}, (method, path, response.status_code)
