"""Numbers of headings that count on their own though nothing stands above them: lists of steps, records in a row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.text.outline import unnumbered_title

Number = tuple[int, ...]
Counted = tuple[Number, str, int]
"""A heading's number, title and level."""

_FEWEST_RECORDS, _NAMED_BY = 3, 2


@dataclass(slots=True)
class _Run:
    """Where a numbering stands: its chapter, the levels of its chapters, the list that counts within a section."""

    chapter: int = 0
    levels: set[int] = field(default_factory=set)
    is_below: bool = False
    listed: int = 0
    list_level: int = 0
    name: str = ""


def own_runs(headings: Sequence[Counted]) -> list[str]:
    """Return for each heading of one numbering the name of the run of its own that it counts in; '' for none.

    Three and more that begin anew with a heading of one name (1. 日時) are records, each with its own numbers. Single
    numbers that begin anew below 5.2.3 are steps of that section, until a longer number follows; a chapter's have
    their own sections below them (1.1) or the level of chapters.
    """
    begins = Counter(_name(title) for number, title, _ in headings if number == (1,))
    run = _Run()
    records: dict[str, int] = defaultdict(int)
    record = ""
    found = []
    for at, (number, title, level) in enumerate(headings):
        if number == (1,) and begins[_name(title)] >= _FEWEST_RECORDS:
            records[_name(title)] += 1
            record, run = f"{_name(title)}{records[_name(title)]}", _Run()
        following = headings[at + 1][0] if at + 1 < len(headings) else ()
        has_parts = len(following) > 1 and following[: len(number)] == number
        found.append(record + _within(run, at, number, level, has_parts=has_parts))
    return found


def _within(run: _Run, at: int, number: Number, level: int, *, has_parts: bool) -> str:
    if len(number) > 1:
        run.chapter, run.is_below, run.listed = number[0], True, 0
        return ""
    count = number[0]
    is_chapter = has_parts or (count == run.chapter + 1 and level in run.levels and level != run.list_level)
    if run.listed and count == run.listed + 1 and not is_chapter:
        run.listed = count
        return run.name
    if run.is_below and not has_parts and count <= run.chapter and (count == 1 or level not in run.levels):
        run.listed, run.list_level, run.name = count, level, f"#{at}"
        return run.name
    run.chapter, run.is_below, run.listed = count, False, 0
    run.levels.add(level)
    return ""


def _name(title: str) -> str:
    return unnumbered_title(title).strip()[:_NAMED_BY]
