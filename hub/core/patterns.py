"""Regular expressions that people store: compiled in one place, and matched within a limit of time.

Python's own matcher backtracks without looking at a clock, so ``(a+)+$`` takes forever on a line of a's and holds up
all threads of its process meanwhile. Patterns of ontologies, guidelines, check items and identifiers are therefore
matched by the ``regex`` package, which reads the same expressions, watches a limit of processor time while it matches,
and lets other threads run. What takes too long is an error that names the pattern and where it is stored.
"""

from __future__ import annotations

import re
import re._parser as parser  # type: ignore[import-not-found]  # of the standard library; it has no public name
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import regex

from hub.core.texts import Text

# Of processor time: what ships needs some milliseconds for a whole document.
MATCH_S = 2.0
# Of a pattern, and of what it is once every counted repetition is written out, as the ``regex`` package does.
MAX_LENGTH = 1000
MAX_EXPANDED = 20_000
# Looking at the thread's clock costs more than most matches, so only one after longer ones.
_LONG_S = 0.002
_PROBED = ("a", "A", "1", "ab", "AB", "A1", "A-", "a.", "-", " ", "あ", "ア", "一")
_PROBE_TIMES = 60
_ENDLESS = Text(
    ja="繰り返しの中に繰り返しがあり、終わらないことがあります。繰り返すものを一度だけ書いてください。",
    en="it repeats a repetition, which may take forever. Write out what repeats, once.",
)
_TOO_LARGE = Text(
    ja=f"繰り返しを展開すると {MAX_EXPANDED} 文字を超えます。繰り返しの回数を減らし、入れ子にしないでください。",
    en=f"written out, its repetitions are more than {MAX_EXPANDED} characters long. "
    "Repeat less often, and no repetition.",
)
_TOO_LONG = Text(
    ja=f"{MAX_LENGTH} 文字を超えています。",
    en=f"it has more than {MAX_LENGTH} characters.",
)
_REPEATED_REPETITION = re.compile(r"(?<!\\)[+*}]\)[+*{]")
_PROBE_S = 0.1

StoredMatch = regex.Match[str]

_deadline: ContextVar[float | None] = ContextVar("patterns_deadline", default=None)


class PatternRefused(ValueError):
    """A text can't be used as a pattern. ``reason`` says why, ``at`` from which character it can't be read.

    ``at`` is an offset, None where no single character is to blame.
    """

    def __init__(self, pattern: str, reason: Text, *, where: str, at: int | None = None) -> None:
        super().__init__(f"{where}: {pattern!r} can't be used as a pattern: {reason.en}")
        self.pattern = pattern
        self.reason = reason
        self.where = where
        self.at = at


class PatternTooSlow(RuntimeError):
    """A stored pattern took longer than its limit over a text; nothing is known of what it would have found."""

    def __init__(self, pattern: str, *, where: str) -> None:
        super().__init__(f"{where}: the pattern {pattern!r} takes too long over this text. Write it more simply.")
        self.pattern = pattern
        self.where = where


@dataclass(frozen=True, slots=True)
class StoredPattern:
    """A pattern ready to be matched. ``where`` names the place it is stored at, for people."""

    pattern: str
    where: str
    _compiled: regex.Pattern[str] = field(repr=False, compare=False)

    def matches_empty(self) -> bool:
        """Tell whether it matches the empty text, and so everywhere."""
        return self._compiled.fullmatch("", timeout=MATCH_S) is not None

    def occurs_in(self, text: str) -> bool:
        """Tell whether it matches anywhere in the text. :raises PatternTooSlow: it takes too long."""
        begun = time.perf_counter()
        try:
            found = self._compiled.search(text, timeout=MATCH_S)
        except TimeoutError:
            raise PatternTooSlow(self.pattern, where=self.where) from None
        self._keep_to_deadline(begun)
        return found is not None

    def matches(self, text: str, start: int = 0, end: int | None = None) -> Iterator[StoredMatch]:
        """Yield the matches in ``text[start:end]``, all of them within one limit. :raises PatternTooSlow: see there."""
        begun = time.perf_counter()
        try:
            yield from self._compiled.finditer(text, start, len(text) if end is None else end, timeout=MATCH_S)
        except TimeoutError:
            raise PatternTooSlow(self.pattern, where=self.where) from None
        self._keep_to_deadline(begun)

    def _keep_to_deadline(self, begun: float) -> None:
        deadline = _deadline.get()
        if deadline is not None and time.perf_counter() - begun > _LONG_S and time.thread_time() > deadline:
            raise PatternTooSlow(self.pattern, where=self.where)


