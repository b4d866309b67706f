"""Places in a prompt's text, such as ``{document_id}``: found, checked and filled. Pure.

Not ``str.format``: a curator's text must neither reach into objects nor need its other braces doubled. What stands in
braces on one line is a place, unless it has a quote or a colon in it, as JSON has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

# An argument may be as long as a request; a text that repeats its place multiplies it.
MOST_REPEATS = 3
_PLACE = re.compile(r"""\{([^{}"':\n]*)\}""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The places that a text may have; without the ``required`` ones an argument would be lost."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()

    @property
    def known(self) -> frozenset[str]:
        return self.required | self.optional


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceProblems:
    """What is wrong with a text's places, each list sorted."""

    unknown: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.unknown or self.missing or self.repeated)


def check_places(text: str, places: Places) -> PlaceProblems:
    """Compare the places of a text with those that it may and must have.

    >>> check_places("{docment_id} を {language} で", Places(required=frozenset({"document_id"}))).unknown
    ('docment_id', 'language')
    """
    found = Counter(_PLACE.findall(text))
    return PlaceProblems(
        unknown=tuple(sorted(set(found) - places.known)),
        missing=tuple(sorted(places.required - set(found))),
        repeated=tuple(sorted(name for name, count in found.items() if count > MOST_REPEATS and name in places.known)),
    )


def fill_places(text: str, values: Mapping[str, str]) -> str:
    """Put the values into their places, once: braces that a value brings along stay as they are. Raises KeyError."""
    return _PLACE.sub(lambda match: values[match[1]], text)
