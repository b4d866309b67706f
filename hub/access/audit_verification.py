"""Whether the audit trail is as it was written: every line, every seal, and what was noted of them outside."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from hub.access.audit_keys import KeyRing, key_ring
from hub.access.audit_seals import (
    BATCH,
    LONGEST_TRANSACTION,
    NOTHING_BEFORE,
    StoredLine,
    digest_of,
    entries_of,
    is_before_the_chain,
    lines_after,
    lines_between,
    lines_named,
    rows_of,
)
from hub.access.models import AuditEvent, AuditSeal

REMOVAL = "AUDIT_REMOVE"
MOST_PROBLEMS = 20
UNSEALED_TOO_LONG = timedelta(minutes=15)
# Processes of the version before may still write while the first ones of this version do.
UPGRADE = timedelta(days=1)

_COPIES = (
    f"SELECT min(id), max(id) FROM {AuditEvent._meta.db_table} "  # noqa: S608 (constants)
    "WHERE code <> '' GROUP BY code HAVING count(*) > 1 ORDER BY 2 LIMIT %s"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong at a line or at a seal, by their numbers; ``where`` names an anchor outside."""

    text: str
    line: int | None = None
    seal: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else f"seal {self.seal}: " if self.seal else ""
        return place + self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What was noted outside of the database: the number and the digest of a seal, and where."""

    number: int
    digest: str
    where: str


@dataclass(slots=True)
class Verification:
    """What was looked at, and what is wrong, the first of each; ``problems`` has at most MOST_PROBLEMS."""

    seals: int = 0
    lines: int = 0
    before: int = 0
    unsealed: int = 0
    removed: dict[str, int] = field(default_factory=dict)
    anchors: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def first(self) -> Problem | None:
        """The problem at the lowest line; one that is at no line comes after those that are."""
        lowest = min(
            (one for one in self.problems if one.line is not None), key=lambda one: one.line or 0, default=None
        )
        return lowest or next(iter(self.problems), None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify_trail(
    anchors: Sequence[Anchor] = (), *, progress: Callable[[int], None] | None = None, ring: KeyRing | None = None
) -> Verification:
    """Compare every line with its code and with its seal, every seal with the one before it, and anchors with seals.

    As the database is at one moment; ``progress`` gets the number of lines that were looked at. What the transactions
    of others add meanwhile is left for the next time. Two or three queries for each seal.
    """
    nested = connection.in_atomic_block
    with transaction.atomic():
        if not nested:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        work = _Verifier(ring or key_ring(), progress or (lambda _lines: None))
        work.run(anchors)
    return work.found


class _Verifier:
    def __init__(self, ring: KeyRing, progress: Callable[[int], None]) -> None:
        self.found = Verification()
        self._ring = ring
        self._progress = progress
        self._removed = _removals(ring)
        self._chain_begins: datetime | None = None
        self._stray: dict[int, StoredLine] = {}
        self._recent_gaps: list[Sequence[int]] = []
        self._newest_before: datetime | None = None
        self._newest_here: datetime | None = None

    def run(self, anchors: Sequence[Anchor]) -> None:
        previous: AuditSeal | None = None
        noted: dict[int, list[Anchor]] = {}
        for anchor in anchors:
            noted.setdefault(anchor.number, []).append(anchor)
        self.found.anchors = len(anchors)
        for seal in AuditSeal.objects.order_by("number").iterator(chunk_size=100):
            self._seal(seal, previous)
            self._compare_anchors(seal, noted.pop(seal.number, ()))
            previous = seal
            self._newest_before = max(filter(None, (self._newest_before, self._newest_here)), default=None)
            self._progress(self.found.lines)
        for number, missing in sorted(noted.items()):
            text = f"it was noted in {missing[0].where}, and is gone: the trail's end was cut"
            self._say(Problem(seal=number, text=text))
        self._strays()
        self._unsealed(previous)
        self._copies()

    def _say(self, problem: Problem) -> None:
        if len(self.found.problems) < MOST_PROBLEMS:
            self.found.problems.append(problem)

    def _seal(self, seal: AuditSeal, previous: AuditSeal | None) -> None:
        self.found.seals += 1
        self._chain(seal, previous)
        stored = rows_of(seal)
        expected: dict[int, bytes] = {}
        removed: set[str] = set()
        for kind, part in seal.parts.items():
            if kind not in stored and seal.number <= self._removed.get(kind, 0):
                removed.add(kind)
                self.found.removed[kind] = self.found.removed.get(kind, 0) + int(part["count"])
                continue
            if kind not in stored:
                self._say(Problem(seal=seal.number, text=f"what it holds of its lines ({kind or 'old'}) is gone"))
                continue
            if hashlib.sha256(stored[kind]).hexdigest() != part["digest"]:
                self._say(Problem(seal=seal.number, text=f"what it holds of its lines ({kind or 'old'}) was changed"))
            expected |= entries_of(stored[kind])
        for kind in stored.keys() - seal.parts.keys():
            self._say(Problem(seal=seal.number, text=f"it says nothing of lines of the kind {kind!r}, and holds some"))
        self._lines(seal, expected)

    def _chain(self, seal: AuditSeal, previous: AuditSeal | None) -> None:
        number = previous.number + 1 if previous else 1
        if seal.number != number:
            gone = str(number) if seal.number == number + 1 else f"{number} to {seal.number - 1}"
            self._say(Problem(seal=seal.number, line=previous.last + 1 if previous else 1, text=f"seal {gone} is gone"))
        elif seal.previous != (previous.digest if previous else NOTHING_BEFORE):
            self._say(Problem(seal=seal.number, text="it was not made after the seal that is before it"))
        if seal.digest != digest_of(seal):
            self._say(Problem(seal=seal.number, text="it was changed"))
        elif not self._ring.knows(seal.code):
            text = f"it was made with a key that is not here ({seal.code[:8]}): sealed anew by somebody, or "
            self._say(Problem(seal=seal.number, text=text + "HUB_AUDIT_OLD_KEYS lacks a key of before"))
        elif not self._ring.proves(seal.code, bytes.fromhex(seal.digest)):
            self._say(Problem(seal=seal.number, text="its code is wrong: it was made without the hub's key"))
        if seal.at >= timezone.now() - LONGEST_TRANSACTION:
            self._recent_gaps += seal.gaps

    def _lines(self, seal: AuditSeal, expected: Mapping[int, bytes]) -> None:
        late = [number for number in seal.late if number < seal.first]
        there = {one.number: one for one in lines_between(seal.first, seal.last)}
        strays = there.keys() - expected.keys()
        self._stray |= {number: there.pop(number) for number in strays}
        for one in lines_named(late):
            self._stray.pop(one.number, None)
            if one.number in expected:
                there[one.number] = one
        for number, hashed in sorted(expected.items()):
            line = there.get(number)
            if line is None:
                self._say(Problem(line=number, seal=seal.number, text="it is gone"))
                continue
            self.found.lines += 1
            if line.hash() != hashed:
                is_another = line.code and self._ring.proves(line.code, line.content)
                text = "another line is in its place" if is_another else "it was changed"
                self._say(Problem(line=number, seal=seal.number, text=text))
            else:
                self._code(line, seal.at)

    def _code(self, line: StoredLine, seen: datetime) -> None:
        if line.code:
            self._chain_begins = self._chain_begins or seen
            if is_before_the_chain(line.line.kind):
                self._say(Problem(line=line.number, text="it has a code and is of no kind"))
            elif not self._ring.knows(line.code):
                text = f"its code is of a key that is not here ({line.code[:8]}): HUB_AUDIT_OLD_KEYS"
                self._say(Problem(line=line.number, text=text))
            elif not self._ring.proves(line.code, line.content):
                self._say(Problem(line=line.number, text="its code is wrong: changed, or not written by the hub"))
            else:
                self._time(line)
        elif is_before_the_chain(line.line.kind) and (
            self._chain_begins is None or seen < self._chain_begins + UPGRADE
        ):
            self.found.before += 1
        else:
            self._say(Problem(line=line.number, text="it has no code: it was not written by the hub"))

    def _time(self, line: StoredLine) -> None:
        """Numbers are given when lines are written: one that is much older than those before it was written again."""
        at = line.line.at
        if self._newest_before is not None and at < self._newest_before - LONGEST_TRANSACTION:
            text = (
                f"it is of {at.isoformat(timespec='seconds')}, lines before it are a day younger: it was put in again"
            )
            self._say(Problem(line=line.number, text=text))
        self._newest_here = max(self._newest_here or at, at)

    def _copies(self) -> None:
        """Lines with the code of an earlier one: a code is of one line, its time included. One query."""
        with connection.cursor() as cursor:
            cursor.execute(_COPIES, [MOST_PROBLEMS])
            for first, number in cursor.fetchall():
                self._say(Problem(line=number, text=f"it is a copy of line {first}"))

    def _strays(self) -> None:
        """Lines among sealed ones that are in no seal: of a transaction that ended since, or put there."""
        for number, line in sorted(self._stray.items()):
            if any(first <= number <= last for first, last in self._recent_gaps):
                self._count_unsealed(line)
            else:
                self._say(Problem(line=number, text="it was put among lines that were sealed before"))

    def _unsealed(self, newest: AuditSeal | None) -> None:
        last = newest.last if newest else 0
        oldest: datetime | None = None
        while lines := lines_after(last, most=BATCH):
            for line in lines:
                self._count_unsealed(line)
            oldest = min(oldest or lines[0].line.at, *(one.line.at for one in lines), timezone.now())
            last = lines[-1].number
            self._progress(self.found.lines + self.found.unsealed)
        if oldest is not None and oldest < timezone.now() - UNSEALED_TOO_LONG:
            text = f"lines wait to be sealed since {oldest.isoformat(timespec='seconds')}: is a worker running?"
            self._say(Problem(text=text))

    def _count_unsealed(self, line: StoredLine) -> None:
        self.found.unsealed += 1
        self._code(line, timezone.now())

    def _compare_anchors(self, seal: AuditSeal, anchors: Sequence[Anchor]) -> None:
        for anchor in anchors:
            if anchor.digest != seal.digest:
                text = f"{anchor.where} has noted another seal with this number: the trail was sealed anew"
                self._say(Problem(seal=seal.number, line=seal.first, text=text))


def _removals(ring: KeyRing) -> dict[str, int]:
    """Up to which seal the lines of each kind were removed, as lines of the trail say whose codes are right."""
    found: dict[str, int] = {}
    removals = AuditEvent.objects.filter(action=REMOVAL).order_by("pk").values_list("pk", flat=True)
    for line in lines_named(removals):
        if ring.proves(line.code, line.content):
            kind, through = str(line.line.details.get("kind")), line.line.details.get("through")
            if isinstance(through, int):
                found[kind] = max(found.get(kind, 0), through)
    return found
