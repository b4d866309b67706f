"""Regular expressions of check items: simpler than other stored patterns (hub.core.patterns), and read line by line.

What repeats holds no choice of its own, and the ways in which the quantifiers of one pattern can share out a stretch
of text are bounded: ``pattern_problem``. Text is searched in stretches of at most ``STRETCH`` characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.core.patterns import PatternRefused, StoredPattern, stored_pattern
from hub.core.texts import Text
from review.types import Span

MAX_LENGTH = 500
STRETCH = 400
# Two open quantifiers and a few optional parts: below a second for the worst line there is.
MAX_WAYS = STRETCH * STRETCH * 4
WHERE = "check item"
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(?P<low>\d*+)(?P<comma>,?+)(?P<high>\d*+)\}")
_GROUP = re.compile(r"\(\?(?:[:=!]|<[=!]|P?<\w+>)|\((?!\?)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


def pattern_problem(pattern: str) -> Text | None:
    """Say why a pattern can't be used: it can't be compiled, is too long, or might take forever. None when it can."""
    if len(pattern) > MAX_LENGTH:
        return Text(ja=f"{MAX_LENGTH} 文字を超えています。", en=f"It has more than {MAX_LENGTH} characters.")
    try:
        compiled = stored_pattern(pattern, where=WHERE)
    except PatternRefused as refused:
        return Text(
            ja=f"正規表現として読めません: {refused.reason.ja}",
            en=f"It is not a regular expression: {refused.reason.en}.",
        )
    if compiled.matches_empty():
        return Text(ja="空の文字列に一致するため、どこにでも一致します。", en="It matches the empty text: everywhere.")
    return _Scan(pattern).problem()


def compiled(pattern: str) -> StoredPattern:
    """Compile a checked pattern; upper and lower case are one.

    :raises ValueError: ``pattern_problem`` has something against it.
    """
    if problem := pattern_problem(pattern):
        raise ValueError(f"{pattern}: {problem.en}")
    return stored_pattern(pattern, where=WHERE, ignore_case=True)


def occurrences(pattern: str, text: str, start: int, end: int) -> Iterator[Span]:
    """Yield where a pattern occurs in ``text[start:end]``, line by line; full-width ASCII counts as half-width.

    :raises PatternTooSlow: it takes too long.
    """
    found = compiled(pattern)
    last = -1
    for begin, line in _stretches(text, start, end):
        folded = line.translate(_WIDE)
        places = {match.span() for match in found.matches(line)}
        places |= {match.span() for match in found.matches(folded)} if folded != line else set()
        for low, high in sorted(places):
            if high > low and begin + low >= last:
                yield Span(start=begin + low, end=begin + high)
                last = begin + high


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Lines, the long ones in overlapping parts so that what stands on a cut is found."""
    at = start
    for line in text[start:end].splitlines(keepends=True):
        for offset in range(0, max(len(line) - STRETCH // 2, 1), STRETCH // 2):
            yield at + offset, line[offset : offset + STRETCH].rstrip("\r\n")
        at += len(line)


class _Scan:
    """One pass over a pattern that compiles: which parts repeat, and in how many ways."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.ways = 1
        # per open group: does it hold a quantifier or an alternative?
        self.open: list[bool] = [False]

    def problem(self) -> Text | None:
        at, closed_choice = 0, False
        while at < len(self.pattern):
            char = self.pattern[at]
            if char == "\\":
                if self.pattern[at + 1] in "123456789":
                    return Text(ja="後方参照（\\1 など）は使えません。", en="Back-references (\\1) can't be used.")
                at, closed_choice = at + 2, False
            elif char == "[" and (found := _CLASS.match(self.pattern, at)):
                at, closed_choice = found.end(), False
            elif char == "(":
                found = _GROUP.match(self.pattern, at)
                if found is None:
                    return Text(ja="この種類の括弧 (?…) は使えません。", en="This kind of group (?…) can't be used.")
                self.open.append(False)
                at, closed_choice = found.end(), False
            elif char == ")":
                closed_choice = self.open.pop()
                self.open[-1] |= closed_choice
                at += 1
            elif found := _QUANTIFIER.match(self.pattern, at):
                if (problem := self._quantified(found, has_choice=closed_choice)) is not None:
                    return problem
                # a lazy or possessive mark behind a quantifier is part of it
                at = found.end() + (self.pattern[found.end() : found.end() + 1] in ("?", "+"))
                closed_choice = False
            else:
                if char == "|":
                    self._alternative()
                at, closed_choice = at + 1, False
        return None

    def _alternative(self) -> None:
        """Inside a group the alternatives multiply what follows; those of the whole pattern are tried one by one."""
        self.open[-1] = True
        if len(self.open) == 1:
            self.ways = 1

    def _quantified(self, found: re.Match[str], *, has_choice: bool) -> Text | None:
        low, high = _bounds(found)
        if has_choice and high > 1:
            return Text(
                ja="繰り返し（*、+、{n,}）の中に繰り返しや「|」があり、処理が終わらないおそれがあります。"
                "内側か外側の繰り返しをなくします。",
                en="A repeated group holds a repetition or “|” itself, which may take forever. Remove one of them.",
            )
        self.open[-1] |= high != low
        self.ways *= min(high - low, STRETCH) + 1
        if self.ways > MAX_WAYS * 2:
            return Text(
                ja="繰り返しが多すぎて、処理が終わらないおそれがあります。パターンを分けます。",
                en="It has too many repetitions and may take forever. Split it into several patterns.",
            )
        return None


def _bounds(found: re.Match[str]) -> tuple[int, int]:
    mark = found[0]
    if mark in ("*", "+", "?"):
        return (1 if mark == "+" else 0), (1 if mark == "?" else STRETCH)
    low = int(found["low"] or 0)
    if not found["comma"]:
        return low, low
    return low, int(found["high"]) if found["high"] else STRETCH
