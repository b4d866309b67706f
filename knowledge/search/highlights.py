"""Where a question's words stand in a passage. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from knowledge.backends.analysis import fold, surfaces
from knowledge.backends.dates import find_dates, spellings
from knowledge.backends.stemming import stem

MAX_WORDS = 80
MAX_SPANS = 200
_VOICE_MARKS = ("\u3099", "\u309a")
_ENGLISH = re.compile("[a-z]{3,}")


def query_pattern(text: str, *, also: Iterable[str] = ()) -> re.Pattern[str] | None:
    """Make the pattern of what to mark for a question; None when it has no words.

    Its words in any form of English, in Japanese with or without a long vowel at the end, its days and months in
    digits of any calendar, and the texts of ``also`` (phrases, synonyms) as they are. It is for texts folded by
    `fold_characters`.
    """
    words = [*also, *surfaces(text)]
    folded = dict.fromkeys(fold_characters(word) for word in words if word.strip())
    days = [mention for mention in find_dates(fold(text)) if mention.month is not None]
    patterns = [spellings(day) for day in days[:MAX_WORDS]]
    patterns += [_pattern(word) for word in sorted(list(folded)[:MAX_WORDS], key=lambda word: (-len(word), word))]
    return re.compile("|".join(patterns)) if patterns else None


def highlight_spans(content: str, pattern: re.Pattern[str] | None) -> tuple[tuple[int, int], ...]:
    """Find the spans of ``content`` to mark, half-open, in order, without overlap; those that touch are one."""
    if pattern is None:
        return ()
    spans: list[tuple[int, int]] = []
    for found in pattern.finditer(fold_characters(content)):
        start, end = found.span()
        if spans and spans[-1][1] == start:
            start = spans.pop()[0]
        spans.append((start, end))
        if len(spans) == MAX_SPANS:
            break
    return tuple(spans)


def fold_characters(text: str) -> str:
    """Fold case and width character by character, so that offsets stay those of the original.

    >>> fold_characters("ＦＲ－００１")
    'fr-001'
    """
    return "".join(map(_fold_character, text))


def _fold_character(character: str) -> str:
    if character < "\x80":
        return character.lower()
    folded = unicodedata.normalize("NFKC", character).casefold()
    return folded if len(folded) == 1 else character


def _pattern(word: str) -> str:
    if _ENGLISH.fullmatch(word):
        root = stem(word)
        root = root[:-1] if root.endswith(("i", "e")) and len(root) > 3 else root
        return rf"(?<![a-z0-9]){re.escape(root)}[a-z]*" if word.startswith(root) else rf"(?<![a-z0-9]){word}"
    if word[-1] == "ー" and len(word) > 2:
        return _as_written(word[:-1]) + "ー?"
    edge = "(?![a-z0-9])" if word.isascii() and word[-1].isalnum() else ""
    return ("(?<![a-z0-9])" if word.isascii() and word[0].isalnum() else "") + _as_written(word) + edge


def _as_written(word: str) -> str:
    """Match a word also where a kana's voice mark is a character of its own, as in half width: ﾊﾞ."""
    return "".join(map(_as_one_or_two, word))


def _as_one_or_two(character: str) -> str:
    apart = unicodedata.normalize("NFD", character)
    return f"(?:{character}|{apart})" if apart[1:] in _VOICE_MARKS else re.escape(character)
