"""Rows to change, of which somebody else has changed some since they were seen: these stay, the rest is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from hub.core.errors import Conflict

CHANGED_MEANWHILE = "changed_meanwhile"
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Generic[Row]):
    """The rows that are changed, and of each that is not since somebody else was faster, who that was."""

    rows: Sequence[Row]
    overtaken: Sequence[Conflict] = ()


class Overtaken(Conflict):
    """Somebody else changed every row that was to be changed; it reads as the first of them does."""

    def __init__(self, each: Sequence[Conflict]) -> None:
        super().__init__(each[0].message, code=CHANGED_MEANWHILE, **each[0].data)
        self.each = each


def split_overtaken(rows: Iterable[Row], conflict_of: Callable[[Row], Conflict | None]) -> Changed[Row]:
    """Return the rows that are as they were seen, and the conflicts of the others, each in the order given.

    Raises Overtaken where none is left.
    """
    kept, overtaken = list[Row](), list[Conflict]()
    for row in rows:
        conflict = conflict_of(row)
        if conflict is None:
            kept.append(row)
        else:
            overtaken.append(conflict)
    if overtaken and not kept:
        raise Overtaken(overtaken)
    return Changed(rows=kept, overtaken=overtaken)
