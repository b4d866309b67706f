"""Facts that contradict each other, within a document and between it and a related one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from knowledge.types.documents import Section
from review.rules.consistency.fact_making import About, Fact
from review.rules.consistency.fact_names import is_measure
from review.rules.consistency.facts import read_facts
from review.rules.consistency.sequences import disordered, read_sequences
from review.rules.traceability.across import same_thing
from review.types import RelatedDocument, RuleInput, Span

_MOST_VALUES = 3
_MOST_FACTS = 24
_SHARED_ABOUTS = 2
_LONG_TIME_S, _MONTHS_DIFFER = 28 * 86400, 0.02
_UNLIMITED = frozenset({"", "max", "min"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """What was said of one thing in two ways: the places here, and those of the related ``document``."""

    kind: str
    name: str
    written: tuple[str, ...]
    places: tuple[Span, ...]
    document: str = ""


def contradictions(target: RuleInput) -> Iterator[Contradiction]:
    """Yield what the document says of one thing in two ways."""
    facts = read_facts(target.text, target.sections, target.blocks)
    recorded = _recorded(facts)
    by_id = {section.id: section for section in target.sections}
    for group in _by_subject(fact for fact in facts if fact.is_compared_within).values():
        for same in _under_one_condition(group):
            if len(same) <= _MOST_FACTS and _contradict(same) and not _are_records(same, recorded, by_id):
                yield _made(same)
    ours = read_sequences(target.text, target.sections, target.blocks)
    for first, second in disordered(ours):
        places = (Span(start=first.start, end=first.end), Span(start=second.start, end=second.end))
        written = ("→".join(first.names), "→".join(second.names))
        yield Contradiction(kind="order", name="、".join(sorted(first.names)[:3]), written=written, places=places)


def contradictions_across(target: RuleInput, related: RelatedDocument) -> Iterator[Contradiction]:
    """Yield what the document and a related one say of one thing, each in one way, and not in the same."""
    here = _by_subject(fact for fact in read_facts(target.text, target.sections, target.blocks) if fact.is_shared)
    there = _by_subject(fact for fact in read_facts(related.text, related.sections, related.blocks) if fact.is_shared)
    for about in here.keys() & there.keys():
        others = {same[0].conditions: same for same in _under_one_condition(there[about])}
        for ours in _under_one_condition(here[about]):
            theirs = others.get(ours[0].conditions)
            if theirs and _agree(ours) and _agree(theirs) and _differ(ours[0], theirs[0]):
                one, other = ours[0], theirs[0]
                yield Contradiction(
                    kind=one.kind,
                    name=one.name,
                    written=(one.written,),
                    places=(
                        Span(start=one.start, end=one.end),
                        Span(start=other.start, end=other.end, document=related.document_id),
                    ),
                    document=related.document_id,
                )
    yield from _orders_across(target, related)


def _orders_across(target: RuleInput, related: RelatedDocument) -> Iterator[Contradiction]:
    ours = read_sequences(target.text, target.sections, target.blocks)
    theirs = read_sequences(related.text, related.sections, related.blocks)
    for first, second in disordered(ours, theirs):
        yield Contradiction(
            kind="order",
            name="、".join(sorted(first.names)[:3]),
            written=("→".join(first.names),),
            places=(
                Span(start=first.start, end=first.end),
                Span(start=second.start, end=second.end, document=related.document_id),
            ),
            document=related.document_id,
        )


def _by_subject(facts: Iterable[Fact]) -> dict[About, list[Fact]]:
    found: dict[About, list[Fact]] = defaultdict(list)
    for fact in facts:
        found[fact.about].append(fact)
    return found


def _under_one_condition(group: list[Fact]) -> Iterator[list[Fact]]:
    by_conditions: dict[frozenset[str], list[Fact]] = defaultdict(list)
    for fact in group:
        by_conditions[fact.conditions].append(fact)
    yield from by_conditions.values()


def _agree(facts: list[Fact]) -> bool:
    return not any(_differ(facts[0], other) for other in facts[1:])


def _contradict(facts: list[Fact]) -> bool:
    """Two or three values of one thing; what has more, or several in one table, is a property of many things."""
    if len(facts) < 2 or _agree(facts):
        return False
    if len({(fact.value, fact.bound) for fact in facts}) > _MOST_VALUES:
        return False
    if facts[0].kind == "polarity" and all(fact.table >= 0 for fact in facts):
        return False  # an item of one form is required there and not in another
    by_table: dict[int, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.table >= 0:
            by_table[fact.table].add(fact.value)
    if any(len(values) > 1 for values in by_table.values()):
        return False
    return any(
        _differ(one, other) and (one.start, one.end) != (other.start, other.end)
        for index, one in enumerate(facts)
        for other in facts[index + 1 :]
    )


def _recorded(facts: tuple[Fact, ...]) -> dict[str, set[About]]:
    """Return what is listed in each section, in lines and tables."""
    found: dict[str, set[About]] = defaultdict(set)
    for fact in facts:
        if not fact.is_sentence:
            found[fact.home].add(fact.about)
    return found


def _are_records(facts: list[Fact], recorded: dict[str, set[About]], by_id: Mapping[str, Section]) -> bool:
    """Whether the facts are listed in sections side by side, or that list several of the same: each is of one thing.

    What limits a rate, a number or a time in sections side by side limits that of each, in a sentence, too.
    """
    homes = list(dict.fromkeys(fact.home for fact in facts))
    is_version, has_limit = facts[0].kind == "version", any(fact.bound for fact in facts)
    if has_limit and is_measure(facts[0].name):
        return are_siblings(homes, by_id)
    if not is_version and (len({fact.table >= 0 for fact in facts}) > 1 or any(fact.is_sentence for fact in facts)):
        return False
    shared = any(len(recorded[one] & recorded[other]) > _SHARED_ABOUTS for one, other in pairwise(homes))
    return shared or are_siblings(homes, by_id)


def are_siblings(homes: list[str], by_id: Mapping[str, Section]) -> bool:
    """Whether sections stand side by side within a chapter: each treats one thing there, with its own 起動時間."""
    parents = {by_id[home].parent_id if home in by_id else None for home in homes}
    parent = by_id.get(parents.pop() or "") if len(set(homes)) > 1 and len(parents) == 1 else None
    return parent is not None and (parent.number is not None or parent.parent_id is not None)


def _differ(one: Fact, other: Fact) -> bool:
    """Whether two statements of one thing can't both hold."""
    if "listed" in (one.kind, other.kind):
        return not set(one.value.split("|")) & set(other.value.split("|"))
    if one.kind in ("number", "count"):
        bounds = {one.bound, other.bound}
        if bounds == {"max", "min"} and "~" not in one.value + other.value:
            most, least = (one, other) if one.bound == "max" else (other, one)
            return float(most.value) < float(least.value)
        comparable = (bounds <= _UNLIMITED and bounds != {"max", "min"}) or len(bounds) == 1
        return comparable and "other" not in bounds and not _is_as_much(one, other)
    if one.kind == "date":
        return dates_differ(one.value, other.value)
    if one.kind == "name":
        return one.value not in other.value and other.value not in one.value
    if one.kind == "version":
        return _versions_differ(one, other)
    if one.kind == "members":
        members = [set(fact.value.split("、")) for fact in (one, other)]
        return members[0] != members[1] and bool(members[0] & members[1])
    if one.kind == "identifier":
        return not same_thing(one.value, other.value)
    return one.value != other.value


