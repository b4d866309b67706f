"""The kinds of values that settings take, each read and checked by itself."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, InstanceOf
from pydantic_settings import NoDecode

from hub.core.client_address import Networks

LEAST_TOKEN_CHARS = 32


def _split_commas(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _accept_long_name(value: object) -> object:
    return "openai" if value in {"openai-compatible", "openai_compatible"} else value


def _make_absolute(value: Path) -> Path:
    return value.expanduser().absolute()


def _check_transports(value: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := set(value) - {"stdio", "http"}:
        raise ValueError(f"unknown transports {sorted(unknown)}, expected stdio and http")
    return value


def _has_scheme(*known: str, expected: str) -> Callable[[str], str]:
    """Make a check that a URL, where one is given, has one of these schemes."""

    def check(value: str) -> str:
        if value and urlsplit(value).scheme not in known:
            raise ValueError(f"expected {expected}")
        return value

    return check


def _check_alert_urls(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        return value
    from apprise import Apprise  # a second and a half, for those who want alerts only

    for number, url in enumerate(value, 1):
        if not Apprise.instantiate(url, suppress_exceptions=True):
            scheme = url.partition("://")[0] if "://" in url else ""  # the rest may hold a password
            what = f"scheme {scheme[:20]}" if scheme else "no scheme"
            raise ValueError(f"URL {number} ({what}) can't be used, expected Apprise URLs such as mailtos://…")
    return value


def _check_time_zone(value: str) -> str:
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError("expected an IANA name such as Asia/Tokyo") from error
    return value


def _refuse_encryption(value: str) -> str:
    if value:
        raise ValueError("encryption at rest is not available in this release; remove the setting")
    return value


def _read_networks(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return Networks(part.strip() for part in value.split(",") if part.strip())
    except ValueError as error:
        raise ValueError(f"expected addresses or networks such as 10.0.0.5,10.1.0.0/16: {error}") from error


def _check_metrics_token(value: str) -> str:
    if value and len(value) < LEAST_TOKEN_CHARS:
        raise ValueError(f"expected {LEAST_TOKEN_CHARS} random characters or more")
    return value


CommaList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
AlertUrls = Annotated[CommaList, AfterValidator(_check_alert_urls)]
McpTransports = Annotated[CommaList, AfterValidator(_check_transports)]
TrustedProxies = Annotated[InstanceOf[Networks], NoDecode, BeforeValidator(_read_networks)]
MetricsToken = Annotated[str, AfterValidator(_check_metrics_token)]
Folder = Annotated[Path, AfterValidator(_make_absolute)]
TimeZone = Annotated[str, AfterValidator(_check_time_zone)]
EncryptionKey = Annotated[str, AfterValidator(_refuse_encryption)]
LlmProvider = Annotated[Literal["none", "openai", "bedrock"], BeforeValidator(_accept_long_name)]
DatabaseUrl = Annotated[
    str,
    AfterValidator(_has_scheme("postgresql", "postgres", expected="postgresql://user:password@host:port/name")),
]
RedisUrl = Annotated[str, AfterValidator(_has_scheme("redis", "rediss", expected="redis://host:port/0 or rediss://…"))]
BoltUrl = Annotated[
    str,
    AfterValidator(
        _has_scheme(
            *("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"),
            expected="bolt://host:7687, neo4j://… or one of these with +s",
        )
    ),
]
