"""Numbers of headings, the sequence they form, and headings that a broken code fence has swallowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge.text.numbering import heading_number
from knowledge.text.structure import heading_text
from knowledge.types.documents import Block, BlockKind, Section
from review.types import Span

Number = tuple[int, ...]

_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_HEADING_LINE = re.compile(r"^(#{1,6})[ \t]+(\S[^\n]*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedHeading:
    """A heading with a decimal number.

    ``scope`` names the run of numbers it belongs to: numbering may start again under another unnumbered heading.
    ``hidden`` headings stand inside a code block.
    """

    number: Number
    title: str
    level: int
    start: int
    end: int
    scope: str
    hidden: bool = False

    @property
    def label(self) -> str:
        return ".".join(map(str, self.number))


def decimal_number(title: str) -> Number | None:
    """Return the decimal number a heading begins with, or None. Annex letters and (1) are no decimal numbers.

    >>> decimal_number("第3章 設計"), decimal_number("1.2．目的"), decimal_number("3D描画機能")
    ((3,), (1, 2), None)
    """
    number = heading_number(title)
    return tuple(map(int, number.split("."))) if number and _DECIMAL.fullmatch(number) else None


def heading_span(text: str, section: Section) -> Span:
    """Return where the heading's line stands, without the line break."""
    line = text[section.start : section.body_start]
    return Span(start=section.start, end=section.start + len(line.rstrip()))


def numbered_headings(text: str, sections: tuple[Section, ...]) -> tuple[NumberedHeading, ...]:
    """Return the numbered headings in document order, each with the scope its number counts in."""
    by_id = {section.id: section for section in sections}
    found = []
    for section in sections:
        number = decimal_number(section.title)
        if number is not None:
            found.append(
                NumberedHeading(
                    number=number,
                    title=section.title.strip(),
                    level=section.level,
                    start=section.start,
                    end=heading_span(text, section).end,
                    scope=_scope(section, number, by_id),
                )
            )
    return tuple(found)


def hidden_headings(text: str, blocks: tuple[Block, ...]) -> tuple[NumberedHeading, ...]:
    """Return numbered Markdown heading lines that stand inside code blocks, in document order.

    They are candidates only: a code block may well show Markdown on purpose.
    """
    return tuple(
        NumberedHeading(
            number=number,
            title=match.group(2),
            level=len(match.group(1)),
            start=match.start(),
            end=match.end(),
            scope="",
            hidden=True,
        )
        for block in blocks
        if block.kind is BlockKind.CODE
        for match in _HEADING_LINE.finditer(text, block.start, block.end)
        if (number := decimal_number(heading_text(match.group(2)))) is not None
    )


def follows(previous: Number, number: Number) -> bool:
    """Tell whether ``number`` may come right after ``previous``: its first child, or the next one at some level."""
    if len(number) == len(previous) + 1 and number[:-1] == previous:
        return number[-1] in (0, 1)
    depth = len(number) - 1
    return depth < len(previous) and number[:depth] == previous[:depth] and number[depth] == previous[depth] + 1


def runs_of(headings: Sequence[NumberedHeading]) -> list[list[NumberedHeading]]:
    """The headings by the scope their numbers count in, in document order."""
    scopes = dict.fromkeys(heading.scope for heading in headings)
    return [[heading for heading in headings if heading.scope == scope] for scope in scopes]


def with_hidden(run: list[NumberedHeading], hidden: Sequence[NumberedHeading]) -> list[NumberedHeading]:
    """Put headings that a code fence swallowed back where they fill a hole in the numbering."""
    result = run[:1]
    for current in run[1:]:
        if not follows(result[-1].number, current.number):
            for candidate in hidden:
                between = result[-1].start < candidate.start < current.start
                if between and follows(result[-1].number, candidate.number):
                    result.append(candidate)
        result.append(current)
    return result


def heading_spans(headings: Iterable[NumberedHeading]) -> tuple[Span, ...]:
    """Return where the headings' lines stand, in document order, none twice."""
    spans = {(heading.start, heading.end) for heading in headings}
    return tuple(Span(start=start, end=end) for start, end in sorted(spans))


def _scope(section: Section, number: Number, by_id: dict[str, Section]) -> str:
    ancestor = by_id.get(section.parent_id or "")
    while ancestor is not None:
        above = decimal_number(ancestor.title)
        if above is None:
            return ancestor.id
        if len(number) == 1:
            # 「1. ログインする」 below 「3.1 操作手順」, or 第1節 below 第1章: numbered on their own.
            return ancestor.id
        ancestor = by_id.get(ancestor.parent_id or "")
    return ""
