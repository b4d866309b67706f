"""The words of what a value is said of: right before it and in its statement, without those said of anything."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from review.rules.base import shipped

Words = frozenset[str]

_WORD = re.compile(r"[一-龯々]+|[ァ-ヴー]+|[a-z][a-z0-9_]*+(?:[.\-][a-z0-9_]++)*+|[0-9]+(?:[.,:\-][0-9]+)*+")
# The end of a line of a cell breaks words: stuck-<br>timeout, with the mark of the break blanked.
_BROKEN = re.compile(r"([a-z]-|[一-龯ァ-ヴー]) {4}(?=[a-z一-龯ァ-ヴー])")
_LEADING = re.compile(r"^(?:次回|今回|当該|各|全|本|当)(?=[一-龯]{2})")
_ATTRIBUTE = re.compile(r"(?<=[一-龯ァ-ヴー]{2})(?:期間|時間|期限|件数|人数|回数|日数|年限|数|率|額|日)$")
_LONGEST_STOPPED = 12
_CLAUSE_END = re.compile(r"[。、,;；:：・/\n→]")
_BRACKETED = re.compile(r"\([^()]{0,80}\)")
_LAST_NOUN = re.compile(r"(?:[一-龯々ァ-ヴーA-Za-z0-9_.\-]| {4}|(?<=[一-龯])[りいけみしれきげさえせち](?=[一-龯]|$))+$")
_LONGEST_NOUN = 40
_TOPIC = re.compile(r"^[-*+・\s]{0,8}(?P<topic>[^:。、|は]{2,40})[は:]")
_LABEL = re.compile(r"[^:。、|]{1,30}:")
# 30分の休憩, 週次でバックアップを, 5年間保存する: what is named behind the value.
_OF_IT = re.compile(r"\s?の\s?(?P<name>[一-龯々ァ-ヴーA-Za-z][一-龯々ァ-ヴーA-Za-z0-9_.\-]{3,30})")
_OBJECT = re.compile(r"[にで、]?\s?(?P<name>[一-龯々ァ-ヴーA-Za-z][一-龯々ァ-ヴーA-Za-z0-9]{2,30})を")
_DONE = re.compile(r"(?:以内|以上|以下|まで|間)?[のにでは]?\s?(?P<act>[一-龯]{2,6})(?=[すしさ]|でき|$|。|、)")
ENOUGH = 4


class Said(NamedTuple):
    """What a value is said of: the words ``near`` it, those that its statement begins with, and ``every`` one."""

    near: Words
    topic: Words
    every: Words

    @property
    def weight(self) -> int:
        return weight(self.every)


def weight(words: Words) -> int:
    """Return how many characters words have, numbers not counted."""
    return sum(len(word) for word in words if not word[0].isdigit())


def words_of(text: str) -> Words:
    """Return the distinctive words of a text, folded and without their attributes."""
    return frozenset(_words(text))


def joined(text: str) -> str:
    """Return the words of a text as one string, in which words are looked for as parts of others."""
    return "|".join(dict.fromkeys(_words(text)))


def said_of(plain: str, start: int, end: int, heads: str) -> Said:
    """Return what the value at ``[start, end)`` of a statement is said of; ``heads`` name its row and column."""
    before = plain[:start]
    topic = _TOPIC.match(_BRACKETED.sub("", before))
    begins = words_of(topic["topic"]) if topic else Words()
    if of_it := _OF_IT.match(plain, end):
        name = words_of(of_it["name"])
        if weight(name) >= ENOUGH:
            return Said(name, begins, name)
    opened = before.rfind("(")
    if opened > before.rfind(")"):
        return _in_bracket(before, opened, begins)
    near = words_of(_clause(_BRACKETED.sub("", before)))
    if not near and (behind := _OBJECT.match(plain, end)):
        near = words_of(behind["name"])
    label = _LABEL.match(plain)
    every = near | words_of(_BRACKETED.sub("", label[0]) if label else "") | words_of(heads)
    if every and weight(every) < ENOUGH and (done := _DONE.match(plain, end)):
        every |= words_of(done["act"])
    return Said(near, begins, every)


def _in_bracket(before: str, opened: int, topic: Words) -> Said:
    """What the bracket names beside the value, or else what it stands behind: （検索 2秒以内）, 開発担当（2名）."""
    near = words_of(_clause(before[opened + 1 :]))
    if weight(near) >= ENOUGH:
        return Said(near, topic, near)
    head = _clause(_BRACKETED.sub("", before[:opened])).rstrip()
    last = _LAST_NOUN.search(head[-_LONGEST_NOUN:])
    return Said(near or words_of(last[0] if last else ""), topic, near | words_of(head))


def _clause(before: str) -> str:
    return before[max((found.end() for found in _CLAUSE_END.finditer(before)), default=0) :]


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    found = (_distinctive(match[0]) for match in _WORD.finditer(_BROKEN.sub(r"\1", text.casefold())))
    return tuple(word for word in found if word)


@lru_cache(maxsize=4096)
def _distinctive(word: str) -> str:
    """Return a distinctive word without its attribute; '' for one that is said of anything."""
    if len(word) > _LONGEST_STOPPED:
        return word
    if _of_anything().fullmatch(word):
        return ""
    return _ATTRIBUTE.sub("", _LEADING.sub("", _same().get(word, word)))


@lru_cache(maxsize=1)
def _same() -> dict[str, str]:
    return {word.casefold(): same for word, same in shipped("facts")["words"].items()}


@lru_cache(maxsize=1)
def _of_anything() -> re.Pattern[str]:
    words = sorted(shipped("facts")["mentions"]["said_of_anything"], key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, words))}){{1,4}}")
