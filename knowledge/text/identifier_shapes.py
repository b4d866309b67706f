"""What identifiers look like (the common shape FR-001, and a document's own schemes), and families with one prefix."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from hub.core.patterns import StoredMatch
from knowledge.text.tables import Row, Table

_DATA_FILE = Path(__file__).resolve().parent.parent / "data" / "identifiers.json"
COMMON = re.compile(r"(?<![A-Za-z0-9_./#\-])[A-Z]{1,6}(?:-[A-Z]{1,6}){0,2}-\d{2,5}(?![A-Za-z0-9_]|-\d|\.\d)")
# What a document may use for identifiers of its own: REQ_01, FR-1, NFR.1.2, UC01, 要件-3, 機1-2.
_OWN = re.compile(
    r"(?P<letters>[A-Z]{1,6}(?:[-_][A-Z]{1,6}){0,2}|[一-龯ァ-ヴー]{1,6})(?P<mark>[-_.]?)"
    r"(?P<groups>(?:\d{1,3}[-_.])*)(?P<digits>\d{1,5})"
)
_PARTS = re.compile(r"(?P<prefix>.*?)[-_.]?(?P<digits>\d+)")
_RANGE_MARK = re.compile(r"\s*(?:〜|~|～|から|–|—|\.\.|…)\s*")
_RANGE_DIGITS = re.compile(r"\d{1,5}(?!\d)")
_ERA_OR_VERSION = re.compile(r"[HRSTV]\d{1,3}\.")
# Q1 and A1 are a question and its answer, and A.1 a part of annex A; A-1 is an identifier.
_QUESTION_AND_ANSWER = ("Q", "A")
_LONG_NUMBER = 4
_FEWEST = 2
_SHORTEST_JOINED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEnd:
    """What follows an identifier that begins a range: its last number, and where the range ends.

    ``repeats`` says whether the end repeats the prefix (FR-010〜FR-014), so that it is an identifier of its own.
    """

    last: int
    end: int
    repeats: bool


@lru_cache(maxsize=1)
def conventions() -> dict[str, dict[str, list[str] | str]]:
    """Return the shipped conventions about prefixes and roles."""
    data: dict[str, dict[str, list[str] | str]] = json.loads(_DATA_FILE.read_text(encoding="utf-8"))
    return data


def prefix_of(identifier: str) -> str:
    """Return what an identifier's family is named by.

    >>> [prefix_of(name) for name in ("FR-012", "REQ_01", "NFR.1.2", "UC01", "機1-2")]
    ['FR', 'REQ', 'NFR.1', 'UC', '機1']
    """
    found = _PARTS.fullmatch(identifier)
    return found["prefix"] if found else identifier


def digits_of(identifier: str) -> str:
    found = _PARTS.fullmatch(identifier)
    return found["digits"] if found else ""


def number_of(identifier: str) -> int:
    return int(digits_of(identifier))


def renumbered(identifier: str, number: int) -> str:
    """Return the identifier of the same family and width with another number: FR-013 for FR-012 and 13."""
    digits = digits_of(identifier)
    return f"{identifier.removesuffix(digits)}{number:0{len(digits)}d}"


def shape_with(written: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of identifiers in a document: the common shape, and its own schemes.

    ``written`` is the text where identifiers are defined (id columns, starts of headings). A scheme counts when two
    different members of it are there; figures, editions, dates and names of standards make none.
    """
    members: dict[str, set[str]] = {}
    for name in written:
        found = _OWN.fullmatch(name)
        if found and not COMMON.fullmatch(name) and _is_scheme(found):
            members.setdefault(_scheme(found), set()).add(name)
    own = sorted(scheme for scheme, names in members.items() if len(names) >= _FEWEST)
    return re.compile("|".join([COMMON.pattern, *own]))


def _is_scheme(found: re.Match[str]) -> bool:
    letters = re.split(r"[-_]", found["letters"])[0]
    known = (*conventions()["not_identifiers"]["prefixes"], *conventions()["not_schemes"]["prefixes"])
    marks = found["mark"] + found["groups"]
    is_answer = letters in _QUESTION_AND_ANSWER and not set("-_") & set(marks) and len(found["digits"]) < _LONG_NUMBER
    if letters in known or is_answer or _ERA_OR_VERSION.match(found.group()):
        return False
    joined = not found["mark"] and not found["groups"]
    return not joined or (letters.isascii() and len(found["digits"]) >= _SHORTEST_JOINED)


def _scheme(found: re.Match[str]) -> str:
    groups = "".join(rf"\d{{1,3}}{re.escape(mark)}" for mark in re.findall(r"[-_.]", found["groups"]))
    digits = rf"\d{{{len(found['digits'])}}}" if not found["mark"] and not groups else r"\d{1,5}"
    before = r"(?<![A-Za-z0-9_./#\-])" if found["letters"].isascii() else r"(?<![A-Za-z0-9_一-龯ァ-ヴー])"
    return rf"{before}{re.escape(found['letters'] + found['mark'])}{groups}{digits}(?![A-Za-z0-9_]|[-.]\d)"


def range_end(text: str, identifier: re.Match[str] | StoredMatch) -> RangeEnd | None:
    """Return how a range that begins with the identifier ends (FR-010〜FR-014, FR-010〜014), or None."""
    mark = _RANGE_MARK.match(text, identifier.end())
    if not mark:
        return None
    own = digits_of(identifier.group())
    head = identifier.group().removesuffix(own)
    repeats = text.startswith(head, mark.end())
    digits = _RANGE_DIGITS.match(text, mark.end() + (len(head) if repeats else 0))
    if not digits or len(digits.group()) < min(len(own), _SHORTEST_JOINED):
        return None
    return RangeEnd(last=int(digits.group()), end=digits.end(), repeats=repeats)


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
