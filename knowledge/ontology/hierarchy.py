"""Headings that do not nest as their levels and numbers say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.text.structure import is_table_of_contents
from knowledge.types.documents import Section
from knowledge.types.notices import text_of

_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchyIssue:
    """``issue_type`` is skipped_level, wrong_parent or wrong_order; ``section`` is the heading at fault."""

    issue_type: str
    section: Section
    description_ja: str
    description_en: str


def hierarchy_issues(text: str, sections: Sequence[Section]) -> tuple[HierarchyIssue, ...]:
    """List headings that skip a level, are in another chapter than their number says, or are out of order.

    The table of contents is not looked at. In document order.
    """
    body = [section for section in sections if not is_table_of_contents(section, text)]
    issues = [*_skipped(body), *_wrong_parents(body), *_wrong_order(body)]
    return tuple(sorted(issues, key=lambda issue: (issue.section.start, issue.issue_type)))


def _skipped(sections: Sequence[Section]) -> Iterator[HierarchyIssue]:
    for before, after in pairwise(sections):
        if after.level > before.level + 1:
            yield _issue("skipped_level", after, before)


def _wrong_parents(sections: Sequence[Section]) -> Iterator[HierarchyIssue]:
    by_id = {section.id: section for section in sections}
    for section in sections:
        parent = by_id.get(section.parent_id or "")
        own, above = _numbers(section), _numbers(parent)
        if parent and above and len(own) > len(above) and own[: len(above)] != above:
            yield _issue("wrong_parent", section, parent)


def _wrong_order(sections: Sequence[Section]) -> Iterator[HierarchyIssue]:
    """Compare each numbered heading with the one before it under the same parent whose number is as long."""
    last: dict[tuple[str | None, int], Section] = {}
    for section in sections:
        numbers = _numbers(section)
        if not numbers:
            continue
        place = section.parent_id, len(numbers)
        before = last.get(place)
        if before and _numbers(before)[:-1] == numbers[:-1] and numbers[-1] < _numbers(before)[-1]:
            yield _issue("wrong_order", section, before)
        last[place] = section


def _issue(issue_type: str, section: Section, before: Section) -> HierarchyIssue:
    said = text_of("hierarchy", issue_type, section=section, before=before)
    return HierarchyIssue(issue_type=issue_type, section=section, description_ja=said.ja, description_en=said.en)


def _numbers(section: Section | None) -> tuple[int, ...]:
    number = section.number if section else None
    return tuple(map(int, number.split("."))) if number and _DOTTED.fullmatch(number) else ()
