"""One try of an attacker: who sends what through which door, and the answer that is expected.

``tries.txt`` has one on each line. Whatever is expected, no try may end in a failure of the hub, show what is hidden
from who tries it, or change what belongs to others.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction
from django.test import Client
from mcp import Client as McpClient
from mcp import MCPError

from knowledge.models import Collection
from mcp_bridge.servers import build_server
from tests.access.hidden import CANARY, state_of_others
from tests.access.mcp_doors import WHOLE, door_with, one_connection
from tests.access.people import COLLECTION, NOBODY, PeopledHub

TABLE = Path(__file__).with_name("tries.txt")
UNKNOWN = {
    "document_id": "doc_" + "0" * 20,
    "review_id": "rev_" + "0" * 20,
    "finding_id": "fnd_" + "0" * 20,
    "chunk_id": "chk_" + "0" * 20,
    "figure_id": "fig_" + "0" * 20,
    "slug": "nowhere",
    "source": "nothing",
    "dataset": "none",
    "entity": "FR-000",
    "pk": "999999",
}
PLACE = re.compile(r"\{(\w+)\.(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """``row`` is what of the audit it stands for; ``send`` is METHOD and address, or TOOL, READ, PAGE, FORM."""

    row: str
    person: str
    send: str
    body: str
    headers: str
    expected: str

    def __str__(self) -> str:
        return f"{self.row} {self.person} {self.send} {self.body}".strip()


def read_tries() -> list[Try]:
    """Every try of the table, one for each person that a line names."""
    found: list[Try] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        row, persons, send, body, headers, expected = (part.strip() for part in line.split(" | "))
        for person in persons.split():
            made = Try(row=row, person=person, send=send, body=_given(body), headers=_given(headers), expected=expected)
            found.append(made)
    return found


def _given(text: str) -> str:
    return "" if text == "-" else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: a status (200 and 403 for MCP), and everything that was said."""

    status: int
    said: str


