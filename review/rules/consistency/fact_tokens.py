"""The values of a text with their places: amounts in base units, days and spans of days, times of day."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from knowledge.text.clock_times import find_clock_times
from knowledge.text.dates import DateMention, find_dates
from knowledge.text.folding import fold_each, join_codes, narrow
from review.rules.consistency.quantities import find_amounts

_MOST_TOKENS = 6


class Token(NamedTuple):
    """A value that stands at ``[start, end)``: a number in base units, a day or span of days, a time of day."""

    start: int
    end: int
    kind: str
    dimension: str
    value: str
    bound: str


# 表 2.1 システム機能一覧 numbers a table, and counts no systems.
_CAPTIONED = re.compile(r"(?<![一-龯])(?:図|表|式|写真)[ 　]?$")
_NUMBERED_LABEL = re.compile(r"(?<![一-龯ァ-ヴー])(?P<name>[一-龯ァ-ヴー]{1,12})(?P<number>[0-9]):")
_FIRST_NUMBERS = frozenset("12")
_UNTIL = re.compile(r"\s*+(?:\([月火水木金土日]\))?\s*+(?:~|〜|から|–|—|-)\s*+(?:同年)?")


class Tokens:
    """All values of a text whose language alone is left (`read_prose`), in its order, without overlap."""

    def __init__(self, masked: str) -> None:
        self._every = sorted(_read(masked))
        self._starts = [token.start for token in self._every]

    def within(self, start: int, end: int) -> list[Token]:
        """Return the values of a stretch; none where there are many: a list of values states no single one."""
        at = bisect_left(self._starts, start)
        found: list[Token] = []
        while at < len(self._every) and self._every[at].end <= end and len(found) <= _MOST_TOKENS:
            found.append(self._every[at])
            at += 1
        return found if len(found) <= _MOST_TOKENS else []


def _read(masked: str) -> Iterator[Token]:
    folded = join_codes(fold_each(masked))
    numbers = _numbered_labels(folded)
    times = (
        Token(each.start, each.end, "clock", "clock", f"{each.first}-{each.last or ''}", "")
        for each in find_clock_times(folded)
        if each.start not in numbers
    )
    found = _apart(sorted([*_dates(folded), *times]))
    yield from found
    starts = [token.start for token in found]
    for token in _amounts(narrow(masked)):
        # 4月1日 holds no 1日, and 9時30分 no 30分.
        at = bisect_left(starts, token.end)
        if not (at and found[at - 1].end > token.start):
            yield token


def _numbered_labels(folded: str) -> set[int]:
    """Return where labels of one name have their numbers, 窓口1:08, 窓口2:12: no times of day."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for match in _NUMBERED_LABEL.finditer(folded):
        found[match["name"]][match["number"]].append(match.start("number"))
    numbered = (by_number for by_number in found.values() if by_number.keys() >= _FIRST_NUMBERS)
    return {at for by_number in numbered for places in by_number.values() for at in places}


def _amounts(plain: str) -> Iterator[Token]:
    found: dict[int, Token] = {}
    for start, end, amount in find_amounts(plain):
        if _CAPTIONED.search(plain, max(0, start - 3), start):
            continue
        value = str(amount.value.normalize())
        if start in found:
            found[start] = found[start]._replace(value=f"{value}~{found[start].value}")
        else:
            found[start] = Token(start, end, "number", amount.dimension, value, amount.bound)
    yield from found.values()


def _dates(folded: str) -> Iterator[Token]:
    """Yield days, months, years and spans of days; a business year (年度) is no date of an event."""
    every = [each for each in find_dates(folded) if not folded.startswith("度", each.end)]
    at = 0
    while at < len(every):
        first = every[at]
        at += 1
        value, end = _day_value(first), first.end
        if at < len(every) and _UNTIL.fullmatch(folded, first.end, every[at].start):
            value, end = f"{value}~{_day_value(every[at])}", every[at].end
            at += 1
        yield Token(first.start, end, "date", "date", value, "")


def _day_value(each: DateMention) -> str:
    year, month, day = each.year, each.month, each.day
    return f"{year or '?'}" + ("" if month is None else f"-{month:02}") + ("" if day is None else f"-{day:02}")


def _apart(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    for token in tokens:
        if not found or token.start >= found[-1].end:
            found.append(token)
    return found
