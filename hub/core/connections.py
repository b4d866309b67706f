"""Which of the configured servers the hub talks to in plain over a network or without a password; encrypted disks."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from hub.config import Configuration
from hub.core.database_urls import hosts_of

_ENCRYPTED_SCHEMES = frozenset({"https", "rediss", "bolt+s", "bolt+ssc", "neo4j+s", "neo4j+ssc"})
_VERIFIED = frozenset({"verify-full", "verify-ca"})


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address is this machine's own: no name, ``localhost``, a loopback address, a socket.

    >>> [is_this_machine(host) for host in ("localhost", "127.0.0.1", "::1", "/run/pg", "10.0.0.5", "db.internal")]
    [True, True, True, True, False, False]
    """
    if not host or host == "localhost" or host.startswith("/"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def plain_connections(config: Configuration) -> Iterator[str]:
    """Yield what goes over a network unencrypted, or to a server whose certificate nobody checks, with what to do."""
    for name, url in (
        ("DATABASE_URL", config.effective_database_url),
        *(("DATABASE_REPLICA_URLS", url) for url in config.database_replica_urls),
    ):
        if problem := _database_problem(name, url):
            yield problem
    for name, url, advice in (
        ("REDIS_URL", config.redis_url, "use rediss://"),
        ("S3_ENDPOINT_URL", config.s3_endpoint_url, "use https://"),
        ("LLM_BASE_URL", config.llm_base_url, "use https://"),
        ("EMBEDDING_BASE_URL", config.embedding_base_url, "use https://"),
        ("ENCRYPTION_KMS_ENDPOINT_URL", config.encryption_kms_endpoint_url, "use https://"),
        ("NEO4J_URL", config.neo4j_url, "use bolt+s:// or neo4j+s://"),
        ("HUB_PUBLIC_URL", config.hub_public_url, "put a proxy with TLS in front and give its https:// address"),
    ):
        parts = urlsplit(url)
        if url and parts.scheme not in _ENCRYPTED_SCHEMES and not is_this_machine(parts.hostname or ""):
            yield f"{name} is plain over the network to {parts.hostname}; {advice}"
    if not config.hub_public_url and not is_this_machine(config.hub_host):
        yield f"HUB_HOST {config.hub_host} is open to the network in plain; put a proxy with TLS in front"


def open_queue(config: Configuration) -> str:
    """Say that anybody who reaches the queue may use it, and what to do; empty where it asks for a password.

    Who writes to it has the workers do what they like with the rows that are there, and reads what they are about to.
    A socket is its folder's to guard.
    """
    parts = urlsplit(config.redis_url)
    if not parts.hostname or parts.password:
        return ""
    return (
        f"REDIS_URL has no password for {parts.hostname}: who reaches that port can queue work and read what waits; "
        "set requirepass there, and redis://:PASSWORD@host:port/0 here"
    )


def _database_problem(name: str, url: str) -> str:
    if all(is_this_machine(host) for host, _port in hosts_of(url)):
        return ""
    mode = parse_qs(urlsplit(url).query).get("sslmode", ["prefer"])[0]
    if mode in _VERIFIED:
        return ""
    if mode == "require":
        return f"{name} is encrypted to a server whose certificate nobody checks; add sslmode=verify-full"
    return f"{name} may be plain over the network (sslmode={mode}); add sslmode=verify-full"


def disk_is_encrypted(path: Path, *, devices: Path = Path("/sys/dev/block")) -> bool | None:
    """Whether a folder is on a disk that Linux encrypts (dm-crypt, LUKS); None where that can't be seen.

    A provider's encryption of volumes is not seen from inside of the machine.
    """
    device = path.stat().st_dev
    return _is_crypt(devices / f"{os.major(device)}:{os.minor(device)}")


def _is_crypt(device: Path) -> bool | None:
    if not device.exists():
        return None
    uuid = device / "dm" / "uuid"
    if uuid.exists() and uuid.read_text().startswith("CRYPT-"):
        return True
    below = list((device / "slaves").iterdir()) if (device / "slaves").is_dir() else []
    return bool(below) and all(_is_crypt(one) for one in below)
