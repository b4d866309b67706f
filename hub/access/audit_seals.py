"""Seals of the audit trail: batches of complete lines, each chained to the one before it.

Lines are numbered by a sequence when they are written, and appear when their transaction ends: a number may be missing
because its transaction went back, or is still open. A seal says which numbers between its first and its last had no
line (``gaps``). A line that appears in a gap later is sealed in the next batch, among its ``late`` ones, as long as its
gap is younger than ``LONGEST_TRANSACTION``; after that it was put there by somebody. What a seal holds is in
:class:`hub.access.models.AuditSeal`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from django.db import connection, transaction
from django.utils import timezone

from hub.access.audit_keys import KeyRing, key_ring
from hub.access.audit_lines import AuditLine
from hub.access.models import AuditEvent, AuditKind, AuditSeal, AuditSealedLines
from hub.core.lease import try_lock

BATCH = 10_000
LONGEST_TRANSACTION = timedelta(days=1)
LOCK = "audit-trail:seals"
NOTHING_BEFORE = "0" * 64

HASH_BYTES = 16
ENTRY_BYTES = 8 + HASH_BYTES

Ranges: TypeAlias = list[list[int]]

_COLUMNS = (
    "e.id, e.at, e.action, e.principal, e.user_id, e.resource, e.details::text, e.door, e.request_id, host(e.address),"
    " e.agent, e.purpose, e.kind, e.code"
)
_TABLE = AuditEvent._meta.db_table
_FROM = f"SELECT {_COLUMNS} FROM {_TABLE} e WHERE e.id > %s ORDER BY e.id LIMIT %s"  # noqa: S608 (constants)
_WITHIN = f"SELECT {_COLUMNS} FROM {_TABLE} e WHERE e.id BETWEEN %s AND %s ORDER BY e.id"  # noqa: S608
_NAMED = f"SELECT {_COLUMNS} FROM {_TABLE} e WHERE e.id = ANY(%s::bigint[]) ORDER BY e.id"  # noqa: S608
_IN_RANGES = (
    f"SELECT {_COLUMNS} FROM unnest(%s::bigint[], %s::bigint[]) AS gap (first, last) "  # noqa: S608
    f"JOIN {_TABLE} e ON e.id BETWEEN gap.first AND gap.last ORDER BY e.id LIMIT %s"
)


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line as it is in the table, with its number and its code."""

    number: int
    line: AuditLine
    code: str
    content: bytes

    def hash(self) -> bytes:
        """Give what a seal keeps of the line: the first half of the SHA-256 of its number, content and code."""
        parts = (str(self.number).encode(), self.content, self.code.encode())
        return hashlib.sha256(b"\n".join(parts)).digest()[:HASH_BYTES]


def lines_after(number: int, *, most: int) -> list[StoredLine]:
    """Read the first lines with a higher number, in order. One query."""
    return _read(_FROM, [number, most])


def lines_between(first: int, last: int) -> list[StoredLine]:
    """Read the lines of a range of numbers, in order. One query."""
    return _read(_WITHIN, [first, last])


def lines_named(numbers: Iterable[int]) -> list[StoredLine]:
    """Read the lines with these numbers that are there, in order. One query, or none."""
    given = list(numbers)
    return _read(_NAMED, [given]) if given else []


def lines_in(ranges: Sequence[Sequence[int]], *, most: int) -> list[StoredLine]:
    """Read lines in ranges of numbers, in order. One query, or none."""
    if not ranges:
        return []
    return _read(_IN_RANGES, [[first for first, _last in ranges], [last for _first, last in ranges], most])


def _read(sql: str, params: Sequence[Any]) -> list[StoredLine]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [_stored(*row) for row in cursor.fetchall()]


def _stored(number: int, *values: Any) -> StoredLine:  # noqa: ANN401 (the columns of a row)
    at, action, principal, user_id, resource, details, door, request_id, address, agent, purpose, kind, code = values
    line = AuditLine(
        at=at,
        action=action,
        principal=principal,
        user_id=user_id,
        resource=resource,
        details=json.loads(details),
        door=door,
        request_id=request_id,
        address=address,
        agent=agent,
        purpose=purpose,
        kind=kind,
    )
    return StoredLine(number, line, code, line.content())


def seal_lines(*, batch: int = BATCH) -> list[AuditSeal]:
    """Seal every line that is complete now, ``batch`` at a time; gives the new seals.

    One process at a time does it, others give up at once. Each seal is one transaction, so a killed process leaves
    whole seals; nothing is sealed twice, or left out.
    """
    made: list[AuditSeal] = []
    while (seal := _seal_one(batch)) is not None:
        made.append(seal)
        if seal.count < batch:
            break
    return made


