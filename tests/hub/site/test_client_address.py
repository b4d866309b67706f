"""Whose address is written down, counted and believed."""

from __future__ import annotations

import json

import pytest

from hub.core.client_address import Networks, read_forwarded
from tests.hub.site.conftest import Wire, bearer

PROXIES = Networks(["127.0.0.2", "10.0.0.0/8", "2001:db8::/32"])
GUESSES = 900


def address_in_audit(wire: Wire, slug: str, *headers: str, peer: str) -> str | None:
    body = json.dumps({"slug": slug, "name": slug}).encode()
    made = wire.send(
        "POST /api/v1/collections HTTP/1.1",
        f"Host: 127.0.0.1:{wire.port}",
        bearer(wire.site),
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
        body=body,
        peer=peer,
    )
    assert made.status == 201, made.body
    path = f"/api/v1/audit?action=COLLECTION_CREATE&resource=collection:{slug}"
    return json.loads(wire.get(path, bearer(wire.site)).body)["items"][0]["address"]


def test_a_forwarded_address_is_not_believed_unless_a_proxy_is_named(wire: Wire):
    headers = ("X-Forwarded-For: 198.51.100.77",)
    assert address_in_audit(wire, "forged", *headers, peer="127.0.0.1") == "127.0.0.1"


def test_the_audit_has_the_clients_address_behind_a_named_proxy(proxied: Wire):
    headers = ("X-Forwarded-For: 192.0.2.9, 198.51.100.77, 10.1.2.3",)  # the first is what the client claims itself
    assert address_in_audit(proxied, "by-proxy", *headers, peer="127.0.0.2") == "198.51.100.77"


def test_another_peer_is_not_believed_where_a_proxy_is_named(proxied: Wire):
    headers = ("X-Forwarded-For: 198.51.100.77",)
    assert address_in_audit(proxied, "beside-proxy", *headers, peer="127.0.0.3") == "127.0.0.3"


@pytest.mark.parametrize(("path", "peer"), [("/api/v1/collections", "127.0.0.3"), ("/mcp/core/", "127.0.0.4")])
def test_nine_hundred_guesses_with_changing_addresses_are_throttled(proxied: Wire, path: str, peer: str):
    guess = "Authorization: Bearer hub_guess"
    forged = [f"X-Forwarded-For: 198.51.{number // 250}.{number % 250}" for number in range(GUESSES)]
    statuses = [proxied.get(path, guess, claim, peer=peer).status for claim in forged]
    assert set(statuses) == {401, 429}
    # even when a minute begins every three hundred guesses
    assert statuses.count(401) <= 4 * 50
    answer = proxied.get(path, guess, peer=peer)
    assert int(answer.headers["retry-after"]) in range(1, 61)


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("127.0.0.1", "198.51.100.7", "127.0.0.1"),
        ("127.0.0.2", "198.51.100.7", "198.51.100.7"),
        ("127.0.0.2", "6.6.6.6, 198.51.100.7", "198.51.100.7"),
        ("127.0.0.2", "6.6.6.6, 198.51.100.7, 10.9.9.9", "198.51.100.7"),
        ("127.0.0.2", "10.3.3.3, 10.9.9.9", "10.3.3.3"),
        ("127.0.0.2", "198.51.100.7:4711", "198.51.100.7"),
        ("127.0.0.2", "[2001:db9::7]:4711", "2001:db9::7"),
        ("127.0.0.2", "2001:DB9:0::7", "2001:db9::7"),
        ("127.0.0.2", "6.6.6.6, unknown", "127.0.0.2"),
        ("127.0.0.2", "6.6.6.6, unknown, 10.9.9.9", "10.9.9.9"),
        ("127.0.0.2", "", "127.0.0.2"),
        ("2001:db8::1", "198.51.100.7", "198.51.100.7"),
    ],
)
def test_the_right_most_address_that_is_no_proxy_is_the_client(peer: str, forwarded: str, expected: str):
    scope = {"client": (peer, 4000), "scheme": "http", "headers": [(b"x-forwarded-for", forwarded.encode())]}
    read_forwarded(scope, PROXIES)
    assert scope["client"][0] == expected


@pytest.mark.parametrize(("peer", "scheme"), [("127.0.0.1", "http"), ("127.0.0.2", "https")])
def test_only_a_named_proxy_says_that_tls_is_there(peer: str, scheme: str):
    scope = {"client": (peer, 4000), "scheme": "http", "headers": [(b"x-forwarded-proto", b"https")]}
    read_forwarded(scope, PROXIES)
    assert scope["scheme"] == scheme


def test_a_unix_socket_has_no_address_and_is_no_proxy():
    scope = {"client": None, "scheme": "http", "headers": [(b"x-forwarded-for", b"198.51.100.7")]}
    read_forwarded(scope, PROXIES)
    assert scope["client"] is None
