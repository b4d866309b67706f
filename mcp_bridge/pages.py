"""Results within a budget: what is too long comes in pages of whole items, and a cursor leads from each to the next.

Counted in characters of compact JSON, as structured content is written; its text is never longer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hub.rest.pagination import cursor_scope, decode_cursor, encode_cursor

# What next_cursor and left_out take.
NOTICE = 900
# A string outside of lists that is longer comes in pieces; a shorter one stands on each page.
LONG = 2_000
# Strings inside of items are cut before lists of theirs, and none below this.
LEAST = 200
PREFIX = "more-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page begins: how much of each list and long string earlier pages gave, and the tool's own cursor."""

    given: Mapping[str, int]
    inner: str | None = None


BEGINNING = Place(given={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a result. ``following`` is where the next one begins; None: all of it has been given.

    ``left_out`` says of how many items, or characters of a string, there are more.
    """

    facts: dict[str, Any]
    left_out: dict[str, int]
    following: dict[str, int] | None


def size_of(value: object) -> int:
    """Characters of compact JSON."""
    return len(dump(value))


def dump(value: object) -> str:
    """Write compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def place_of(cursor: str | None, *, name: str, arguments: Mapping[str, Any]) -> Place:
    """Read where a page begins; a cursor of the tool's own is handed on. Raises InvalidInput for a foreign one."""
    if not cursor or not cursor.startswith(PREFIX):
        return Place(given={}, inner=cursor or None)
    at = decode_cursor(cursor.removeprefix(PREFIX), scope=_scope(name, arguments))
    return Place(given=at["given"], inner=at["inner"])


def cursor_of(place: Place, *, name: str, arguments: Mapping[str, Any]) -> str:
    """Write where a page begins; only the same call of the same tool reads it."""
    at = {"given": dict(place.given), "inner": place.inner}
    return PREFIX + encode_cursor(at, scope=_scope(name, arguments))


def _scope(name: str, arguments: Mapping[str, Any]) -> str:
    return cursor_scope(f"mcp.page.{name}", **arguments)


@dataclass(slots=True)
class _Stream:
    """A list, or a long string, that pages give piece by piece. ``start`` is what earlier pages gave of it."""

    holder: dict[str, Any]
    key: str
    path: str
    whole: Any
    start: int
    taken: int = 0

    @property
    def left(self) -> int:
        return len(self.whole) - self.start - self.taken

    def take(self, count: int) -> None:
        self.taken = count
        self.holder[self.key] = self.whole[self.start : self.start + count]

    def costs(self) -> Iterator[int]:
        """What each further item takes, the comma with it."""
        for item in self.whole[self.start :]:
            yield size_of(item) - 1 if isinstance(self.whole, str) else size_of(item) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Something inside a result that can be cut: where it is held, and the characters that it takes."""

    holder: Any
    key: Any
    path: str
    size: int

    @property
    def held(self) -> Any:  # noqa: ANN401 (any JSON)
        return self.holder[self.key]


def page_of(facts: Mapping[str, Any], budget: int, place: Place = BEGINNING) -> Page:
    """Take what fits into ``budget``, from ``place`` on. What is short stands on each page.

    Lists that are short are given whole, long ones share the rest. One item that is too long by itself is cut inside.
    """
    if not place.given and size_of(facts) <= budget:
        return Page(facts=dict(facts), left_out={}, following=None)
    copy = json.loads(dump(facts))
    streams = list(_streams(copy, "", place.given))
    for stream in streams:
        stream.take(0)
    cut_inside: dict[str, int] = {}
    _shrink(copy, budget - NOTICE, cut_inside)  # what is in no list
    room = budget - NOTICE - size_of(copy)
    unfinished = sorted(
        (stream for stream in streams if len(stream.whole) > stream.start),
        key=lambda stream: size_of(stream.whole[stream.start :]),
    )
    for number, stream in enumerate(unfinished):
        share = room // (len(unfinished) - number)
        count, used = _fitting(stream, share)
        stream.take(count)
        room -= used
    if unfinished and not any(stream.taken for stream in unfinished):
        first = next(stream for stream in streams if len(stream.whole) > stream.start)
        first.take(1)
        _shrink(first.holder[first.key], max(LEAST * 2, room), cut_inside)
    left = {stream.path: stream.left for stream in streams if stream.left}
    given = {stream.path: stream.start + stream.taken for stream in streams}
    return Page(facts=copy, left_out={**cut_inside, **left}, following=given if left else None)


def _fitting(stream: _Stream, share: int) -> tuple[int, int]:
    count = used = 0
    for cost in stream.costs():
        if used + cost > share:
            break
        count, used = count + 1, used + cost
    return count, used


def _streams(value: dict[str, Any], path: str, given: Mapping[str, int]) -> Iterator[_Stream]:
    """Lists, and long strings, that are in no list; those that earlier pages gave in part too."""
    for key, held in value.items():
        where = f"{path}.{key}".lstrip(".")
        if isinstance(held, dict):
            yield from _streams(held, where, given)
        elif isinstance(held, list) or (isinstance(held, str) and (len(held) > LONG or where in given)):
            start = min(given.get(where, 0), len(held))
            yield _Stream(holder=value, key=key, path=where, whole=held, start=start)


def _shrink(value: Any, budget: int, left_out: dict[str, int]) -> None:  # noqa: ANN401 (any JSON)
    """Cut inside of ``value`` until it fits: a string that is most of it, else lists, else objects."""
    while (excess := size_of(value) - budget) > 0:
        parts = list(_parts(value, ""))
        if not parts:
            return
        part = _longest(parts, excess)
        held = part.holder[part.key]
        if isinstance(held, str):
            part.holder[part.key] = cut_text(held, max(LEAST, min(len(held) - excess, len(held) * 3 // 4)))
            lost = len(held) - len(part.holder[part.key])
        else:
            lost = _drop(held, excess)
        left_out[part.path] = left_out.get(part.path, 0) + lost


def _longest(parts: list[_Part], excess: int) -> _Part:
    kinds: tuple[type, ...] = (list, dict, str)
    longest = {
        kind: max((part for part in parts if isinstance(part.held, kind)), key=lambda part: part.size, default=None)
        for kind in kinds
    }
    string = longest[str]
    if string is not None and string.size >= excess // 4:
        return string
    return next(part for part in longest.values() if part is not None)


def _drop(held: list[Any] | dict[str, Any], excess: int) -> int:
    """Drop the last entries; gives how many."""
    dropped = freed = 0
    while len(held) > 1 and freed < excess:
        entry = held.pop() if isinstance(held, list) else held.popitem()
        freed, dropped = freed + size_of(entry) + 1, dropped + 1
    return dropped


def _parts(value: Any, path: str) -> Iterator[_Part]:  # noqa: ANN401 (any JSON)
    """Long strings, and lists and objects of two and more."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in entries:
        where = f"{path}.{key}".lstrip(".") if isinstance(value, dict) else path
        is_long = len(held) > (LEAST if isinstance(held, str) else 1) if isinstance(held, str | list | dict) else False
        if is_long:
            yield _Part(holder=value, key=key, path=where, size=size_of(held))
        if isinstance(held, list | dict):
            yield from _parts(held, where)


def cut_text(text: str, budget: int) -> str:
    """Keep the beginning of a text of more than ``budget`` characters, and say how many are left out."""
    if len(text) <= budget:
        return text
    kept = max(0, budget - 60)
    return f"{text[:kept]}… [{len(text) - kept} characters left out]"
