"""What a postgresql:// URL says, as libpq reads it: several hosts are tried in their order."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

REPLICA = "replica_"  # what the aliases of replicas in DATABASES begin with
DEFAULT_PORT = "5432"
# Of several hosts, which one takes writes is found out by connecting to one after the other. A machine that is gone
# says nothing: after so many seconds the next one is tried, after so many milliseconds a connection to it is given up.
_OF_SEVERAL = {"target_session_attrs": "read-write", "connect_timeout": "3", "tcp_user_timeout": "10000"}
# Of a replica another one, or the primary, takes the place.
_OF_REPLICAS = {"connect_timeout": "2", "tcp_user_timeout": "5000"}


def hosts_of(url: str) -> list[tuple[str, str]]:
    """Give the hosts and ports of a URL, "" for what it leaves to libpq; those of its query too.

    >>> hosts_of("postgresql://hub:p@db1:5432,db2/hub"), hosts_of("postgresql:///hub?host=/run/postgresql")
    ([('db1', '5432'), ('db2', '')], [('/run/postgresql', '')])
    >>> hosts_of("postgresql://[::1]:5433/hub"), hosts_of("postgresql:///hub?host=/run/a,/run/b&port=5432")
    ([('::1', '5433')], [('/run/a', '5432'), ('/run/b', '5432')])

    :raises ValueError: the query has ports for some of its hosts only.
    """
    parts = urlsplit(url)
    hosts = [_host_and_port(one) for one in parts.netloc.rpartition("@")[2].split(",")]
    query = dict(parse_qsl(parts.query))
    if "host" in query:
        names, ports = query["host"].split(","), query.get("port", "").split(",")
        ports = ports * len(names) if len(ports) == 1 else ports
        if len(ports) != len(names):
            raise ValueError("expected one port for all hosts, or one for each")
        hosts = list(zip(names, ports, strict=True))
    return hosts


def _host_and_port(text: str) -> tuple[str, str]:
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = text, ""
    return unquote(host).strip("[]"), port


def database_settings(url: str, *, is_replica: bool = False) -> dict[str, Any]:
    """Give Django's settings for a database. Of several hosts the one that takes writes is used."""
    parts = urlsplit(url)
    hosts = hosts_of(url)
    query = dict(parse_qsl(parts.query))
    for name in ("host", "port"):
        query.pop(name, None)
    more = _OF_REPLICAS if is_replica else _OF_SEVERAL if len(hosts) > 1 else {}
    ports = [port for _host, port in hosts]
    return {
        "ENGINE": "hub.core.postgresql_backend",
        "NAME": unquote(parts.path.lstrip("/")) or "hub",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": ",".join(host for host, _port in hosts),
        "PORT": ",".join(port or DEFAULT_PORT for port in ports) if any(ports) else "",
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": more | query,
    }
