"""Where lines and sentences end, Japanese and English ones, and what is in brackets: for chunks, rules and quotes.

Pure. It reads running text; a table's rows and a list's items are for the caller to part.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence


def lines_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a stretch, each with its line end.

    >>> list(lines_of("一\\n二", 0, 3))
    [(0, 2), (2, 3)]
    """
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline + 1
        yield start, stop
        start = stop


_PAIRS = {"「": "」", "『": "』", "（": "）", "(": ")", "【": "】", "〔": "〕", "《": "》", "〈": "〉", "［": "］"} | {
    "[": "]", "｛": "｝", "{": "}", "“": "”",
}  # fmt: skip
OPENING, CLOSING = "".join(_PAIRS), "".join(_PAIRS.values())
_BRACKET = re.compile(f"[{re.escape(OPENING + CLOSING)}]")
# Deeper nesting is no prose; forgetting it keeps hostile text linear.
_MAX_DEPTH = 32
_CLOSING = re.escape(CLOSING) + "’\"'"
_STOP = re.compile(
    r"[。！？\u2028]+|(?<![0-9０-９])．(?![0-9０-９A-Za-z])|[!?]+(?=\s|$)"
    rf"|\?+(?=[{_CLOSING}\u3040-\u9fff])|\.(?=\s+[A-Z\"'“(\u3040-\u9fff]|\s*$)"
)
_BEHIND = re.compile(rf"[{_CLOSING}]*\s*")
# Behind a bracket or quotation the sentence around it goes on: 「行く。」と言った, （例外がある。）。
_ON = "\u3041-\u3096、，。．！？・"
_GOES_ON = re.compile(f"[{_ON}]")
SENTENCE_END = rf"[。！？]++(?:[{_CLOSING}]++(?![{_ON}])|(?![{_CLOSING}]))"
"""A regular expression for the end of a Japanese sentence, for who cuts what is too long: also within brackets."""
_MIN_ENGLISH_SENTENCE = 12


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of ``text[start:end]`` as spans without gaps; blanks belong to the sentence before.

    Sentence ends inside brackets don't count, unless the bracket is never closed, or is a sentence by itself.

    >>> line = "彼は「はい。」と言った。（補足。）次へ。"
    >>> [line[a:b] for a, b in sentence_spans(line, 0, len(line))]
    ['彼は「はい。」と言った。', '（補足。）', '次へ。']
    """
    begin = start
    for stop in sentence_ends(text, start, end):
        yield begin, stop
        begin = stop
    if begin < end:
        yield begin, end


def sentence_ends(text: str, start: int, end: int, *, inside_brackets: bool = False) -> Iterator[int]:
    """Yield where sentences end in ``text[start:end]``, in order, behind closing marks and blanks.

    ``inside_brackets`` are those within brackets too. What follows the last one is no whole sentence.
    """
    pairs = [] if inside_brackets else brackets(text, start, end)
    openings = [first for first, _ in pairs]
    begin = start
    for match in _STOP.finditer(text, start, end):
        if match.start() < begin or (match[0] == "." and match.start() - begin < _MIN_ENGLISH_SENTENCE):
            continue
        behind = _BEHIND.match(text, match.end(), end)
        stop = behind.end() if behind else match.end()
        around = bisect_left(openings, match.start()) - 1
        closed = pairs[around][1] if around >= 0 else 0
        if closed > match.start() and (closed > stop or _GOES_ON.match(text, stop, end)):
            continue
        yield stop
        begin = stop


def sentences_around(text: str, start: int, end: int, *, borders: Sequence[str] = "\n") -> tuple[int, int]:
    """Return the span of the sentences that ``[start, end)`` lies in, up to the next of the ``borders``.

    >>> line = "はじめに。（補足。）応答は速い。次。"
    >>> line[slice(*sentences_around(line, line.index("速い"), line.index("速い") + 2))]
    '応答は速い。'
    """
    before = ((at, len(border)) for border in borders if (at := text.rfind(border, 0, start)) >= 0)
    first = max((at + length for at, length in before), default=0)
    last = min((at for border in borders if (at := text.find(border, max(end, start + 1))) >= 0), default=len(text))
    spans = [span for span in sentence_spans(text, first, last) if span[1] > start and span[0] < max(end, start + 1)]
    return (spans[0][0], spans[-1][1]) if spans else (start, end)


def brackets(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the outermost pairs of matching brackets in ``text[start:end]``, brackets included, in order."""
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
            spans.append((first, index + 1))
    return spans
