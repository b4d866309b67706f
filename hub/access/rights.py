"""Whether a caller still has the rights that they had: asked before anything that was kept for them is given again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain

from hub.access.principals import ALL_SCOPES, Classification, Principal

RightsSource = Callable[[Principal], Iterable[str]]
HiddenAmong = Callable[[Principal, set[str]], bool]

_sources: list[RightsSource] = []
_hidden_among: dict[str, HiddenAmong] = {}
_ID = re.compile(rb"\b([a-z]{3})_[0-9a-z]{20}\b")


def count_rights_of(source: RightsSource) -> None:
    """Have ``source`` asked for rights that a principal does not carry itself. Repeatable.

    This is how apps above this one bring in the grants that they keep.
    """
    if source not in _sources:
        _sources.append(source)


def ask_for_ids(prefix: str, hidden_among: HiddenAmong) -> None:
    """Have ``hidden_among`` asked whether some of the ids with this prefix are there and hidden from a person."""
    _hidden_among[prefix] = hidden_among


def rights_of(principal: Principal) -> set[str]:
    """All that a caller may do, as single facts: who has more rights has more of them. One query for each source."""
    own = (
        (f"scope {scope}" for scope in principal.scopes),
        (f"up to {level.short}" for level in Classification if level <= principal.ceiling),
        (f"group {key}" for key in principal.group_ids),
        (f"role {role}" for role in principal.hub_roles),
        ("superuser",) if principal.is_superuser else (),
    )
    return {*chain.from_iterable(own), *chain.from_iterable(source(principal) for source in _sources)}


def sees_all_named(principal: Principal, content: bytes) -> bool:
    """Whether nothing that a text names by its id is hidden from the person. What is gone is not hidden.

    The call's scopes do not matter. One query for each kind of thing that is named.
    """
    named: dict[str, set[str]] = {}
    for found in _ID.finditer(content):
        named.setdefault(found[1].decode(), set()).add(found[0].decode())
    person = replace(principal, scopes=ALL_SCOPES)
    return not any(
        hidden_among(person, named[prefix]) for prefix, hidden_among in _hidden_among.items() if prefix in named
    )
