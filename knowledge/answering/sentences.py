"""The sentences of a passage, with their places in the version's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.answering.types import Citation
from knowledge.backends.chunkers.sentences import sentence_spans
from knowledge.types.search import Hit

# A new line starts something new when it begins like a heading, a list item, a table row, a quote or a fence, and
# behind a heading always.
_BREAK = re.compile(
    r"(?:\A|(?<=\n))#{1,6} [^\n]*\n"
    r"|\n(?:[ \t　]*\n|(?=[ \t　]*(?:#{1,6} |[-*+・●○] ?|\(?[0-9０-９]+[.)．）] |\||>|```)))"
)
_MARKER = re.compile(r"[ \t　]*(?:(?:[-*+・●○]|\(?[0-9０-９]+[.)．）])[ \t　]+|>[ \t　]?)?")
# Headings, fences, rulers, and lines of a table of contents: links into the document, or dots that lead to a page.
_NO_STATEMENT = re.compile(
    r"#{1,6} |```|[|\s:\-=*_]*\Z|\s*(?:[-*+] )?\[[^\n]*\]\(#[^\s)]*\)\s*\Z|[^\n]*?[.．・…‥]{4}[.．・…‥ ]*[0-9]"
)
_LEAST_CHARACTERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSentence:
    """A sentence of a hit: its text, and where it begins and ends within ``hit.content``."""

    hit: Hit
    text: str
    start: int
    end: int

    def cite(self) -> Citation:
        base = self.hit.start_offset
        return Citation(hit=self.hit, quote=self.text, start_offset=base + self.start, end_offset=base + self.end)


def sentences_of(hit: Hit) -> Iterator[PlacedSentence]:
    """Yield what a passage states, in order: sentences, list items and table rows, but no headings and the like."""
    content = hit.content
    begin = 0
    for stop in (*(match.end() for match in _BREAK.finditer(content)), len(content)):
        if not _NO_STATEMENT.match(content, begin, stop):
            for start, end in sentence_spans(content, begin, stop):
                if placed := _trimmed(hit, start, end):
                    yield placed
        begin = stop


def whole_passage(hit: Hit) -> PlacedSentence:
    """The passage as one sentence, for one that has none."""
    return PlacedSentence(hit=hit, text=hit.content, start=0, end=len(hit.content))


def _trimmed(hit: Hit, start: int, end: int) -> PlacedSentence | None:
    content = hit.content
    while end > start and content[end - 1].isspace():
        end -= 1
    marker = _MARKER.match(content, start, end)
    start = marker.end() if marker else start
    while start < end and content[start].isspace():
        start += 1
    if end - start < _LEAST_CHARACTERS:
        return None
    return PlacedSentence(hit=hit, text=content[start:end], start=start, end=end)
