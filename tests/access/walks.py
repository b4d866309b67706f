"""One person after another goes through one door after another, drawn from a seed; what they do stays done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, reverse
from mcp import Client as McpClient
from mcp import MCPError

from hub.access.principals import ALL_SCOPES, Scope
from hub.access.services import create_token, principal_for_user
from hub.core.errors import HubError
from hub.site.api import api
from mcp_bridge import uris
from mcp_bridge.server import HubTool
from mcp_bridge.servers import SERVERS, build_server
from tests.access.mcp_doors import WHOLE, door_with
from tests.access.people import COLLECTION, PeopledHub
from tests.properties.operations import Operation, operations

PERSONS = ("carol", "reader", "curator", "auditor", "administrator")
KEYS = ("key-1", "key-2", "key-3")
ROWS_TRIED = 60
TEMPLATES = (uris.DOCUMENTS, uris.RESULTS, uris.CHUNKS, uris.EMBEDDINGS, uris.SCENARIOS, uris.ONTOLOGIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was done, and what came back: the status (200 where a door has none) and everything that was said."""

    person: str
    done: str
    status: int
    said: bytes


class Drawn(Mapping[str, Any]):
    """Values for the fields of operations, drawn anew each time; what may be left out is given half the time."""

    def __init__(self, random: Random, pools: Mapping[str, list[Any]]) -> None:
        self._random, self._pools = random, pools

    def __getitem__(self, name: str) -> Any:
        return self._random.random() < 0.5 if name.startswith("+") else self._random.choice(self._pools[name])

    def __contains__(self, name: object) -> bool:
        return str(name).startswith("+") or name in self._pools

    def __iter__(self) -> Iterator[str]:
        return iter(self._pools)

    def __len__(self) -> int:
        return len(self._pools)


class DrawnOperation(Operation):
    """An operation whose choices are drawn, too."""

    random = Random(0)

    def _ordinary(self, schema: Any, name: str) -> Any:
        part = self.random.choice(self._resolved(schema))
        if self._example(name) is None and ("enum" in part or part.get("type") in {"boolean", "integer"}):
            return self.random.choice(part.get("enum") or {"boolean": [True, False]}.get(part["type"], [0, 1, 2, 5]))
        return super()._ordinary(schema, name)


