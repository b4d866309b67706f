"""The content of a check item and of a whole master, and what differs between two of them. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

TEXT_FIELDS = (
    "category",
    "name_ja",
    "name_en",
    "description_ja",
    "description_en",
    "check_type",
    "strategy",
    "priority",
    "guideline_reference",
)
LIST_CRITERIA = ("rules", "required_elements", "patterns", "terms")
TEXT_CRITERIA = ("prompt", "expected_format", "rubric")
CRITERIA_FIELDS = (*LIST_CRITERIA, *TEXT_CRITERIA, "threshold")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemContent:
    """All that a version of a check item says. ``criteria`` as in the model; empty values count as absent."""

    code: str
    category: str = ""
    name_ja: str = ""
    name_en: str = ""
    description_ja: str = ""
    description_en: str = ""
    check_type: str = ""
    strategy: str = ""
    priority: str = "medium"
    guideline_reference: str = ""
    criteria: Mapping[str, Any] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """Return every field that can differ, those of the criteria as ``criteria.rules`` and so on."""
        own = {name: getattr(self, name) for name in TEXT_FIELDS}
        names = (*CRITERIA_FIELDS, *sorted(set(self.criteria) - set(CRITERIA_FIELDS)))
        return own | {f"criteria.{name}": _plain(name, self.criteria.get(name)) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    field: str
    old: Any
    new: Any


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """What became of one item. ``fields`` holds each changed field; positions count from 1."""

    code: str
    name: str
    kind: ChangeKind
    fields: tuple[FieldChange, ...] = ()
    old_position: int | None = None
    new_position: int | None = None


def field_changes(old: ItemContent, new: ItemContent) -> tuple[FieldChange, ...]:
    """Return what differs, field by field, in the order of the model."""
    before, after = old.values(), new.values()
    return tuple(
        FieldChange(field=name, old=before.get(name), new=after.get(name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def diff_masters(old: Sequence[ItemContent], new: Sequence[ItemContent]) -> tuple[ItemChange, ...]:
    """Return what became of each item: those of the new list in its order, then the removed ones.

    No item has moved whose number stays. Of the others, those that now stand on another side of such an item have, and
    those outside the longest run of items that keep their order.
    """
    before = {item.code: (position, item) for position, item in enumerate(old, 1)}
    places = [(before[item.code][0], position) for position, item in enumerate(new, 1) if item.code in before]
    steady = set(_longest_rising(_beside_fixed(places)))
    moved = {new[position - 1].code for _old, position in set(places) - steady}
    changes = list(_changes(before, new, moved))
    gone = set(before) - {item.code for item in new}
    return (
        *changes,
        *(
            ItemChange(code=item.code, name=item.name_ja, kind=ChangeKind.REMOVED, old_position=before[item.code][0])
            for item in old
            if item.code in gone
        ),
    )


def _changes(
    before: Mapping[str, tuple[int, ItemContent]], new: Sequence[ItemContent], moved: set[str]
) -> Iterator[ItemChange]:
    for position, item in enumerate(new, 1):
        if item.code not in before:
            yield ItemChange(code=item.code, name=item.name_ja, kind=ChangeKind.ADDED, new_position=position)
            continue
        old_position, old = before[item.code]
        fields = field_changes(old, item)
        if not fields and item.code not in moved:
            continue
        yield ItemChange(
            code=item.code,
            name=item.name_ja,
            kind=ChangeKind.CHANGED if fields else ChangeKind.MOVED,
            fields=fields,
            old_position=old_position,
            new_position=position,
        )


Place = tuple[int, int]
"""Where an item stands in the old list and in the new one, from 1."""


def _beside_fixed(places: Sequence[Place]) -> list[Place]:
    """Return the places of items whose number stays, and those on the same side of every such item in both lists."""
    fixed = [old for old, new in places if old == new]
    return [(old, new) for old, new in places if bisect_left(fixed, old) == bisect_left(fixed, new)]


def _longest_rising(places: Sequence[Place]) -> list[Place]:
    """Return a longest run of places, which come in the order of the new list, whose old ones rise, too.

    Quadratic, for lists of some hundred.
    """
    runs: list[list[Place]] = []
    for place in places:
        before = max((run for run in runs if run[-1][0] < place[0]), key=len, default=[])
        runs.append([*before, place])
    return max(runs, key=len, default=[])


def _plain(name: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Fold what means the same: absent and empty, a rule without and with empty params."""
    if value in (None, "", [], {}, ()):
        return None
    if name == "rules":
        return [{"rule_id": each.get("rule_id"), "params": each.get("params") or {}} for each in value]
    return value
