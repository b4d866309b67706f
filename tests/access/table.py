"""The table of doors (``matrix.txt``): what each asks for, who that is, and what the caller's token needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hub.access.principals import Scope
from tests.access.people import NOBODY, PERSONS

TABLE = Path(__file__).with_name("matrix.txt")
SIGNED_IN = frozenset(PERSONS) - {NOBODY}

# Who has a right. Those named by one word are the scopes of roles in the collection.
RIGHTS: dict[str, frozenset[str]] = {
    "public": frozenset(PERSONS),
    "signed-in": SIGNED_IN,
    "any-role": SIGNED_IN - {"carol"},
    "read": frozenset({"reader", "reviewer", "curator", "auditor", "administrator", "superuser"}),
    "search": frozenset({"reader", "reviewer", "curator", "administrator", "superuser"}),
    "review": frozenset({"reviewer", "curator", "administrator", "superuser"}),  # and upload, and triage
    "curate": frozenset({"curator", "administrator", "superuser"}),
    "audit": frozenset({"auditor", "administrator", "superuser"}),
    "administer": frozenset({"administrator", "superuser"}),
    "named": frozenset({"curator", "hub_curator", "superuser"}),  # the dataset's readers
    "named+read": frozenset({"curator", "superuser"}),  # who also may read what the case is about
    "hub": frozenset({"hub_curator", "superuser"}),
    "curate-anything": frozenset({"curator", "administrator", "neighbour", "hub_curator", "superuser"}),
    "curate-any": frozenset({"curator", "administrator", "neighbour", "superuser"}),  # in any collection
    "superuser": frozenset({"superuser"}),
    "only-nobody": frozenset({NOBODY}),
    "no-one": frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a door asks for.

    ``shown`` is the right to be shown something of the collection, empty where it is the same as to open the door.
    ``scopes`` are the sets of scopes of which the token needs one whole; none where the door asks for no scope.
    """

    right: str
    shown: str
    scopes: tuple[frozenset[Scope], ...]
    door: str


def read_table() -> list[Line]:
    """Every line of the table; one that names two methods, or several fields of a form, is as many doors."""
    lines: list[Line] = []
    for text in TABLE.read_text(encoding="utf-8").splitlines():
        if text.strip() and not text.startswith("#"):
            lines.extend(_lines(text))
    return lines


def _lines(text: str) -> Iterator[Line]:
    rights, scopes, door = text.split(None, 2)
    right, _slash, shown = rights.partition("/")
    ways = () if scopes == "-" else scopes.split("|")
    needed = tuple(frozenset(Scope(name) for name in way.split("+")) for way in ways)
    place, colon, names = door.partition(": ")
    for name in names.split() if colon else [""]:
        for method in place.split(" ")[0].split("|"):
            full = f"{method} {place.partition(' ')[2]} {name}".strip()
            yield Line(right=right, shown=shown, scopes=needed, door=full)
