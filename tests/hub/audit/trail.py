"""Lines to seal, and people who change what was sealed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from hub.access.audit_seals import seal_lines
from hub.access.audit_verification import Anchor, Verification, verify_trail
from hub.access.models import AuditEvent, AuditSeal
from hub.access.principals import local_operator
from hub.access.services import record_event
from hub.core.context import CallContext, call_context

ACTIONS = ("DOCUMENT_READ", "SEARCH", "DOCUMENT_CHANGE", "LOGIN", "DOCUMENT_UPLOAD", "TOKEN_CREATE")
CALL = CallContext(
    door="rest", request_id="req_1", address="192.0.2.7", agent="Mozilla/5.0 監査", purpose="四半期の監査"
)


def write(count: int, *, first: int = 0) -> list[int]:
    """Write lines of every kind; gives their numbers."""
    newest = AuditEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    with call_context(CALL):
        for number in range(first, first + count):
            facts: dict[str, object] = {"number": number, "score": number / 7, "words": ["予約", "=1+1"], "whole": 3.0}
            record_event(local_operator(), ACTIONS[number % len(ACTIONS)], f"document:doc_{number}", **facts)
    return list(AuditEvent.objects.filter(pk__gt=newest).order_by("pk").values_list("pk", flat=True))


def sealed(count: int, *, batch: int = 5) -> list[int]:
    numbers = write(count)
    seal_lines(batch=batch)
    seal_lines(batch=batch)
    return numbers


def anchor() -> Anchor:
    """What a note outside says of the newest seal."""
    newest = AuditSeal.objects.latest("number")
    return Anchor(number=newest.number, digest=newest.digest, where="/elsewhere")


def run(sql: str, *params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def taken_back() -> Iterator[None]:
    """Undo what the block did."""
    point = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(point)


def found_after(sql: str, *params: Any, anchors: tuple[Anchor, ...] = ()) -> Verification:
    """Verify after a change that is taken back."""
    with taken_back():
        run(sql, *params)
        return verify_trail(anchors)


def flipped_json(text: str, chance: random.Random) -> str:
    """A JSON text with one character changed that is JSON still, and says something else."""
    while True:
        try:
            changed = flipped(text, chance)
            if json.loads(changed) != json.loads(text):
                return changed
        except ValueError:
            continue


def flipped(text: str, chance: random.Random) -> str:
    """A text with one character changed, or one more where there was none."""
    if not text:
        return "x"
    at = chance.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]
