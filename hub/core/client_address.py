"""Whose address a request comes from: that of the peer, unless the peer is a proxy named in HUB_TRUSTED_PROXIES.

Audit, rate limits, lockout and the answer of /metrics all rest on this one reading.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, MutableMapping
from functools import lru_cache
from typing import Any

FORWARDED_FOR = b"x-forwarded-for"
FORWARDED_PROTO = b"x-forwarded-proto"
SCHEMES = frozenset({"http", "https"})


def address_of(host: str | None) -> str | None:
    """Write an IP address in its one form, without a zone ("fe80::1%eth0"); None for what is none (a Unix socket)."""
    try:
        return str(ipaddress.ip_address((host or "").partition("%")[0]))
    except ValueError:
        return None


class Networks:
    """Addresses and networks, as HUB_TRUSTED_PROXIES names them. Raises ValueError for what is neither."""

    def __init__(self, named: Iterable[str]) -> None:
        self._networks = tuple(ipaddress.ip_network(name) for name in named)
        self._has = lru_cache(maxsize=1024)(self._look)

    def __contains__(self, host: str) -> bool:
        return bool(self._networks) and self._has(host)

    def _look(self, host: str) -> bool:
        address = address_of(host)
        return address is not None and any(ipaddress.ip_address(address) in network for network in self._networks)


def read_forwarded(scope: MutableMapping[str, Any], proxies: Networks) -> None:
    """Put the client's address and scheme into an HTTP scope, where its peer is one of the proxies.

    Each proxy adds the address it was called from at the end of X-Forwarded-For: the right-most that is no proxy of
    ours is the client. What can't be read as an address ends the search, since nobody vouches for what is before it.
    """
    peer = scope.get("client")
    if peer is None or peer[0] not in proxies:
        return
    headers = dict(scope["headers"])  # repeated ones are refused before
    client = peer[0]
    for text in reversed(headers.get(FORWARDED_FOR, b"").decode("latin-1").split(",")):
        address = _without_port(text.strip())
        if address is None:
            break
        client = address
        if address not in proxies:
            break
    scope["client"] = (client, 0)
    scheme = headers.get(FORWARDED_PROTO, b"").decode("latin-1").strip().lower()
    if scheme in SCHEMES:
        scope["scheme"] = scheme


def _without_port(text: str) -> str | None:
    if text.startswith("["):
        return address_of(text[1:].partition("]")[0])
    return address_of(text.partition(":")[0] if text.count(":") == 1 else text)
