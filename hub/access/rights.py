"""Whether a caller still has the rights that they had: asked before anything that was kept for them is given again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain

from hub.access.principals import ALL_SCOPES, Classification, Principal
from hub.core.extensions import ExtensionPoint

HiddenAmong = Callable[[Principal, set[str]], bool]

RIGHTS = ExtensionPoint[Callable[[Principal], Iterable[str]]]()
"""The rights that a principal does not carry itself, as :func:`rights_of` states them: the grants that an app keeps."""
HIDDEN_IDS = ExtensionPoint[tuple[str, HiddenAmong]]()
"""The prefix of an app's ids, and whether some such ids exist and are hidden from a person."""

_ID = re.compile(rb"\b([a-z]{3})_[0-9a-z]{20}\b")


def rights_of(principal: Principal) -> set[str]:
    """All that a caller may do, as single facts: who has more rights has more of them. One query for each source."""
    own = (
        (f"scope {scope}" for scope in principal.scopes),
        (f"up to {level.short}" for level in Classification if level <= principal.ceiling),
        (f"group {key}" for key in principal.group_ids),
        (f"role {role}" for role in principal.hub_roles),
        ("superuser",) if principal.is_superuser else (),
    )
    return {*chain.from_iterable(own), *chain.from_iterable(source(principal) for source in RIGHTS)}


def sees_all_named(principal: Principal, content: bytes) -> bool:
    """Whether nothing that a text names by its id is hidden from the person. What is gone is not hidden.

    The call's scopes do not matter. One query for each kind of thing that is named.
    """
    named: dict[str, set[str]] = {}
    for found in _ID.finditer(content):
        named.setdefault(found[1].decode(), set()).add(found[0].decode())
    person = replace(principal, scopes=ALL_SCOPES)
    return not any(hidden_among(person, named[prefix]) for prefix, hidden_among in HIDDEN_IDS if prefix in named)
