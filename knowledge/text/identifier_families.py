"""Identifiers as a document has them: single mentions, and families with one prefix."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from knowledge.text.tables import Row, Table


class Role(StrEnum):
    """What a family of identifiers is for: see ``roles`` in ``knowledge/data/identifiers.json``."""

    TEST = "test"
    REGISTER = "register"
    DOWNSTREAM = "downstream"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One identifier at one place. An id inside a range such as FR-010〜FR-014 has the range's span."""

    id: str
    start: int
    end: int
    defines: bool = False
    in_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """All mentions of identifiers with one prefix, in document order, and what the family is for."""

    prefix: str
    mentions: tuple[Mention, ...]
    role: Role

    @property
    def definitions(self) -> tuple[Mention, ...]:
        return tuple(mention for mention in self.mentions if mention.defines)

    @property
    def defined(self) -> dict[str, list[Mention]]:
        """The defined identifiers, each with its definitions, in document order."""
        found: dict[str, list[Mention]] = {}
        for mention in self.definitions:
            found.setdefault(mention.id, []).append(mention)
        return found

    @property
    def references(self) -> dict[str, list[Mention]]:
        """The identifiers referred to, each with the places, in document order."""
        found: dict[str, list[Mention]] = {}
        for mention in self.mentions:
            if not mention.defines:
                found.setdefault(mention.id, []).append(mention)
        return found


def rows_with(families: tuple[Family, ...], tables: tuple[Table, ...]) -> Iterator[tuple[Table, Row, list[Mention]]]:
    """Yield each table row that holds identifiers, with its mentions in document order."""
    mentions = sorted((m for family in families for m in family.mentions), key=lambda m: (m.start, m.id))
    starts = [mention.start for mention in mentions]
    for table in tables:
        for row in table.rows:
            held = mentions[bisect_right(starts, row.start - 1) : bisect_right(starts, row.end - 1)]
            if held:
                yield table, row, held
