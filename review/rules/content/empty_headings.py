"""Headings with nothing below them: what says all in its own line is none, and several in a row are one finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from knowledge.ontology.passages import is_drawn
from knowledge.text.outline import unnumbered_title
from knowledge.types.documents import Section
from review.rules.content.unfilled import Unfilled
from review.rules.structure.headings import heading_span
from review.types import RuleInput

# A day, and what minutes say behind the name of a particular: 日時 5月9日, 出席者 山田、佐藤.
_SAYS = re.compile(
    r"[0-9０-９]{1,4}[年/.-][0-9０-９]{1,2}[月/.-][0-9０-９]{1,2}|[0-9０-９]{1,2}月[0-9０-９]{1,2}日"
    r"|^(?:日時|日付|場所|会場|(?:出|欠)席者|参加者|司会|記録|議題)[ \u3000:：]+\S"
)
_FEWEST_OF_A_RUN = 3


def says_itself(section: Section) -> bool:
    """Tell whether the heading's own line is all that is to be said, or draws part of a tree."""
    title = unnumbered_title(section.title)
    return bool(_SAYS.search(title)) or is_drawn(title)


def contents_entries(sections: Sequence[Section], contents: frozenset[str]) -> frozenset[str]:
    """Return the ids of the headings right below a table of contents that are its entries, set as headings."""
    found: set[str] = set()
    level = 0
    for section in sections:
        if section.id in contents:
            level = section.level
        elif level and section.level > level:
            found.add(section.id)
        else:
            level = 0
    return frozenset(found)


def empty_runs(empty: Sequence[Section], target: RuleInput) -> Iterator[Unfilled]:
    """Yield the empty sections; three and more that follow each other at one level have one cause, and are one."""
    order = {section.id: at for at, section in enumerate(target.sections)}
    followed = [(order[section.id] - at, section.level) for at, section in enumerate(empty)]
    for _, group in groupby(zip(followed, empty, strict=True), key=lambda each: each[0]):
        run = [section for _, section in group]
        for together in [run] if len(run) >= _FEWEST_OF_A_RUN else [[section] for section in run]:
            yield Unfilled(
                titles=tuple(section.title for section in together),
                spans=tuple(heading_span(target.text, section) for section in together),
            )
