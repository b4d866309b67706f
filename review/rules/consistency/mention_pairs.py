"""Mentions that say two values of one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from knowledge.types.documents import Section
from review.rules.base import shipped
from review.rules.consistency.contradictions import Contradiction, are_siblings, dates_differ
from review.rules.consistency.facts import facts_of
from review.rules.consistency.mention_words import ENOUGH, weight
from review.rules.consistency.mentions import Mention, read_mentions
from review.types import RelatedDocument, RuleInput, Span

_MOST_SHARED, _MOST_VALUES = 10, 2
_LONGEST_WRITTEN, _LONGEST_NAME, _BEHIND = 80, 30, 24
_COMPARABLE = frozenset({"", "max", "min"})
_UNNAMING = re.compile(r"[\u2500-\u257f*`#\s]+")
_PUBLISHED = re.compile(r"[省庁局会所学社]$")


def mentioned_otherwise(target: RuleInput) -> Iterator[Contradiction]:
    """Yield pairs of mentions of one thing with different values; what has more than two is a property of many."""
    mentions = read_mentions(facts_of(target.text, target.sections, target.blocks))
    by_id = {section.id: section for section in target.sections}
    near = {(min(pair), max(pair)) for pair in _near(mentions, mentions) if pair[0] != pair[1]}
    matched = [
        (one, other)
        for one, other in sorted(near)
        if _may_be_one_thing(mentions[one], mentions[other], by_id)
        and _are_of_one_thing(mentions[one], mentions[other])
    ]
    values: dict[int, set[str]] = defaultdict(set)
    for pair in matched:
        for index in pair:
            values[index] |= {mentions[each].value.value for each in pair}
    for pair in matched:
        one, other = (mentions[index] for index in pair)
        if _differ(one, other) and all(len(values[index]) <= _MOST_VALUES for index in pair):
            yield _made(target, one, other)


def mentioned_across(target: RuleInput, related: RelatedDocument) -> Iterator[Contradiction]:
    """Yield a mention and one of a related document, each of a thing that either tells in one way, and not in the same.

    What a document says of itself (更新日) is not compared. Of several places that say the same the first is told.
    """
    ours, theirs = _shared(target), _shared(related)
    near = _near(ours, theirs) | {(one, other) for other, one in _near(theirs, ours)}
    matched = [pair for pair in sorted(near) if _are_of_one_thing(ours[pair[0]], theirs[pair[1]])]
    there: dict[int, set[str]] = defaultdict(set)
    here: dict[int, set[str]] = defaultdict(set)
    for one, other in matched:
        there[one].add(theirs[other].value.value)
        here[other].add(ours[one].value.value)
    told: tuple[set[int], set[int]] = (set(), set())
    for one, other in matched:
        is_told_in_one_way = len(there[one]) == 1 and len(here[other]) == 1
        if is_told_in_one_way and _differ(ours[one], theirs[other]) and one not in told[0] and other not in told[1]:
            told[0].add(one)
            told[1].add(other)
            yield _made_across(target, ours[one], related, theirs[other])


def _shared(document: RuleInput | RelatedDocument) -> tuple[Mention, ...]:
    """Return the mentions that may be of what another document tells, too: not when this one was written."""
    of_itself = re.compile(shipped("facts")["dates"]["not"])
    mentions = read_mentions(facts_of(document.text, document.sections, document.blocks))
    return tuple(
        each for each in mentions if not (each.value.kind.startswith("date") and of_itself.search(each.clause))
    )


def _near(ones: tuple[Mention, ...], others: tuple[Mention, ...]) -> set[tuple[int, int]]:
    """Return pairs that may be of one thing: a rare word of what the one is said of stands around the other."""
    there: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, each in enumerate(others):
        for word in each.words_around:
            there[each.value.kind, word].append(index)
    found = set()
    for index, each in enumerate(ones):
        for word in each.said.every:
            places = there.get((each.value.kind, word), ())
            if len(places) <= _MOST_SHARED and not word[0].isdigit():
                found |= {(index, other) for other in places}
    return found


def _may_be_one_thing(one: Mention, other: Mention, by_id: Mapping[str, Section]) -> bool:
    """Whether two mentions of one document may be of one thing: not in one statement, nor rows of like tables."""
    if one.stated[0] == other.stated[0] or (one.form and one.form == other.form):
        return False
    return not _are_apart(one, other, by_id)


def _are_of_one_thing(one: Mention, other: Mention) -> bool:
    """Whether what stands beside each value stands around the other, and so does all that the one is said of."""
    if _is_labelled(one) and _is_labelled(other):
        return False  # compared as facts and quantities, which know what sections list of one thing each
    if not (_is_there(one, other) and _is_there(other, one)):
        return False
    of_one, of_other = _is_said_of(one, other), _is_said_of(other, one)
    # Of two rows each names its thing: a word of the other's head is none.
    if not ((of_one and of_other) if one.form and other.form else (of_one or of_other)):
        return False
    return one.is_condition == other.is_condition and one.has_conditions_of(other)


def _is_labelled(mention: Mention) -> bool:
    """Whether it is a line of a label and its value: 監視間隔: 60秒."""
    return not (mention.said.near or mention.form)


def _is_there(one: Mention, other: Mention) -> bool:
    """Whether what is near the one stands around the other, or its statement begins with what is near the other.

    検索（3通り） and 検索は日付と担当者の2通りとする are about one thing.
    """
    topic = one.said.topic
    return other.is_among(one.said.near) or (weight(topic) >= ENOUGH and topic == other.said.near)


def _is_said_of(one: Mention, other: Mention) -> bool:
    """Whether all that the one is said of stands around the other, and some of it not only in the heading."""
    every = one.said.every
    return other.is_among(every) and any(word in other.own for word in every if not word[0].isdigit())


def _are_apart(one: Mention, other: Mention, by_id: Mapping[str, Section]) -> bool:
    """Whether sections side by side set limits and measures of their own, as each of 単体テスト and 結合テスト does."""
    is_own = bool(one.form and other.form) or one.is_measure or other.is_measure
    is_own |= bool(one.value.bound or other.value.bound)
    return is_own and are_siblings([one.home, other.home], by_id)


def _differ(one: Mention, other: Mention) -> bool:
    if one.value.kind.startswith("date"):
        # Papers are named by who published them and when.
        published = any(_PUBLISHED.search(word) for each in (one, other) for word in each.said.near)
        return not published and dates_differ(one.value.value, other.value.value)
    bounds = {one.value.bound, other.value.bound}
    is_comparable = len(bounds) == 1 or (bounds <= _COMPARABLE and bounds != {"max", "min"})
    return is_comparable and "other" not in bounds and one.value.value != other.value.value


def _made(target: RuleInput, one: Mention, other: Mention) -> Contradiction:
    first, second = sorted((one, other), key=lambda each: each.value.start)
    return Contradiction(
        kind="mention",
        name=_name(target, min((first, second), key=lambda each: weight(each.said.every))),
        written=tuple(_written(target, each) for each in (first, second)),
        places=tuple(Span(start=each.stated[0], end=each.stated[1]) for each in (first, second)),
    )


def _made_across(target: RuleInput, ours: Mention, related: RelatedDocument, theirs: Mention) -> Contradiction:
    return Contradiction(
        kind="mention",
        name=_name(target, ours),
        written=(_written(target, ours),),
        places=(
            Span(start=ours.stated[0], end=ours.stated[1]),
            Span(start=theirs.stated[0], end=theirs.stated[1], document=related.document_id),
        ),
        document=related.document_id,
    )


def _name(target: RuleInput, mention: Mention) -> str:
    """Return the words before the value as they are written, or those of the cell before it."""
    before = target.text[mention.stated[0] : mention.value.start].replace("<br>", "")
    cells = [cell for each in before.split("|") if (cell := _UNNAMING.sub(" ", each).strip(" 　:：（("))]
    return cells[-1][-_LONGEST_NAME:] if cells else mention.value.kind


def _written(target: RuleInput, mention: Mention) -> str:
    start, end = mention.stated
    if end - start > _LONGEST_WRITTEN:
        start, end = max(start, mention.value.end - _LONGEST_WRITTEN), min(end, mention.value.end + _BEHIND)
    return re.sub(r"\s*(?:<br>|\|)\s*", " ", target.text[start:end]).replace("*", "").strip()