@lru_cache(maxsize=4096)
def stored_pattern(pattern: str, *, where: str, ignore_case: bool = False) -> StoredPattern:
    """Compile a pattern that is stored at ``where``. :raises PatternRefused: it is too large or no pattern."""
    if len(pattern) > MAX_LENGTH:
        raise PatternRefused(f"{pattern[:80]}…", _TOO_LONG, where=where)
    try:
        re.compile(pattern)  # what only the other package reads is no pattern here
        if _expanded(parser.parse(pattern)) > MAX_EXPANDED:
            raise PatternRefused(pattern, _TOO_LARGE, where=where)
        compiled = regex.compile(pattern, regex.VERSION0 | (regex.IGNORECASE if ignore_case else 0))
    except (re.error, regex.error, RecursionError, OverflowError) as error:
        at = getattr(error, "pos", None)
        raise PatternRefused(pattern, _unreadable(str(error), at), where=where, at=at) from error
    return StoredPattern(pattern, where, compiled)


def _unreadable(reason: str, at: int | None) -> Text:
    """Say what Python does not read, in its English; in Japanese from which character on, where it says so."""
    place = f"{at + 1} 文字目から読めません。" if at is not None else "入れ子が深すぎるか、繰り返しの回数が多すぎます。"
    return Text(ja=place, en=reason)


def _expanded(tree: Iterable[tuple[Any, Any]]) -> int:
    """How many parts a parsed pattern has once every counted repetition is written out."""
    size = 0
    for _kind, value in tree:
        inner = sum(_expanded(part) for part in _parts(value))
        if _kind in _REPETITIONS:
            least, most, _body = value
            inner *= max(1, least if most is parser.MAXREPEAT else most)
        size += max(1, inner)
    return size


_REPETITIONS = (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT)


def _parts(value: object) -> Iterator[Iterable[tuple[Any, Any]]]:
    """The patterns inside of a part of a parsed one: of a group, a choice, a repetition, a look around."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _parts(one)


def check_pattern(pattern: str, *, where: str) -> StoredPattern:
    """Try a pattern that is about to be stored, and return it ready to be matched.

    Repetitions inside repetitions that share out a text in ever more ways are seen, or found by trying short texts of
    the letters that the pattern is made of. A pattern that passes may still be slow: matching has a limit.

    :raises PatternRefused: it can't be compiled, or it can't be matched against sixty letters within a moment.
    """
    stored = stored_pattern(pattern, where=where, ignore_case=True)
    if _REPEATED_REPETITION.search(pattern):
        raise PatternRefused(pattern, _ENDLESS, where=where)
    own = tuple(dict.fromkeys(letter for letter in pattern if letter.isalnum()))[:40]
    tail = f"\x00{pattern}"  # the literals that a match needs are there, though too late
    for piece in (*_PROBED, *own):
        try:
            stored._compiled.search(piece * _PROBE_TIMES + tail, timeout=_PROBE_S)
        except TimeoutError:
            raise PatternRefused(pattern, _ENDLESS, where=where) from None
    return stored


@contextmanager
def patterns_within(seconds: float) -> Iterator[None]:
    """Limit the processor time of the thread after which stored patterns inside the block are too slow.

    A block inside of another keeps the earlier end.
    """
    outer, own = _deadline.get(), time.thread_time() + seconds
    token = _deadline.set(own if outer is None else min(own, outer))
    try:
        yield
    finally:
        _deadline.reset(token)
