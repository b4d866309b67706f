"""What of a text a model is not shown and what can prove nothing: instructions to it, what no reader sees. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge.text.outline import contents_ids, is_history
from knowledge.text.structure import COMMENT
from knowledge.types.documents import Section
from review.rules.base import shipped
from review.types import Span

WITHHELD = "［読者に見えない部分、または言語モデルへの指示と読める文を除いた］"
FIGURE = "［図。代替テキストは除いた］"
_FRONT_MATTER = re.compile(r"\A---\n.{0,5000}?\n---\n", re.S)
_IMAGE = re.compile(r"!\[[^\]]{0,2000}\](?:\([^)]{0,2000}\)|\[[^\]]{0,500}\])?")
_TAG = re.compile(r"<[A-Za-z][\w:-]{0,30}\s[^<>]{0,2000}=[^<>]{0,2000}>")
_REFERENCE = re.compile(r"^\[(?!\^)[^\]\n]{1,300}\]:[^\n]*$", re.M)
_TAGGED = re.compile("[\U000e0020-\U000e007e]+")
_OPENING = re.compile(r"<(?P<tag>[a-z]{1,30})\b[^<>]{0,2000}>", re.I)
_LONGEST_HIDDEN = 5_000
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s[^\n]*$", re.M)


def unseen_in(text: str) -> tuple[Span, ...]:
    """Find what no reader of a text sees: comments, properties, alternative texts, invisible formatting.

    >>> text = "可用性。<!-- 稼働率は99.9%とする。 -->"
    >>> [text[span.start : span.end] for span in unseen_in(text)]
    ['<!-- 稼働率は99.9%とする。 -->']
    """
    return joined(Span(start=start, end=end) for start, end in _unseen(text))


def _unseen(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in COMMENT.finditer(text) if match["open"] is None)
    for pattern in (_FRONT_MATTER, _IMAGE, _TAG, _REFERENCE, _TAGGED):
        yield from (match.span() for match in pattern.finditer(text))
    styles = re.compile(shipped("injection")["hidden_styles"], re.IGNORECASE)
    yield from _hidden_elements(text, styles)


def _hidden_elements(text: str, styles: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The elements whose own style hides them, up to the first end of such an element."""
    for opening in _OPENING.finditer(text):
        if not styles.search(opening[0]):
            continue
        closing = re.compile(rf"</{opening['tag']}>", re.IGNORECASE)
        if found := closing.search(text, opening.end(), opening.end() + _LONGEST_HIDDEN):
            yield opening.start(), found.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """The stretches that no quote may stand in to take a finding back; ``history`` only where it isn't the subject."""

    anywhere: tuple[Span, ...]
    history: tuple[Span, ...]

    def holds(self, span: Span, *, is_about_history: bool = False) -> bool:
        """Tell whether a quote stands in any of them."""
        if overlaps(self.anywhere, span.start, span.end):
            return True
        return not is_about_history and overlaps(self.history, span.start, span.end)


NOTHING_UNFIT = Unfit(anywhere=(), history=())


def unfit_for_proof(
    text: str, sections: Sequence[Section], *, withheld: Sequence[Span], planted: Sequence[Span]
) -> Unfit:
    """Find what proves nothing.

    It is what is ``withheld`` from a model, the whole passages with ``planted`` instructions, headings, the table of
    contents and the change history.
    """
    contents = contents_ids(text, tuple(sections))
    anywhere = [
        *withheld,
        *(_passage_around(text, sections, span) for span in planted),
        *(Span(start=match.start(), end=match.end()) for match in _HEADING.finditer(text)),
        *(Span(start=section.start, end=section.end) for section in sections if section.id in contents),
    ]
    history = [Span(start=section.start, end=section.end) for section in sections if is_history(section)]
    return Unfit(anywhere=joined(anywhere), history=joined(history))


def _passage_around(text: str, sections: Sequence[Section], span: Span) -> Span:
    """The section's own text that a span stands in; without headings the paragraph."""
    for section in sections:
        if section.start <= span.start < section.body_end:
            return Span(start=section.start, end=max(section.body_end, span.end))
    start, end = text.rfind("\n\n", 0, span.start), text.find("\n\n", span.end)
    return Span(start=max(start, 0), end=end if end >= 0 else len(text))


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Put stretches in order, by document, and those that touch or overlap together."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.document, one.start, one.end)):
        last = merged[-1] if merged else None
        if last is not None and last.document == span.document and span.start <= last.end:
            merged[-1] = replace(last, end=max(last.end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    """Tell whether any of the stretches has a part of ``[start, end)``."""
    return any(span.start < end and start < span.end for span in spans)


def shown_text(text: str, start: int, end: int, withheld: Sequence[Span]) -> str:
    """The stretch ``[start, end)`` as a model is shown it; ``withheld`` are in order and do not overlap."""
    parts: list[str] = []
    place = start
    for span in withheld:
        if span.end <= place or span.start >= end:
            continue
        is_figure = text.startswith(("![", "<img"), span.start) and span.start >= place
        parts += [text[place : max(span.start, place)], FIGURE if is_figure else WITHHELD]
        place = min(span.end, end)
    return "".join([*parts, text[place:end]])
