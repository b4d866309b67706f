"""Who calls is asked of PostgreSQL at every call, on a connection of the event loop."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, connections
from django.utils import timezone
from mcp import MCPError

from hub.access.models import AccessToken
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from hub.core.errors import Unauthenticated
from mcp_bridge import threads, tokens
from mcp_bridge.threads import in_thread
from mcp_bridge.tokens import TokenLookup
from tests.factories import new_user
from tests.mcp_bridge.conftest import stdio_session

pytestmark = [pytest.mark.anyio, pytest.mark.django_db]


@pytest.fixture(scope="module")
def token(django_db_setup, django_db_blocker):
    """A token in the database of the tests, committed, as the lookup's own connection needs it."""
    with django_db_blocker.unblock():
        user = new_user()
        yield create_token(principal=local_operator(), user=user, name="試験", scopes=ALL_SCOPES)[1]
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE access_auditevent")  # nobody may remove single lines
        user.delete()
        connections.close_all()


@pytest.fixture
async def lookup(token):
    lookup = TokenLookup()
    yield lookup
    await lookup.aclose()
    await disconnect_threads()


async def disconnect_threads() -> None:
    """Close what the idle threads hold: tests without a database use them next."""
    async with AsyncExitStack() as stack:
        for _thread in range(threads._threads().idle):
            thread = await stack.enter_async_context(threads._threads().lend(patiently=True))
            await thread.run(connections.close_all)


async def cut(lookup: TokenLookup) -> None:
    """Let PostgreSQL end the connection."""
    assert lookup._connection is not None
    with pytest.raises(psycopg.OperationalError):
        await lookup._connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


async def test_a_revoked_token_is_refused_from_the_next_call_on(site, hub, operator):
    hub.tokens["ended"] = token = operator("make", "ended")
    async with (
        site.client("core", owner="ended") as new,
        site.client("core", owner="ended", mode="legacy") as old,
        stdio_session(hub.stdio("core", HUB_TOKEN=token)) as local,
    ):
        clients = (new, old, local)
        assert not any([(await client.call_tool("list_documents", {})).is_error for client in clients])
        operator("revoke", "ended")
        for client in clients:
            with pytest.raises(MCPError):
                await client.call_tool("list_documents", {})


async def test_what_changed_is_known_at_the_next_lookup(token, lookup):
    assert (await lookup.authenticate(token)).scopes == ALL_SCOPES
    await in_thread(AccessToken.objects.update, scopes=["read"])
    assert (await lookup.authenticate(token)).scopes == {"read"}
    await in_thread(AccessToken.objects.update, revoked_at=timezone.now())
    with pytest.raises(Unauthenticated):
        await lookup.authenticate(token)
    await in_thread(AccessToken.objects.update, revoked_at=None)


async def test_many_at_once_share_one_connection(token, lookup):
    found = await asyncio.gather(*[lookup.authenticate(token) for _ in range(40)])
    assert len({principal.token_id for principal in found}) == 1


async def test_a_connection_that_was_cut_is_replaced_without_anybody_noticing(token, lookup):
    await lookup.authenticate(token)
    await cut(lookup)
    found = await asyncio.gather(*[lookup.authenticate(token) for _ in range(5)])
    assert all(principal.token_id for principal in found)
    await lookup.authenticate(token)
    assert lookup._connection is not None
    assert not lookup._connection.closed


async def test_a_caller_that_leaves_does_not_spoil_the_connection(token, lookup):
    await lookup.authenticate(token)
    before = lookup._connection
    for _time in range(20):
        asked = asyncio.create_task(lookup.authenticate(token))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    assert (await lookup.authenticate(token)).token_id
    assert lookup._connection is before


async def test_a_database_that_does_not_answer_is_reported_as_by_the_other_doors(token, lookup, monkeypatch):
    def refuse(_digest: str) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(tokens, "_parameters", lambda: {"host": "/nowhere", "connect_timeout": 1})
    monkeypatch.setattr(tokens, "find_token", refuse)
    with pytest.raises(OperationalError, match="away"):
        await lookup.authenticate(token)


async def test_a_token_ends_with_its_owners_password(lookup, token):
    owner = User.objects.filter(pk=(await lookup.authenticate(token)).user_id)
    before = await in_thread(owner.values_list("password", flat=True).get)
    await in_thread(owner.update, password="md5$salt$0123")
    try:
        with pytest.raises(Unauthenticated):
            await lookup.authenticate(token)
    finally:
        await in_thread(owner.update, password=before)
    assert (await lookup.authenticate(token)).token_id
