"""Which addresses are the operator's own."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

# Source: RFC 6761 (localhost), RFC 6762 (local), ICANN resolution 2024.07.29.06 (internal).
PRIVATE_SUFFIXES = (".localhost", ".local", ".internal")


def is_private_host(url: str) -> bool:
    """Tell by its name alone whether a URL's host is this machine or in a private network; nothing is resolved.

    A name without a dot is one of the operator's own network, such as a service of a compose file.

    >>> [is_private_host(url) for url in ("http://127.0.0.1:8080/v1", "http://llm:8000", "https://api.example.com/v1")]
    [True, True, False]
    """
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(PRIVATE_SUFFIXES))
    return address.is_loopback or address.is_private