def _versions_differ(one: Fact, other: Fact) -> bool:
    """Whether two versions can't both hold, as far as both are told: 15 agrees with 15.2, and with 14 or later."""
    first, second = (tuple(map(int, fact.value.split("."))) for fact in (one, other))
    told = min(len(first), len(second))
    if first[:told] == second[:told]:
        return False
    if one.bound == other.bound:
        return True
    least, exact = (first, second) if one.bound == "min" else (second, first)
    return exact[:told] < least[:told]


def _is_as_much(one: Fact, other: Fact) -> bool:
    """Whether two amounts are one: a month has 30 days for one writer and a twelfth of a year for another."""
    if one.value == other.value:
        return True
    first, second = (fact.value.split("~") for fact in (one, other))
    if "time" not in one.about or len(first) != len(second):
        return False
    pairs = [(float(a), float(b)) for a, b in zip(first, second, strict=True)]
    return all(min(a, b) >= _LONG_TIME_S and abs(a - b) <= _MONTHS_DIFFER * max(a, b) for a, b in pairs)


def dates_differ(one: str, other: str) -> bool:
    """Compare two days, months or spans of them as far as both are told: 2026年4月 agrees with 4月1日."""
    for first, second in zip(one.split("~"), other.split("~"), strict=False):
        for part, counterpart in zip(first.split("-"), second.split("-"), strict=False):
            if "?" not in (part, counterpart) and part != counterpart:
                return True
    return False


def _made(facts: list[Fact]) -> Contradiction:
    shown = list({(fact.start, fact.end): fact for fact in facts}.values())
    return Contradiction(
        kind=next((fact.kind for fact in shown if fact.kind == "listed"), shown[0].kind),
        name=shown[0].name,
        written=tuple(fact.written for fact in shown),
        places=tuple(Span(start=fact.start, end=fact.end) for fact in shown),
    )
