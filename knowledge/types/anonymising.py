"""What is to be taken out of a file before anything of it is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

KINDS = {
    "email": "EMAIL",
    "phone": "PHONE",
    "my_number": "MY_NUMBER",
    "address": "ADDRESS",
    "account": "BANK_ACCOUNT",
    "card": "CARD",
    "token": "SECRET",
}
"""The kinds of personal data as callers write them, with the names that `hub.core.masking` has for them."""
FIELD = "field"
LONGEST_FIELD, MOST_FIELDS = 40, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymising:
    """Kinds (of KINDS) and names of fields whose values are replaced. Empty: the file is stored as it is."""

    kinds: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.kinds or self.fields)

    def as_json(self) -> dict[str, list[str]]:
        """Give it as it is kept with a version."""
        return {"kinds": sorted(self.kinds), "fields": sorted(self.fields)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Collection[str]] | None) -> Anonymising | None:
        """Read what a version keeps; None for nothing."""
        return None if kept is None else cls(kinds=frozenset(kept["kinds"]), fields=frozenset(kept["fields"]))

    def __or__(self, other: Anonymising) -> Anonymising:
        return Anonymising(kinds=self.kinds | other.kinds, fields=self.fields | other.fields)


def counted_by_kind(replaced: dict[str, int]) -> dict[str, int]:
    """Give the numbers of replacements by the callers' names of kinds; FIELD is of the fields."""
    names = {name: kind for kind, name in KINDS.items()} | {"FIELD": FIELD}
    return {names[name]: number for name, number in sorted(replaced.items()) if number}
