"""Whatever a field of a REST call is given, the answer is never a failure of the hub.

The fields are those of the app's own OpenAPI document: a new one is tried without being named here. A call that needs
ids that are there gets them from ``conftest.filled``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from hub.site.api import api
from tests.properties.conftest import Filled
from tests.properties.hostile import JSON_VALUES, LARGE_JSON_VALUES, LARGE_TEXT_VALUES, TEXT_VALUES
from tests.properties.operations import Call, Operation, Place, operations

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(1800)]

OFTEN = ("null", "500 characters", "NUL", "1e999", "2^63")
OFTEN_TURNS, TURNS, LARGE_TURNS = 3, 12, 24
"""Of the other values each field has one in so many, another field others; ``--long`` tries all."""

# Ordinary values do not get past what these ask for: a file of their own kind, a figure, a second review or run.
NOT_REACHED = {
    "post /api/v1/guidelines/suspects/{suspect_id}/clear",
    "get /api/v1/documents/{document_id}/figures/{figure_id}",
    "post /api/v1/documents/{document_id}/figures/{figure_id}/describe",
    "post /api/v1/embedding-sets/compare",
    "get /api/v1/embedding-sets/comparisons/{run_id}",
    "post /api/v1/guidelines/import",
    "post /api/v1/guidelines/import/preview",
    "put /api/v1/ontologies/{domain}",
    "post /api/v1/checklists/{code}/import",
    "get /api/v1/reviews/{review_id}/diff",
    "post /api/v1/reviews/{review_id}/answers",
    "post /api/v1/evaluation/datasets/{code}/cases/import",
    "get /api/v1/evaluation/runs/{run_id}/compare",
}


@pytest.fixture
def client(filled: Filled) -> Client:
    return Client(raise_request_exception=False, headers={"Authorization": f"Bearer {filled.token}"})


@pytest.fixture
def every_operation(filled: Filled) -> list[Operation]:
    return operations(api.get_openapi_schema(), filled.examples)


def send(client: Client, call: Call) -> Any:
    """Send it through the whole stack and take back what it did; gives the response."""
    with transaction.atomic():
        response: Any = client.generic(
            call.method.upper(), call.url, call.body, content_type=call.content_type, headers=dict(call.headers)
        )
        if response.streaming and not response.is_async:
            b"".join(response)  # a file is closed when it has been read
        transaction.set_rollback(True)
    return response


def values(place: Place, number: int, *, all_of_them: bool) -> Iterator[tuple[str, bytes]]:
    """The values for the field with this number."""
    ordinary = JSON_VALUES if place.where == "body" else TEXT_VALUES
    large = {"body": LARGE_JSON_VALUES, "form": LARGE_TEXT_VALUES}.get(place.where, {})
    for index, name in enumerate(ordinary):
        if all_of_them or (index + number) % (OFTEN_TURNS if name in OFTEN else TURNS) == 0:
            yield name, ordinary[name]
    for index, name in enumerate(large):
        if all_of_them or (index + number) % LARGE_TURNS == 0:
            yield name, large[name]


def failures(client: Client, found: list[Operation], *, all_of_them: bool) -> list[str]:
    """Name each call that was answered by 5xx."""
    fields = [(operation, place) for operation in found for place in operation.places()]
    assert len(fields) > 300, "the OpenAPI document names hardly any field"
    failed = []
    for number, (operation, place) in enumerate(fields):
        for name, value in values(place, number, all_of_them=all_of_them):
            response = send(client, operation.call(place, value))
            if response.status_code >= 500:
                failed.append(f"{response.status_code} {place}: {name}")
    return failed


def test_no_value_in_any_field_is_a_failure_of_the_hub(client, every_operation):
    failed = failures(client, every_operation, all_of_them=False)
    assert not failed, "\n".join(failed)


@pytest.mark.long
def test_no_value_of_all_in_any_field_is_a_failure_of_the_hub(client, every_operation):
    failed = failures(client, every_operation, all_of_them=True)
    assert not failed, "\n".join(failed)


def test_ordinary_values_reach_the_code_of_each_operation(client, every_operation):
    refused = {}
    for operation in every_operation:
        response = send(client, operation.ordinary_call())
        assert response.status_code < 500, (operation.method, operation.address)
        if response.status_code in {400, 404, 415, 422}:
            refused[f"{operation.method} {operation.address}"] = response.content.decode()[:300]
    unexpected = {key: text for key, text in refused.items() if key not in NOT_REACHED}
    assert not unexpected, "give values in conftest.filled:\n" + "\n".join(map(str, unexpected.items()))


def form(fields: dict[str, bytes]) -> bytes:
    """A multipart body with a small file; the boundary is ``edge``."""
    parts = {'name="file"; filename="x.md"': b"# x\n\ny\n", **{f'name="{name}"': text for name, text in fields.items()}}
    lines = [b"--edge\r\nContent-Disposition: form-data; %s\r\n\r\n%s" % (k.encode(), v) for k, v in parts.items()]
    return b"\r\n".join([*lines, b"--edge--\r\n"])


@pytest.mark.parametrize(
    "metadata",
    [
        b'{"a":1e999}',
        b'{"a":"\\u0000"}',
        b'{"a":"\\ud800"}',
        b'{"a":"' + b"x" * 2**21 + b'"}',
        b"{" + b",".join(b'"k%d":0' % number for number in range(50_000)) + b"}",
        b'{"a":' * 1000 + b"1" + b"}" * 1000,
        b'{"a":NaN}',
    ],
    ids=["1e999", "nul", "half", "2MB", "50000-keys", "deep", "nan"],
)
def test_metadata_that_can_not_be_kept_are_refused_at_upload_and_change(client, filled, metadata):
    uploaded = client.generic(
        "POST", "/api/v1/documents", form({"metadata": metadata}), content_type="multipart/form-data; boundary=edge"
    )
    assert 400 <= uploaded.status_code < 500, uploaded.content[:300]
    address = f"/api/v1/documents/{filled.examples['document_id']}"
    changed = client.generic("PATCH", address, b'{"metadata":%s}' % metadata, content_type="application/json")
    assert 400 <= changed.status_code < 500, changed.content[:300]


@pytest.mark.parametrize(
    "body",
    [b'{"name":null}', b'{"name":"%s"}' % (b"x" * 500), b'{"retention_days":1000000000000}', b'{"description":null}'],
)
def test_a_collection_takes_no_change_that_its_table_can_not_keep(client, body):
    answer = client.generic("PATCH", "/api/v1/collections/default", body, content_type="application/json")
    assert answer.status_code == 422, answer.content


def test_a_chunk_size_in_characters_has_a_bound_too(client):
    fields = {"chunk_unit": b"characters", "chunk_size": b"2147483648"}
    answer = client.generic(
        "POST", "/api/v1/documents", form(fields), content_type="multipart/form-data; boundary=edge"
    )
    assert answer.status_code == 422, answer.content
