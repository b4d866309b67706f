"""Lines of the audit trail: their kinds, their canonical bytes, the code that proves them, and writing one.

A line is one INSERT. It is on disk before the call that it is about is answered, so that a crash loses nothing that
was answered; with HUB_AUDIT_WAIT_FOR_DISK off, lines of reads are given to PostgreSQL without waiting for its disk.
What is sealed later, see :mod:`hub.access.audit_seals`, is the same bytes.
"""

from __future__ import annotations

import hmac
import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from hub.access.audit_keys import key_ring
from hub.access.models import AuditEvent, AuditKind
from hub.access.principals import Principal
from hub.core.context import current_call
from hub.core.database import prepared_cursor
from hub.core.replicas import note_write

READS = frozenset(
    {
        "ANSWER",
        "AUDIT_READ",
        "DATASET_READ",
        "DOCUMENT_DOWNLOAD",
        "DOCUMENT_READ",
        "EXPORT",
        "LLM_INFERENCE",
        "REPORT_DOWNLOAD",
        "RESULT_VIEW",
        "RIGHTS_READ",
        "SEARCH",
        "SEEN_AS",
    }
)
# What the hub itself relies on later: who uploaded a document does not sign its review, and what was removed of the
# trail explains what is missing in it. That a key was ended has to be shown as long as somebody may ask.
KEPT = frozenset({"AUDIT_REMOVE", "DOCUMENT_UPLOAD", "ENCRYPTION_KEY_END"})
ACCESS = frozenset({"AUDIT_EXPORT", "CONFIG_CHANGE", "EVALUATION_READERS"})
ACCESS_BEGINNINGS = ("ACCOUNT_", "LOGIN", "LOGOUT", "TOKEN_", "GRANT_", "ROLE_", "SESSION_")

LONGEST_TEXT = 500
MOST_ITEMS = 50
MOST_EXACT = 1e15  # a larger number would not come back from jsonb as the same float