@dataclass(slots=True, kw_only=True)
class Walk:
    """A walk through a hub. ``pools`` has what each field may be given, one's own and that of others."""

    hub: PeopledHub
    random: Random
    pools: dict[str, list[Any]]
    tokens: dict[str, list[str]] = field(init=False)
    browsers: dict[str, Client] = field(init=False)
    operations: list[Operation] = field(init=False)
    tools: tuple[HubTool, ...] = field(init=False)
    caller: Client = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = {name: [self.hub.tokens[name]] for name in PERSONS}
        self.browsers = {name: Client(raise_request_exception=False) for name in PERSONS}
        for name, browser in self.browsers.items():
            browser.force_login(self.hub.users[name])
        self.caller = Client(raise_request_exception=False)
        DrawnOperation.random = self.random
        document = api.get_openapi_schema()
        examples = Drawn(self.random, self.pools)
        self.operations = [
            DrawnOperation(document, one.address, one.method, examples) for one in operations(document, {})
        ]
        self.tools = tuple(SERVERS[WHOLE].tools)

    def next_person(self) -> str:
        """Draw who does something next."""
        return self.random.choice(PERSONS)

    def step(self, person: str) -> Step:
        """Let a person do something."""
        act = self.random.choices((self._call, self._open, self._ask, self._make_token), (50, 35, 13, 2))[0]
        with transaction.atomic():
            return act(person)

    def _call(self, person: str) -> Step:
        call = self.random.choice(self.operations).ordinary_call()
        headers = {**call.headers, "Authorization": f"Bearer {self.random.choice(self.tokens[person])}"}
        headers.pop("Idempotency-Key", None)
        if self.random.random() < 0.3:
            headers["Idempotency-Key"] = self.random.choice(KEYS)
        response = self.caller.generic(
            call.method.upper(), call.url, call.body, content_type=call.content_type, headers=headers
        )
        return Step(person=person, done=f"{call.method} {call.url} {call.body[:300]!r}", **_answer(response))

    def _open(self, person: str) -> Step:
        """Open a page of the admin, and send what its form asks for, or what such pages take."""
        path = self._page()
        browser = self.browsers[person]
        if self.random.random() < 0.5:
            response = browser.get(path)
            if not response.context or "adminform" not in response.context:
                return Step(person=person, done=f"GET {path}", **_answer(response))
            form = self._filled(response.context)
        else:
            form = {name: self.random.choice(self.pools[name]) for name in sorted(self.pools)}
            form |= {"action": self.random.choice(("revoke", "retry", "delete_documents", "scan_now", "end_wait"))}
            form |= {"_selected_action": [self.random.choice(range(1, 5))], "post": "yes", "confirmed": "1"}
        response = browser.post(path, form)
        return Step(person=person, done=f"POST {path} {str(form)[:300]}", **_answer(response))

    def _page(self) -> str:
        if self.random.random() < 0.2:
            pages = [one for one in admin.site.get_urls() if isinstance(one, URLPattern) and one.name != "logout"]
            return self._reversed(self.random.choice(pages), None)
        model, one = self.random.choice(sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label))
        named = [pattern for pattern in one.get_urls() if pattern.name]
        return self._reversed(self.random.choice(named), self._row(model))

    def _row(self, model: type[Model]) -> Model | None:
        rows = list(model._default_manager.order_by("-pk")[:ROWS_TRIED])
        return self.random.choice(rows) if rows else None

    def _reversed(self, pattern: URLPattern, row: Any) -> str:
        given = {name: self._value(name, row) for name in pattern.pattern.converters}
        try:
            return reverse(f"admin:{pattern.name}", kwargs=given)
        except NoReverseMatch:
            return "/admin/"

    def _value(self, name: str, row: Any) -> Any:
        pools = {"public_id": "document_id", "report_format": "format", "number": "number", "run_id": "run_id"}
        if name in {"pk", "id", "object_id"}:
            return row.pk if row is not None else 1
        if name == "code" and row is not None:
            return getattr(row, "code", "x")
        return self.random.choice(self.pools.get(pools.get(name, name), ["x"]))

    def _filled(self, context: Any) -> dict[str, Any]:
        """The form as it is on the page, with one field changed."""
        forms = [context["adminform"].form]
        for inline in context.get("inline_admin_formsets") or ():
            forms += [inline.formset.management_form, *inline.formset.forms]
        form: dict[str, Any] = {"_save": "1"}
        for each in forms:
            for name in each.fields:
                value = each[name].value()
                form[each.add_prefix(name)] = "" if value is None or value is False else value
        if changed := [name for name in forms[0].fields if "FORMS" not in name]:
            name = self.random.choice(changed)
            choices = [key for key, _text in getattr(forms[0].fields[name], "choices", ())][:20]
            form[name] = self.random.choice(choices or self.pools.get(name, ["x", "1", "on"]))
        return form

    def _ask(self, person: str) -> Step:
        """Call a tool, read a resource, or have an id completed."""
        tool = self.random.choice(self.tools).tool
        arguments = {
            name: self._argument(name, described)
            for name, described in tool.parameters["properties"].items()
            if name in tool.parameters.get("required", ()) or (name in self.pools and self.random.random() < 0.5)
        }
        uri = self.random.choice(TEMPLATES) + str(self._argument("uri", {}))
        is_tool = self.random.random() < 0.7
        token = self.random.choice(self.tokens[person])

        async def ask() -> tuple[int, str]:
            async with McpClient(build_server(WHOLE, door_with(token))) as client:
                try:
                    given = await (client.call_tool(tool.name, arguments) if is_tool else client.read_resource(uri))
                except MCPError as error:
                    said = f"{error.error.message} {error.error.data}".replace(uri, "")
                    return (500 if "internal_error" in str(error.error.data) else 400), said
                is_refused = getattr(given, "is_error", False)
                return (400 if is_refused else 200), given.model_dump_json()

        done = f"tool {tool.name} {arguments}" if is_tool else f"resource {uri}"
        status, said = asyncio.run(ask())
        return Step(person=person, done=done, status=status, said=said.encode())

    def _argument(self, name: str, described: dict[str, Any]) -> Any:
        if name == "uri":
            name = self.random.choice(("document_id", "review_id", "chunk_id", "domain", "scenario_id"))
        if name in self.pools:
            return self.random.choice(self.pools[name])
        if "enum" in described:
            return self.random.choice(described["enum"])
        return {"integer": 1, "boolean": True, "object": {}, "array": []}.get(str(described.get("type")), "x")

    def _make_token(self, person: str) -> Step:
        """Make a token with scopes that are drawn, for oneself or for somebody else."""
        user = self.hub.users[person]
        owner: User = self.random.choice([user, *self.hub.users.values()])
        scopes = frozenset(self.random.sample(sorted(ALL_SCOPES), self.random.randint(1, len(Scope))))
        done = f"a token for {owner.username} with {sorted(scopes)}"
        try:
            _row, token = create_token(principal=principal_for_user(user), user=owner, name="new", scopes=scopes)
        except HubError as error:
            return Step(person=person, done=done, status=error.status, said=str(error).encode())
        assert owner == user, (person, done)
        self.tokens[person].append(token)
        return Step(person=person, done=done, status=201, said=b"")


