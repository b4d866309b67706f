"""Headings and lists: where no full stop belongs, and where all or none have one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review.rules.style.base import Mark, Params, text_rule, unit_rule
from review.rules.style.reading import Unit, UnitKind

_FULL_STOP = re.compile("[。．｡]\\s*$")
_MIN_ITEMS = 2


@unit_rule("style.heading_stop", kinds=(UnitKind.HEADING,))
def heading_stop(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a heading's final full stop."""
    match = _FULL_STOP.search(unit.plain)
    if match:
        yield Mark(match.start(), match.start() + 1, "")


@text_rule("style.list_stop", kinds=(UnitKind.LIST,))
def list_stop(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark the items of a list that differ from its majority; a tie asks for full stops."""
    groups: dict[int, list[Unit]] = {}
    for unit in units:
        last = len(unit.plain.rstrip()) - 1
        if unit.is_japanese and not unit.is_named(last, last + 1):
            groups.setdefault(unit.group, []).append(unit)
    for items in groups.values():
        if len(items) >= _MIN_ITEMS:
            yield from _differing(items)


def _differing(items: list[Unit]) -> Iterator[tuple[Unit, Mark]]:
    stopped = [bool(_FULL_STOP.search(item.plain)) for item in items]
    wanted = 2 * sum(stopped) >= len(items)
    if all(stopped) or not any(stopped):
        return
    for item, has_stop in zip(items, stopped, strict=True):
        if has_stop != wanted:
            end = len(item.plain.rstrip())
            yield item, Mark(end - 1, end, "" if has_stop else f"{item.plain[end - 1]}。")