_COLUMNS = (
    *("at", "action", "principal", "user_id", "resource", "details", "door", "request_id", "address", "agent"),
    *("purpose", "kind", "code"),
)
_DETAILS = _COLUMNS.index("details")
_encoded = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
_CASTS = {"at": "::timestamptz", "user_id": "::bigint", "details": "::jsonb", "address": "::inet"}
_VALUES = ", ".join(f"%s{_CASTS.get(name, '')}" for name in _COLUMNS)
_INSERT = f"INSERT INTO {AuditEvent._meta.db_table} ({', '.join(_COLUMNS)}) "
_WAITING = f"{_INSERT}VALUES ({_VALUES})"
# Holds for this one statement's transaction, and is over with it.
_SELECTED = f"SELECT {_VALUES} FROM asked WHERE how = 'off'"  # noqa: S608 (constants of this module)
_NOT_WAITING = (
    f"WITH asked AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS how) {_INSERT}{_SELECTED}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One line without its number, as it is in the table."""

    at: datetime
    action: str
    principal: str
    user_id: int | None
    resource: str
    details: Mapping[str, Any]
    door: str
    request_id: str
    address: str | None
    agent: str
    purpose: str
    kind: str

    def content(self) -> bytes:
        """Give the canonical bytes: the same for what is written and for what is read back, and for no other line."""
        parts = [
            *("hub-audit-1", self.at.astimezone(UTC).isoformat(timespec="microseconds"), self.action, self.principal),
            *(self.user_id, self.resource, _plain(self.details), self.door, self.request_id),
            *(_address(self.address), self.agent, self.purpose, self.kind),
        ]
        return _encoded(parts).encode()


def kind_of(action: str) -> AuditKind:
    """Which kind an action's lines are of: it decides how long they are kept."""
    if action in KEPT:
        return AuditKind.KEPT
    if action in READS:
        return AuditKind.READ
    if action in ACCESS or action.startswith(ACCESS_BEGINNINGS):
        return AuditKind.ACCESS
    return AuditKind.CHANGE


def write_line(principal: Principal, action: str, resource: str, details: Mapping[str, Any]) -> None:
    """Write one line; address, agent, purpose and door come from the running call. One statement.

    Outside of a transaction it is on disk afterwards, but for a read with HUB_AUDIT_WAIT_FOR_DISK off. Details are
    bounded: long texts and lists are cut, and say so.
    """
    is_read = kind_of(action) == AuditKind.READ
    waits = settings.CONFIG.hub_audit_wait_for_disk or not is_read or connection.in_atomic_block
    with prepared_cursor() as cursor:
        cursor.execute(_WAITING if waits else _NOT_WAITING, _given(principal, action, resource, details))
    if not is_read:
        note_write(principal.user_id)


def write_read_lines(principal: Principal, action: str, resources: Iterable[str], details: Mapping[str, Any]) -> None:
    """Write a line as :func:`write_line` does for each of some resources that were read: all of them, or none.

    They are sent at once, and wait for the disk once, also with HUB_AUDIT_WAIT_FOR_DISK off. Nothing without resources.
    """
    lines = [_given(principal, action, resource, details) for resource in resources]
    if lines:
        with transaction.atomic(savepoint=False), prepared_cursor() as cursor:
            cursor.executemany(_WAITING, lines)


def _given(principal: Principal, action: str, resource: str, details: Mapping[str, Any]) -> list[Any]:
    """The values of _COLUMNS of a line about the running call, its code among them."""
    call = current_call()
    line = AuditLine(
        at=timezone.now(),
        action=action[:40],
        principal=principal.name[:150],
        user_id=principal.user_id,
        resource=resource[:200],
        details=_bounded(details),
        door=call.door if call else "",
        request_id=call.request_id[:64] if call else "",
        address=call.address if call else None,
        agent=(call.agent or "")[:200] if call else "",
        purpose=call.purpose[:200] if call else "",
        kind=kind_of(action).value,
    )
    given = [getattr(line, name) for name in _COLUMNS[:-1]] + [key_ring().current.code(line.content())]
    given[_DETAILS] = _encoded(line.details)
    return given


def query_facts(text: str) -> dict[str, str]:
    """What a line says of a question, by HUB_AUDIT_QUERIES: its text, a keyed hash of it, or nothing.

    The same question has the same hash, whatever its width and case, as long as the key is the same.
    """
    match settings.CONFIG.hub_audit_queries:
        case "text":
            return {"query": text[:LONGEST_TEXT]}
        case "hash":
            return {"query_hash": hash_of_query(text)}
    return {}


def hash_of_query(text: str) -> str:
    """Give the hash that lines have of a question, 32 characters; it can't be found by trying without the key."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    secret = key_ring().current.secret
    return hmac.digest(secret, b"query " + folded.encode(errors="surrogatepass"), "sha256").hex()[:32]


def _plain(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    """A value as PostgreSQL gives it back from jsonb, which keeps a number and not how it was written."""
    if type(value) in _AS_THEY_ARE:  # before the checks of classes, which cost more: every read writes a line
        return value
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _bounded_text(value: str) -> str:
    text = (
        value if value.isascii() and "\0" not in value else value.replace("\0", "").encode("utf-8", "replace").decode()
    )
    return text[:LONGEST_TEXT] + "…" if len(text) > LONGEST_TEXT else text


@lru_cache(maxsize=1024)
def _address(address: str | None) -> str | None:
    return None if address is None else ip_address(address).packed.hex()


def _bounded(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    if type(value) in _AS_THEY_ARE:
        return _bounded_text(value) if type(value) is str else value
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else list(value)
        more = len(items) - MOST_ITEMS
        return [*map(_bounded, items[:MOST_ITEMS]), *([f"… {more} more"] if more > 0 else [])]
    if isinstance(value, Mapping):
        return {str(key)[:LONGEST_TEXT]: _bounded(inner) for key, inner in value.items()}
    if isinstance(value, str):
        return _bounded_text(value)
    if isinstance(value, float) and not abs(value) < MOST_EXACT:
        return str(value)
    return value
