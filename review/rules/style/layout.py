"""Headings and lists: where no full stop belongs, and where all or none have one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.core.texts import Text
from review.rules.style.base import Params, text_rule, unit_rule
from review.rules.style.places import Mark
from review.rules.style.reading import Unit, UnitKind

_FULL_STOP = re.compile("[。．｡]\\s*$")
_MIN_ITEMS = 2


@unit_rule(
    id="style.heading_stop",
    title=Text(ja="見出しの句点", en="Full stop in a heading"),
    looks_at=Text(ja="見出しの末尾の句点", en="a full stop at the end of a heading"),
    message=Text(ja="見出しの文末に句点を付けません。", en="No full stop at the end of a heading."),
    kinds=(UnitKind.HEADING,),
)
def heading_stop(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a heading's final full stop."""
    match = _FULL_STOP.search(unit.plain)
    if match:
        yield Mark(match.start(), match.start() + 1, "")


@text_rule(
    id="style.list_stop",
    title=Text(ja="箇条書きの句点の不統一", en="Full stops in a list"),
    looks_at=Text(
        ja="一まとまりの箇条書きで、文末の句点の有無が混在したもの",
        en="a list in which only some items end in a full stop",
    ),
    message=Text(ja="箇条書きの文末の句点の有無をそろえます。", en="End all items of a list in a full stop, or none."),
    kinds=(UnitKind.LIST,),
)
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