def _answer(response: Any) -> dict[str, Any]:
    parts = response if response.streaming and not response.is_async else [getattr(response, "content", b"")]
    said = b"".join(parts)
    return {"status": response.status_code, "said": said + str(response.headers).encode()}


def pools_of(hub: PeopledHub, hidden: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """What each field may be given: what the collection has, what is hidden, and what is nowhere."""
    own = {name: [value] for name, value in hub.examples.items() if " " not in name and not name.startswith("+")}
    collections = [COLLECTION, "default", *hidden["slug"]]
    pools = {
        **own,
        "document_ids": [[one] for one in (*own["document_id"], *hidden["document_id"])],
        "finding_ids": [[one] for one in (*own["finding_id"], *hidden["finding_id"])],
        "slug": [*collections, "made-now", "another"],
        "collection": collections,
        "code": ["basic-design", "theirs", *own["dataset"], "made-now"],
        "dataset": [*own["dataset"], "theirs"],
        "name": [*own["name"], "watched", "theirs", "made-now"],
        "user": ["carol", "reader", "neighbour", "hub_curator"],
        "role": ["reader", "reviewer", "curator", "auditor", "administrator"],
        "classification": ["c1", "c2", "c3"],
        "query": ["極秘計画", "監視を行う", "予約", '"極秘計画の記録"'],
        "q": ["秘", "他", "予約"],
        "text": ["極秘計画の記録は5秒以内とする。", "予約"],
        "kind": ["judge"],
        "number": [1, 2],
        "version": [1, 2],
        "candidate": ["prompt:judge@1", "prompt:judge@2", "checklist:basic-design@2"],
        "publish": ["true"],
        "status": ["draft", "published", "approved", "retired", ""],
        "domain": ["system_design", "guideline", "made_now"],
        "cypher_query": ["MATCH (n) RETURN n LIMIT 50", "MATCH (a)-[r]->(b) RETURN a, r, b LIMIT 50"],
        "path": ["秘.md", "他.md", "新.md"],
        "filename": ["秘.md", "他.md", "新.md"],
        "title": ["新しい題"],
        "content": ["# 新\n\n本文\n"],
        "format": ["json", "markdown", "html", "csv"],
        "wait_seconds": [0],
        "is_superuser": ["on"],
        "scopes": ["read", "admin"],
        "metadata": [{"部": "一"}],
    }
    for name in ("document_id", "review_id", "finding_id", "entity"):
        pools[name] = [*pools.get(name, []), *hidden[name], "x"]
    pools["base"] = pools["review_id"]
    return pools
