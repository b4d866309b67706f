"""Who owns a token is known for one request, whatever an earlier one of the same connection left behind."""

from __future__ import annotations

import asyncio

import pytest

from hub.access.principals import Principal, local_operator
from hub.rest.rate_limits import client_for_loop
from mcp_bridge import admission
from mcp_bridge.tokens import TokenLookup


class Away(TokenLookup):
    """A look-up whose database is away."""

    async def authenticate(self, token: str) -> Principal:
        raise ConnectionError(token)


def test_the_owner_of_an_earlier_request_is_not_believed_when_the_look_up_fails():
    scope = {"headers": [(b"authorization", b"Bearer t")], "client": ("127.0.0.1", 1)}

    async def request() -> None:
        admission._asked.set(("t", local_operator()))  # as a connection's reader keeps the context of who resumed it
        assert await admission.admit(scope, Away(), client_for_loop()) is None
        with pytest.raises(ConnectionError):
            await admission.owner_of("t", Away())

    asyncio.run(request())
