from __future__ import annotations

import pytest
from django.test import Client
from openapi_spec_validator import OpenAPIV31SpecValidator

from hub.site.api import api


@pytest.fixture
def schema(db) -> dict:
    return Client().get("/api/v1/openapi.json").json()


def test_the_description_is_valid_openapi_31(schema: dict):
    assert schema["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(schema).validate()


def test_every_operation_describes_its_problems_and_needs_a_token(schema: dict):
    for operations in schema["paths"].values():
        for operation in operations.values():
            problem = operation["responses"]["default"]["content"]["application/problem+json"]
            assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
            assert operation["security"] == [{"BearerAuth": []}]
    assert schema["components"]["securitySchemes"]["BearerAuth"]["scheme"] == "bearer"


def test_writes_and_only_writes_take_an_idempotency_key(schema: dict):
    with_key = {
        (method, path)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", []))
    }

    assert ("post", "/api/v1/things") in with_key
    assert ("delete", "/api/v1/things/{thing_id}") in with_key
    assert not any(method == "get" for method, _path in with_key)


def test_operations_are_named_by_their_handlers(schema: dict):
    assert schema["paths"]["/api/v1/things"]["get"]["operationId"] == "list_things"


def test_the_interactive_docs_are_a_page(db):
    response = Client().get("/api/v1/docs")

    assert response.status_code == 200
    assert b"/api/v1/openapi.json" in response.content


def test_the_description_is_made_once_since_strangers_may_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = api.get_openapi_schema(path_prefix="/api/v1/")
    monkeypatch.setattr(type(api), "_describe", lambda *_given: pytest.fail("made again"))
    assert api.get_openapi_schema(path_prefix="/api/v1/") is first
