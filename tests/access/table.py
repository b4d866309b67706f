"""The table of doors (``matrix.txt``): what each asks for, who that is, and what the caller's token needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hub.access.permissions import HubRight, Scope, hub_roles_with, roles_with
from tests.access.people import NOBODY, PERSONS, person_of

TABLE = Path(__file__).with_name("matrix.txt")
SIGNED_IN = frozenset(PERSONS) - {NOBODY}

# Who goes by something that the table of permissions does not say: the persons of people.py are made for these.
WORDS: dict[str, frozenset[str]] = {
    "public": frozenset(PERSONS),
    "signed-in": SIGNED_IN,
    "any-role": SIGNED_IN - {"carol"},
    "named": frozenset({"curator", "hub_curator", "superuser"}),  # the dataset's approvers
    "curate-any": frozenset({"curator", "administrator", "neighbour", "superuser"}),  # in any collection
    "superuser": frozenset({"superuser"}),
    "only-nobody": frozenset({NOBODY}),
    "no-one": frozenset(),
}


def who_has(right: str) -> frozenset[str]:
    """The persons who have what a line asks for. Raises KeyError for a word that neither table has."""
    either = [frozenset.intersection(*map(_who, way.split("+"))) for way in right.split("|")]
    return frozenset().union(*either)


@cache
def every_right() -> frozenset[str]:
    """What a line may ask for by a single word, and whatever lines of the table do ask for."""
    words = {*WORDS, *(f"hub:{name}" for name in OF_HUB), *OF_COLLECTION}
    return frozenset(words.union(*((line.right, line.shown or line.right) for line in read_table())))


def _who(word: str) -> frozenset[str]:
    if word in WORDS:
        return WORDS[word]
    if word.startswith("hub:"):
        roles = hub_roles_with(OF_HUB[word.removeprefix("hub:")])
        return frozenset(person_of(role) for role in roles) | {"superuser"}
    return frozenset(roles_with(OF_COLLECTION[word])) | {"superuser"}


OF_HUB = {right.value: right for right in HubRight}
OF_COLLECTION = {scope.value: scope for scope in Scope}


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
