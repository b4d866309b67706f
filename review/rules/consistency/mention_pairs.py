"""Mentions that say two values of one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from review.rules.consistency.contradictions import Contradiction, are_siblings, dates_differ
from review.rules.consistency.facts import facts_of
from review.rules.consistency.mention_words import ENOUGH, Words, weight
from review.rules.consistency.mentions import Mention, read_mentions
from review.types import RuleInput, Span

_MOST_SHARED, _MOST_VALUES = 10, 2
_LONGEST_WRITTEN, _LONGEST_NAME, _BEHIND = 80, 30, 24
_COMPARABLE = frozenset({"", "max", "min"})
_UNNAMING = re.compile(r"[\u2500-\u257f*`#\s]+")
_PUBLISHED = re.compile(r"[省庁局会所学社]$")


def mentioned_otherwise(target: RuleInput) -> Iterator[Contradiction]:
    """Yield pairs of mentions of one thing with different values; what has more than two is a property of many."""
    mentions = read_mentions(facts_of(target.text, target.sections, target.blocks))
    matched = [
        (one, other)
        for one, other in sorted(_pairs(mentions))
        if _are_of_one_thing(mentions[one], mentions[other], target)
    ]
    values: dict[int, set[str]] = defaultdict(set)
    for pair in matched:
        for index in pair:
            values[index] |= {mentions[each].value.value for each in pair}
    for pair in matched:
        one, other = (mentions[index] for index in pair)
        if _differ(one, other) and all(len(values[index]) <= _MOST_VALUES for index in pair):
            yield _made(target, one, other)


def _pairs(mentions: tuple[Mention, ...]) -> set[tuple[int, int]]:
    """Return pairs that may be of one thing: a rare word of what the one is said of stands around the other."""
    there: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, each in enumerate(mentions):
        for word in each.around.split("|"):
            there[each.value.kind, word].append(index)
    found = set()
    for index, each in enumerate(mentions):
        for word in each.said.every:
            places = there[each.value.kind, word]
            if len(places) <= _MOST_SHARED and not word[0].isdigit():
                found |= {(min(index, other), max(index, other)) for other in places if other != index}
    return found


def _are_of_one_thing(one: Mention, other: Mention, target: RuleInput) -> bool:
    """Whether what stands beside each value stands around the other, and so does all that the one is said of."""
    if one.stated[0] == other.stated[0] or (one.form and one.form == other.form):
        return False
    if _is_labelled(one) and _is_labelled(other):
        return False  # compared as facts and quantities, which know what sections list of one thing each
    if not (_is_there(one, other) and _is_there(other, one)):
        return False
    if not (_is_said_of(one, other) or _is_said_of(other, one)):
        return False
    return one.has_conditions_of(other) and not _are_apart(one, other, target)


def _is_labelled(mention: Mention) -> bool:
    """Whether it is a line of a label and its value: 監視間隔: 60秒."""
    return not (mention.said.near or mention.form)


def _is_there(one: Mention, other: Mention) -> bool:
    """Whether what is near the one stands around the other, or its statement begins with what is near the other.

    検索（3通り） and 検索は日付と担当者の2通りとする are about one thing.
    """
    topic = one.said.topic
    return _are_all_in(one.said.near, other.around) or (weight(topic) >= ENOUGH and topic == other.said.near)


def _is_said_of(one: Mention, other: Mention) -> bool:
    """Whether all that the one is said of stands around the other, and some of it not only in the heading."""
    every = one.said.every
    return _are_all_in(every, other.around) and any(word in other.own for word in every if not word[0].isdigit())


def _are_all_in(words: Words, around: str) -> bool:
    return all(word in around for word in words)


def _are_apart(one: Mention, other: Mention, target: RuleInput) -> bool:
    """Whether sections side by side set limits and measures of their own, as each of 単体テスト and 結合テスト does."""
    is_own = bool(one.form and other.form) or one.is_measure or other.is_measure
    is_own |= bool(one.value.bound or other.value.bound)
    return is_own and are_siblings([one.home, other.home], target.sections)


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
