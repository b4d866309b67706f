"""As whom a door is opened: as everybody, or as few people as distinguish its right from every other right.

Some right that a door asks for in place of its own lets in somebody else of these few, or keeps one of them out. What
no right of the table would do, such as a door for one person alone, only everybody notices: see ``make test-long``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from zlib import crc32

from tests.access.people import NOBODY, PERSONS
from tests.access.table import Line, every_right, who_has

# The persons as whom a door is opened, in the order of PERSONS.
AskedAs = Callable[[str], tuple[str, ...]]


def everybody(_door: str) -> tuple[str, ...]:
    return PERSONS


def few(table: Mapping[str, Line]) -> AskedAs:
    """Return the function that names those who distinguish a door's rights and those of its page's parts, and one more.

    The one more is another at each door.

    A door that is not in the table is opened as everybody.
    """

    def asked(door: str) -> tuple[str, ...]:
        if door not in table:
            return PERSONS
        lines = [line for line in table.values() if line.door == door or is_part_of(line.door, door)]
        rights = {right for line in lines for right in (line.right, line.shown or line.right)}
        in_turn = PERSONS[crc32(door.encode()) % len(PERSONS)]
        chosen = {NOBODY, "superuser", in_turn}.union(*map(distinguishing, rights))
        return tuple(person for person in PERSONS if person in chosen)

    return asked


def is_part_of(part: str, door: str) -> bool:
    """Whether ``part`` is an action, a filter or a field that the page ``door`` of a model offers."""
    page, _space, model_and_kind = door.partition(" ")
    if page != "page":
        return False
    model, _space, kind = model_and_kind.partition(" ")
    starts = [f"field {model} {kind} "]
    starts += [f"action {model} ", f"filter {model} "] if kind == "list" else []
    return part.startswith(tuple(starts))


@cache
def distinguishing(right: str) -> frozenset[str]:
    """Return few persons among whom other ones have ``right`` than have any other right of the table."""
    mine = who_has(right)
    left = [mine ^ other for other in map(who_has, every_right()) if other != mine]
    chosen: set[str] = set()
    while left:
        best = max(PERSONS, key=lambda person: sum(person in difference for difference in left))
        chosen.add(best)
        left = [difference for difference in left if best not in difference]
    return frozenset(chosen)