class Attacker:
    """Sends tries to a hub with two tenants. ``named`` are ids by whose they are (mine, theirs, secret) and kind."""

    def __init__(self, hub: PeopledHub, named: Mapping[str, Mapping[str, str]]) -> None:
        self._hub, self._named = hub, named
        self._collection = Collection.objects.get(slug=COLLECTION)
        # one for many calls: a client of Django loads the middleware anew
        self._client = Client(raise_request_exception=False)
        self._browsers: dict[str, Client] = {}

    def check(self, tried: Try) -> None:
        """Send a try, take back what it did, and raise AssertionError where the answer is another than expected."""
        with transaction.atomic():
            before = self._state_for(tried.person)
            answer = self._send(tried, self._named)
            changed = [name for name, digest in self._state_for(tried.person).items() if before[name] != digest]
            transaction.set_rollback(True)
        assert answer.status < 500, f"{tried}: {answer.status} {answer.said[:300]}"
        assert CANARY.lower() not in answer.said.lower(), f"{tried}: shows what is hidden: {answer.said[:300]}"
        assert not changed, f"{tried}: changed {changed}"
        if tried.expected == "unknown":
            self._check_unknown(tried, answer)
        elif tried.expected != "quiet":
            wanted = {int(status) for status in tried.expected.split("/")}
            assert answer.status in wanted, f"{tried}: {answer.status}, not {tried.expected}: {answer.said[:300]}"

    def _check_unknown(self, tried: Try, answer: Answer) -> None:
        """The answer has to be the one for an id that was never given out, but for the id."""
        with transaction.atomic():
            other = self._send(tried, dict.fromkeys(self._named, UNKNOWN))
            transaction.set_rollback(True)
        given = {self._value(self._named, owner, kind) for owner, kind in PLACE.findall(tried.send + tried.body)}
        said, unknown = _plain(answer.said, given), _plain(other.said, set(UNKNOWN.values()))
        assert (answer.status, said) == (other.status, unknown), f"{tried}: {answer}, for an unknown id {other}"

    def _state_for(self, person: str) -> dict[str, str]:
        user = self._hub.users["carol" if person == NOBODY else person]
        return state_of_others(user, self._collection)

    @staticmethod
    def _value(named: Mapping[str, Mapping[str, str]], owner: str, kind: str) -> str:
        return str(named[owner][kind] if kind in named[owner] else named[owner]["pk"])

    def _send(self, tried: Try, named: Mapping[str, Mapping[str, str]]) -> Answer:
        def filled(text: str) -> str:
            return PLACE.sub(lambda found: self._value(named, found[1], found[2]), text)

        method, _space, place = filled(tried.send).partition(" ")
        body = filled(tried.body)
        headers = dict(part.split(": ", 1) for part in filled(tried.headers).split("; ") if part)
        if method in ("TOOL", "READ"):
            return self._ask(tried.person, method, place, body)
        if method in ("PAGE", "FORM"):
            return self._open(tried.person, method, place, body)
        return self._call(tried.person, method, place, body, headers)

    def _call(self, person: str, method: str, place: str, body: str, headers: dict[str, str]) -> Answer:
        token = self._hub.tokens.get(person, "")
        sent = {"Authorization": f"Bearer {token}", **headers} if token else headers
        sent = {name: value.replace("TOKEN", token) for name, value in sent.items()}
        kind = sent.pop("Content-Type", "application/json")
        if kind.startswith("multipart/"):
            body = body.replace("\\r\\n", "\r\n")  # a line of the table has none
        response: Any = self._client.generic(
            method,
            f"/api/v1{place}" if not place.startswith("//") else place[1:],
            body,
            content_type=kind,
            headers=sent,
        )
        return Answer(status=response.status_code, said=_content(response))

    def _open(self, person: str, method: str, place: str, body: str) -> Answer:
        client = self._browser_of(person)
        form = json.loads(body) if body else {}
        response: Any = client.get(place, form) if method == "PAGE" else client.post(place, form)
        told = [str(one) for one in getattr(response.wsgi_request, "_messages", ()) or ()]
        status = 403 if "/login/" in response.headers.get("Location", "") else response.status_code
        return Answer(status=status, said=_content(response) + " ".join(told))

    def _browser_of(self, person: str) -> Client:
        """A browser where the person is signed in, anew for each try: the session goes with what the try did."""
        client = self._browsers.setdefault(
            person, Client(raise_request_exception=False, headers={"Accept-Language": "en"})
        )
        client.cookies.clear()
        if person != NOBODY:
            client.force_login(self._hub.users[person])
        return client

    def _ask(self, person: str, method: str, place: str, body: str) -> Answer:
        async def ask() -> Answer:
            async with McpClient(build_server(WHOLE, door_with(self._hub.tokens.get(person, "")))) as client:
                try:
                    if method == "READ":
                        return Answer(status=200, said=(await client.read_resource(place)).model_dump_json())
                    result = await client.call_tool(place, json.loads(body or "{}"))
                except MCPError as error:
                    return Answer(status=403, said=f"{error.error.message} {error.error.data}")
                return Answer(status=403 if result.is_error else 200, said=result.model_dump_json())

        with one_connection():
            return asyncio.run(ask())


def _plain(said: str, ids: set[str]) -> str:
    """A text without the ids that were sent, and without what differs from call to call."""
    for one in sorted(ids, key=len, reverse=True):
        said = said.replace(one, "ID")
    said = re.sub(r"csrfmiddlewaretoken[^>]*|nonce=\S+|req_\w+|\"request_id\":\s*\"[^\"]*\"", "", said)
    return re.sub(r"\d+(\.\d+)?", "0", said)


def _content(response: Any) -> str:
    said = response if response.streaming and not response.is_async else [getattr(response, "content", b"")]
    headers = " ".join(f"{name}: {value}" for name, value in response.headers.items() if name in ("Location", "ETag"))
    return headers + b"".join(said).decode(errors="replace")
