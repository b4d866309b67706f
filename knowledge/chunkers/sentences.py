"""Cut text into sentences by Japanese and English rules."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain

_PAIRS = {"「": "」", "『": "』", "（": "）", "(": ")", "【": "】", "〔": "〕", "《": "》", "〈": "〉", "［": "］"}
_BRACKET = re.compile("[" + re.escape("".join(chain.from_iterable(_PAIRS.items()))) + "]")
# Deeper nesting is no prose; forgetting it keeps hostile text linear.
_MAX_DEPTH = 32
_END = re.compile(r"[。！？]+|(?<![0-9０-９])．|[!?]+(?=\s|$)|\.(?=\s+[A-Z\"'“(\u3040-\u9fff]|\s*$)")
_AFTER_END = re.compile(r"[」』）)】〕》〉］”’\"']*\s*")
_MIN_ENGLISH_SENTENCE = 12


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of ``text[start:end]`` as spans without gaps; blanks belong to the sentence before.

    Sentence ends inside brackets don't count, unless the bracket is never closed.

    >>> line = "彼は「はい。」と言った。次へ。"
    >>> [line[a:b] for a, b in sentence_spans(line, 0, len(line))]
    ['彼は「はい。」と言った。', '次へ。']
    """
    inside = _bracketed(text, start, end)
    openings = [first for first, _ in inside]
    begin = start
    for match in _END.finditer(text, start, end):
        if match.start() < begin or _is_inside(match.start(), openings, inside):
            continue
        if match[0] == "." and match.start() - begin < _MIN_ENGLISH_SENTENCE:
            continue
        after = _AFTER_END.match(text, match.end(), end)
        stop = after.end() if after else match.end()
        yield begin, stop
        begin = stop
    if begin < end:
        yield begin, end


def _is_inside(index: int, openings: list[int], spans: list[tuple[int, int]]) -> bool:
    nearest = bisect_left(openings, index) - 1
    return nearest >= 0 and index < spans[nearest][1]


def _bracketed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Find the outermost pairs of matching brackets, in order."""
    spans: list[tuple[int, int]] = []
    waiting: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text, start, end):
        char, index = match[0], match.start()
        if char in _PAIRS:
            waiting.append((_PAIRS[char], index))
            if len(waiting) > _MAX_DEPTH:
                waiting.clear()
            continue
        opener = next((depth for depth in reversed(range(len(waiting))) if waiting[depth][0] == char), None)
        if opener is not None:
            first = waiting[opener][1]
            del waiting[opener:]
            while spans and spans[-1][0] > first:
                spans.pop()
            spans.append((first, index))
    return spans
