"""Every REST operation, and every other address of the site, called by every person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.test import Client

from hub.site.api import api
from tests.access.answers import Answer, Observed
from tests.access.asked import AskedAs
from tests.access.people import NOBODY, PeopledHub
from tests.properties.operations import Call, Operation, operations

REFUSED = (401, 403, 404)


def door_of(operation: Operation) -> str:
    return f"{operation.method.upper()} {operation.address.removeprefix('/api/v1')}"


def every_operation(examples: Mapping[str, Any]) -> dict[str, Operation]:
    """The operations of the OpenAPI document by their names in the table."""
    return {door_of(one): one for one in operations(api.get_openapi_schema(), examples)}


class Sender:
    """Sends calls, and takes back what they did. One for many calls: a Django client loads the middleware anew."""

    def __init__(self) -> None:
        self._client = Client(raise_request_exception=False)

    def send(self, call: Call, token: str) -> tuple[int, str]:
        """Send it with a token (empty: without); gives the status and the text."""
        headers = {**call.headers, "Authorization": f"Bearer {token}"} if token else dict(call.headers)
        with transaction.atomic():
            response: Any = self._client.generic(
                call.method.upper(), call.url, call.body, content_type=call.content_type, headers=headers
            )
            said = response if response.streaming and not response.is_async else [getattr(response, "content", b"")]
            text = b"".join(said).decode(errors="replace")
            transaction.set_rollback(True)
        return response.status_code, text


def rest_answers(hub: PeopledHub, asked_as: AskedAs) -> Observed:
    """Call every operation as each of its persons. No call may fail inside the hub."""
    observed: Observed = {}
    sender = Sender()
    for door, operation in every_operation(hub.examples).items():
        asked = operation.ordinary_call()
        for person in asked_as(door):
            status, text = sender.send(asked, hub.tokens.get(person, ""))
            assert status < 500, (door, person, text)
            assert (status == 401) == (person == NOBODY), (door, person, status, text)
            is_open = status not in REFUSED
            shows = is_open and any(mark in text for mark in hub.marks)
            observed.setdefault(door, {})[person] = Answer(is_open=is_open, shows=shows, told=f"{status} {text[:200]}")
    return observed
