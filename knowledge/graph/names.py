"""How names are compared: one key per name, and names found in a text at their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowledge.text.folding import fold_each, fold_name, narrow

_WORD = re.compile(r"[A-Za-z0-9\u3005\u30a0-\u30ff\u4e00-\u9fff]")
# What may follow a name directly and still leaves it a name of its own: 要件定義書第3章, 要件定義書等.
_MAY_FOLLOW = frozenset("第版等内上中側各別及並又参")
# GL-3.2 is not named by GL-3.2.1.
_NUMBER_GOES_ON = re.compile(r"[.\-][0-9]")
MAX_KEY = 300
SHORTEST_NAME = 4


def name_key(name: str) -> str:
    """Return what a name is compared by: `fold_name` of it, cut to MAX_KEY characters.

    >>> name_key("ＦＲ－００１"), name_key("サーバー"), name_key("サーバ")
    ('fr-001', 'サーバー', 'サーバ')
    """
    return fold_name(name)[:MAX_KEY]


def keys_of(names: Iterable[str]) -> list[str]:
    """Return the keys of several names, none twice, empty ones left out."""
    return list(dict.fromkeys(key for key in map(name_key, names) if key))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownName:
    """A name to look for in texts, and the node that it names."""

    key: str
    node_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePlace:
    """A node named at ``[start, end)`` of a text."""

    node_id: str
    start: int
    end: int


def find_names(text: str, names: Iterable[KnownName]) -> list[NamePlace]:
    """Find where a text names nodes, in its order; where names overlap, the longest counts.

    Names of fewer than four characters are left out: they would be found everywhere. A name inside a longer compound
    (要件定義書 in 業務要件定義書) is not that name.
    """
    folded = fold_each(narrow(text))
    taken = bytearray(len(folded))
    found: list[NamePlace] = []
    for name in sorted(set(names), key=lambda one: (-len(one.key), one.key, one.node_id)):
        if len(name.key) < SHORTEST_NAME:
            break
        for start in _occurrences(folded, name.key):
            end = start + len(name.key)
            if not any(taken[start:end]):
                taken[start:end] = b"\x01" * (end - start)
                found.append(NamePlace(node_id=name.node_id, start=start, end=end))
    return sorted(found, key=lambda place: place.start)


def _occurrences(folded: str, key: str) -> Iterator[int]:
    start = folded.find(key)
    while start >= 0:
        if _stands_alone(folded, start, start + len(key)):
            yield start
        start = folded.find(key, start + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if _WORD.match(before) and _WORD.match(text[start]):
        return False
    if text[end - 1].isdigit() and _NUMBER_GOES_ON.match(text, end):
        return False
    return not (_WORD.match(after) and _WORD.match(text[end - 1]) and after not in _MAY_FOLLOW)
