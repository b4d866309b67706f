"""From what a person calls a thing to the nodes that are meant."""

from __future__ import annotations

import re

from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput, NotFound
from knowledge.graph.names import name_key
from knowledge.models import GraphNode
from knowledge.models.graph import GraphNodeQuerySet
from knowledge.text.folding import normalise

MAX_STARTS = 5
MAX_ENTITY = 500
_SIMILAR_ENOUGH = 0.45
_FUZZY_CANDIDATES = 2000
_FUZZY_PARTS = 12
_NUMBER = re.compile(r"\d+")
_OWN_FIRST = (F("collection").asc(nulls_last=True), "pk")


def visible_nodes(principal: Principal, collection: str = "") -> GraphNodeQuerySet:
    """The nodes that the caller may search; with a collection's slug, its own and the masters'."""
    visible = GraphNode.objects.visible_to(principal, Scope.SEARCH)
    if not collection:
        return visible
    return visible.filter(Q(collection__isnull=True) | Q(collection__slug=collection))


def find_entities(principal: Principal, entity: str, *, collection: str = "") -> list[int]:
    """Find the nodes that an entity names: by id, else by name, code or alias, else by similar names.

    At most five: the masters' last, otherwise in the order in which they came (similar ones: the most similar first).

    :raises NotFound: there is none that the caller may see. :raises InvalidInput: empty, or too long.
    """
    wanted = entity.strip()
    key = name_key(wanted)
    if not key or len(wanted) > MAX_ENTITY or "\x00" in wanted:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="entity", limit=MAX_ENTITY)
    visible = visible_nodes(principal, collection)
    exact = list(visible.filter(public_id=wanted).values_list("pk", flat=True))
    named = exact or list(
        visible.filter(keys__contains=[key]).order_by(*_OWN_FIRST).values_list("pk", flat=True)[:MAX_STARTS]
    )
    found = named or _similar(visible, key)
    if not found:
        raise NotFound(
            _('Nothing in the graph is called "{entity}", or nearly so.'), code="entity_not_found", entity=wanted
        )
    return found


def _similar(visible: GraphNodeQuerySet, key: str) -> list[int]:
    """The nodes whose name holds the words, or shares most pairs of letters with them."""
    parts = sorted({key, *key.split(), *_pairs(key)} - {""}, key=lambda one: (-len(one), one))
    named = Q()
    for part in parts[:_FUZZY_PARTS]:
        named |= Q(name__icontains=part) | Q(code__icontains=part)
    rows = visible.filter(named).order_by("pk").values_list("pk", "keys")[:_FUZZY_CANDIDATES]
    scored = ((max((similarity(key, other) for other in keys), default=0.0), pk) for pk, keys in rows)
    best = sorted((-score, pk) for score, pk in scored if score >= _SIMILAR_ENOUGH)
    return [pk for _score, pk in best[:MAX_STARTS]]


def similarity(one: str, other: str) -> float:
    """Tell how alike two keys are, 0 to 1: Dice's coefficient of their letter pairs, more if one holds the other.

    What is numbered otherwise is another thing, however alike: REQ-901 is not REQ-902.
    Source: Dice (1945), doi:10.2307/1932409.
    """
    if one == other:
        return 1.0
    pairs, others = _pairs(one), _pairs(other)
    if not pairs or not others or _are_numbered_otherwise(one, other):
        return 0.0
    dice = 2 * len(pairs & others) / (len(pairs) + len(others))
    if one not in other and other not in one:
        return dice
    return max(dice, 0.5 + 0.5 * min(len(one), len(other)) / max(len(one), len(other)))


def _are_numbered_otherwise(one: str, other: str) -> bool:
    numbers, others = ({number.lstrip("0") for number in _NUMBER.findall(key)} for key in (one, other))
    return not (numbers <= others or others <= numbers)


def _pairs(key: str) -> set[str]:
    letters = "".join(char for char in normalise(key) if not char.isspace())
    return {letters[index : index + 2] for index in range(len(letters) - 1)}
