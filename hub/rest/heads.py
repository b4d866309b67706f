"""What a request's head must be at every door: headers that mean one thing said once, of a host that is ours."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.translation import gettext_lazy as _

from hub.rest.errors import BadRequest

# Of two of these one reader takes the first and another the last: a proxy would check what the hub does not use.
ONCE = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-range",
        b"content-type",
        b"forwarded",
        b"host",
        b"idempotency-key",
        b"last-event-id",
        b"origin",
        b"range",
        b"referer",
        b"transfer-encoding",
        b"x-csrftoken",
        b"x-request-id",
    }
)
ONCE_BY_PREFIX = (b"x-forwarded-", b"mcp-")


def check_headers(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse headers that can be read in two ways; names are in lower case, as ASGI has them.

    :raises BadRequest: one of those that count once is there twice (``repeated_header``), or the body has both a
        Content-Length and a Transfer-Encoding (``ambiguous_length``).
    """
    seen: set[bytes] = set()
    for name, _value in headers:
        if name in seen and (name in ONCE or name.startswith(ONCE_BY_PREFIX)):
            raise BadRequest(
                _("The header {name} is there more than once. Send it once."),
                code="repeated_header",
                name=name.decode("latin-1"),
            )
        seen.add(name)
    if b"content-length" in seen and b"transfer-encoding" in seen:
        raise BadRequest(
            _("The request has both Content-Length and Transfer-Encoding. Send one of them."), code="ambiguous_length"
        )


def check_target(path: str, query: bytes) -> None:
    """Refuse an address with a NUL character in its path or query, which no name or id has. :raises BadRequest:"""
    if "\x00" in path or b"%00" in query or b"\x00" in query:
        raise BadRequest(_("The address contains a NUL character (%00), which nothing here is named by."), code="nul")


def is_allowed_host(host: str) -> bool:
    """Whether a Host header, with or without a port, names a host of ALLOWED_HOSTS."""
    name = split_domain_port(host)[0]
    return bool(name) and validate_host(name, settings.ALLOWED_HOSTS)


def is_allowed_origin(origin: str) -> bool:
    """Whether an Origin header names a page of a host of ALLOWED_HOSTS (``null`` never does)."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and is_allowed_host(parts.netloc)
