"""Records in files: one JSON-lines file per kind of answer, one line per item; and how two of them differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

SHOWN = 5
_MISSING = object()


def write_kind(folder: Path, kind: str, answers: Iterable[tuple[str, Any]]) -> int:
    """Write ``kind``.jsonl, sorted by key; gives the number of items. Raises ValueError for a key that comes twice."""
    lines: dict[str, str] = {}
    for key, answer in answers:
        if key in lines:
            raise ValueError(f"{kind}: two answers have the key {key!r}")
        lines[key] = json.dumps({"key": key, "answer": answer}, ensure_ascii=False)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{kind}.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f"{lines[key]}\n" for key in sorted(lines))
    return len(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How the items of one kind differ; ``changed`` has the place and both values of the first difference by key."""

    kind: str
    same: int
    changed: Mapping[str, str]
    gone: list[str]
    new: list[str]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.changed or self.gone or self.new)


def compare(folder: Path, other: Path) -> Iterator[Difference]:
    """Compare two records, kind by kind. Lines are compared as they are written, the order of fields included."""
    kinds = {path.stem for place in (folder, other) for path in place.glob("*.jsonl")}
    for kind in sorted(kinds):
        before, after = _lines(folder / f"{kind}.jsonl"), _lines(other / f"{kind}.jsonl")
        common = sorted(before.keys() & after.keys())
        changed = {key: _first_difference(before[key], after[key]) for key in common if before[key] != after[key]}
        yield Difference(
            kind=kind,
            same=len(common) - len(changed),
            changed=changed,
            gone=sorted(before.keys() - after.keys()),
            new=sorted(after.keys() - before.keys()),
        )


def report(differences: Iterable[Difference]) -> bool:
    """Print what differs; gives whether anything does."""
    is_different = False
    for one in differences:
        is_different |= bool(one)
        counts = f"{one.same:7} same{len(one.changed):7} changed{len(one.gone):7} gone{len(one.new):7} new"
        print(f"{one.kind:22}{counts}")
        for key, where in list(one.changed.items())[:SHOWN]:
            print(f"    changed {key}\n            {where}")
        for word, keys in (("gone", one.gone), ("new", one.new)):
            for key in keys[:SHOWN]:
                print(f"    {word:7} {key}")
    return is_different


def _lines(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        return {json.loads(line)["key"]: line for line in file}


def _first_difference(before: str, after: str) -> str:
    found = _differences(json.loads(before)["answer"], json.loads(after)["answer"], "$")
    return next(found, "$: the same values, written otherwise")


def _differences(before: Any, after: Any, path: str) -> Iterator[str]:
    """Find where two answers differ, as JSON paths with both values; in the order of fields where all else is equal."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from _differences(before.get(name, _MISSING), after.get(name, _MISSING), f"{path}.{name}")
        if list(before) != list(after):
            yield f"{path}: the order of fields"
    elif isinstance(before, list) and isinstance(after, list):
        for index, (one, two) in enumerate(zip_longest(before, after, fillvalue=_MISSING)):
            yield from _differences(one, two, f"{path}[{index}]")
    elif before != after or type(before) is not type(after):
        yield f"{path}: {_shown(before)} → {_shown(after)}"


def _shown(value: Any) -> str:
    text = "nothing" if value is _MISSING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]}…"