def head() -> AuditSeal | None:
    """The newest seal."""
    return AuditSeal.objects.order_by("-number").first()


def _seal_one(batch: int) -> AuditSeal | None:
    with transaction.atomic():
        if not try_lock(LOCK):
            return None
        before = head()
        last = before.last if before else 0
        late = lines_in(_open_gaps(timezone.now() - LONGEST_TRANSACTION), most=batch)
        new = lines_after(last, most=batch)
        if not late and not new:
            return None
        seal, parts = make_seal(before, late, new, now=timezone.now(), ring=key_ring())
        seal.save(force_insert=True)
        rows = [AuditSealedLines(seal=seal, kind=kind, lines=lines) for kind, lines in parts.items()]
        AuditSealedLines.objects.bulk_create(rows)
    return seal


def _open_gaps(since: datetime) -> Ranges:
    """The numbers without a line in seals since then, without those that were sealed late. One query."""
    rows = list(AuditSeal.objects.filter(at__gte=since).order_by("number").values_list("gaps", "late"))
    late = {number for _gaps, numbers in rows for number in numbers}
    return [part for gaps, _late in rows for gap in gaps for part in _without(gap, late)]


def _without(gap: Sequence[int], taken: set[int]) -> Iterator[list[int]]:
    first, last = gap
    for number in sorted(taken & set(range(first, last + 1))) if last - first < BATCH else sorted(taken):
        if first <= number <= last:
            if first < number:
                yield [first, number - 1]
            first = number + 1
    if first <= last:
        yield [first, last]


def make_seal(
    before: AuditSeal | None, late: Sequence[StoredLine], new: Sequence[StoredLine], *, now: datetime, ring: KeyRing
) -> tuple[AuditSeal, dict[str, bytes]]:
    """Make the next seal, which is not stored yet, and what it holds of its lines, by their kind."""
    first = before.last + 1 if before else 1
    last = new[-1].number if new else first - 1
    entries: dict[str, list[bytes]] = {}
    for one in (*late, *new):
        entries.setdefault(one.line.kind, []).append(one.number.to_bytes(8, "big") + one.hash())
    parts = {kind: b"".join(rows) for kind, rows in sorted(entries.items())}
    seal = AuditSeal(
        number=before.number + 1 if before else 1,
        at=now,
        first=first,
        last=last,
        count=len(late) + len(new),
        parts={kind: _part(rows) for kind, rows in parts.items()},
        gaps=gaps_of([one.number for one in new], first=first),
        late=[one.number for one in late],
        previous=before.digest if before else NOTHING_BEFORE,
    )
    seal.digest = digest_of(seal)
    seal.code = ring.current.code(bytes.fromhex(seal.digest))
    return seal, parts


def _part(rows: bytes) -> dict[str, Any]:
    return {"count": len(rows) // ENTRY_BYTES, "digest": hashlib.sha256(rows).hexdigest()}


def gaps_of(numbers: Sequence[int], *, first: int) -> Ranges:
    """The ranges of numbers from ``first`` on that are missing in a rising list.

    >>> gaps_of([3, 4, 7], first=1)
    [[1, 2], [5, 6]]
    """
    found: Ranges = []
    for number in numbers:
        if number > first:
            found.append([first, number - 1])
        first = number + 1
    return found


def digest_of(seal: AuditSeal) -> str:
    """Give the SHA-256 of all that a seal says, in hexadecimal digits."""
    parts: list[object] = [
        *("hub-audit-seal-1", seal.number, seal.at.astimezone(UTC).isoformat(timespec="microseconds")),
        *(seal.first, seal.last, seal.count, seal.parts, seal.gaps, seal.late, seal.previous),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def entries_of(rows: bytes) -> dict[int, bytes]:
    """Read what a seal holds of its lines of one kind: their numbers with their hashes."""
    return {
        int.from_bytes(rows[at : at + 8], "big"): rows[at + 8 : at + ENTRY_BYTES]
        for at in range(0, len(rows), ENTRY_BYTES)
    }


def is_before_the_chain(kind: str) -> bool:
    """Whether lines of a kind were written by a version that gave them no code."""
    return kind == AuditKind.BEFORE.value


def rows_of(seal: AuditSeal) -> Mapping[str, bytes]:
    """What is stored of a seal's lines, by their kind. One query."""
    rows = AuditSealedLines.objects.filter(seal=seal).values_list("kind", "lines")
    return {kind: bytes(lines) for kind, lines in rows}
