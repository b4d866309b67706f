"""What became of findings between two reviews: fixed, new, still open, moved. Pure; loads and stores nothing.

First the sections of both texts are aligned, then the findings are matched: by fingerprint, and where a reworded
passage has changed the fingerprint, by rule, aligned section and likeness of the quoted text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.text.folding import fold_case
from knowledge.text.numbering import ORDINAL, heading_number
from knowledge.text.structure import section_at
from knowledge.types.documents import Section

ALIKE_SECTIONS = 0.5
"""Share of common character pairs from which two sections' texts count as one section, edited."""
ALIKE_QUOTES = 0.5
"""The same for the quotes of two findings of one rule in one section."""
_COMPARED_CHARACTERS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A finding as matching sees it.

    ``places`` are the offsets of its quotes in the text, none when something is missing there; ``quote`` is the first
    one, ``subject`` what is missing (a topic's code), ``names`` the identifiers or spellings that it is about.
    """

    fingerprint: str
    rule_id: str
    check_item_id: str
    places: tuple[int, ...] = ()
    quote: str = ""
    subject: str = ""
    names: frozenset[str] = frozenset()


def names_in(data: Mapping[str, Any]) -> frozenset[str]:
    """The identifiers and spellings that a finding's data lists."""
    return frozenset(str(name) for field in ("identifiers", "variants") for name in data.get(field) or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """One of the two sides: the text, its outline, its findings, and the items whose check was decided."""

    text: str
    sections: Sequence[Section]
    findings: Sequence[Placed]
    decided: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Indices into the findings of both sides; pairs are (base, current).

    ``undecided`` are findings of the base whose check the current review did not decide, or that rest on what it was
    not given to read: nobody knows whether they are fixed.
    """

    fixed: tuple[int, ...]
    new: tuple[int, ...]
    open: tuple[tuple[int, int], ...]
    moved: tuple[tuple[int, int], ...]
    undecided: tuple[int, ...]


def match_findings(base: Reviewed, current: Reviewed) -> Matching:
    """Return what became of each finding. Every finding is in exactly one of the answer's lists, in given order."""
    aligned = align_sections(base, current)
    pairs = _by_fingerprint(base.findings, current.findings)
    pairs |= _by_likeness(base, current, aligned, pairs)
    unmatched = [index for index in range(len(base.findings)) if index not in pairs]
    moved = {index for index, other in pairs.items() if _has_moved(base, current, aligned, index, other)}
    taken = set(pairs.values())
    return Matching(
        fixed=tuple(index for index in unmatched if base.findings[index].check_item_id in current.decided),
        new=tuple(index for index in range(len(current.findings)) if index not in taken),
        open=tuple(sorted(pair for pair in pairs.items() if pair[0] not in moved)),
        moved=tuple(sorted(pair for pair in pairs.items() if pair[0] in moved)),
        undecided=tuple(index for index in unmatched if base.findings[index].check_item_id not in current.decided),
    )


def _by_fingerprint(base: Sequence[Placed], current: Sequence[Placed]) -> dict[int, int]:
    where = {finding.fingerprint: index for index, finding in enumerate(current)}
    return {index: where[finding.fingerprint] for index, finding in enumerate(base) if finding.fingerprint in where}


def _by_likeness(base: Reviewed, current: Reviewed, aligned: dict[str, str], pairs: dict[int, int]) -> dict[int, int]:
    """Match what is left, the most alike first; of equals the first in the documents."""
    taken = set(pairs.values())
    left = [(index, one) for index, one in enumerate(base.findings) if index not in pairs]
    right = [(index, one) for index, one in enumerate(current.findings) if index not in taken]
    candidates = []
    for index, one in left:
        for other_index, other in right:
            likeness = _likeness(base, current, aligned, one, other)
            if likeness >= ALIKE_QUOTES:
                candidates.append((-likeness, index, other_index))
    return _best_pairs(candidates)


def _likeness(base: Reviewed, current: Reviewed, aligned: dict[str, str], one: Placed, other: Placed) -> float:
    if (one.rule_id, one.check_item_id) != (other.rule_id, other.check_item_id):
        return 0.0
    if one.names & other.names:  # a group of which some went or came: what is left of it is still open
        return ALIKE_QUOTES + (1 - ALIKE_QUOTES) * likeness(one.names, other.names)
    if one.names and other.names:  # FR-006 and FR-016 look alike, and are not the same defect
        return 0.0
    if not one.places or not other.places:
        return 1.0 if one.subject and one.subject == other.subject else 0.0
    section, other_section = section_at(base.sections, one.places[0]), section_at(current.sections, other.places[0])
    if section is not None and other_section is not None and aligned.get(section.id) != other_section.id:
        return 0.0
    return likeness(_pairs(one.quote), _pairs(other.quote))


def _best_pairs(candidates: Iterable[tuple[float, int, int]]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _likeness_below_zero, index, other in sorted(candidates):
        if index not in pairs and other not in taken:
            pairs[index] = other
            taken.add(other)
    return pairs


def _has_moved(base: Reviewed, current: Reviewed, aligned: dict[str, str], index: int, other: int) -> bool:
    """None of its places is in a section that it was in before. What only slid along with its section stays."""
    before = {_section_id(base.sections, start) for start in base.findings[index].places}
    after = {_section_id(current.sections, start) for start in current.findings[other].places}
    if not before or not after:
        return False
    return not {aligned.get(one, "") if one else "" for one in before} & after


def _section_id(sections: Sequence[Section], offset: int) -> str:
    """The section's id, empty before the first heading."""
    section = section_at(sections, offset)
    return section.id if section else ""


def align_sections(base: Reviewed, current: Reviewed) -> dict[str, str]:
    """Find for the base's sections the same ones in the current text: ids to ids, each used once.

    By path without numbers, then by likeness of the own text, then by title alone, and last by likeness of the title.
    """
    pairs = _same_key(base.sections, current.sections, {}, path_key)
    taken = set(pairs.values())
    left = [(one.id, _own_pairs(base.text, one)) for one in base.sections if one.id not in pairs]
    right = [(one.id, _own_pairs(current.text, one)) for one in current.sections if one.id not in taken]
    by_text = _alike(left, right)
    pairs = _same_key(base.sections, current.sections, pairs | by_text, title_key)
    return pairs | _alike_titles(base.sections, current.sections, pairs)


def _alike_titles(base: Sequence[Section], current: Sequence[Section], pairs: dict[str, str]) -> dict[str, str]:
    """A renamed section without text of its own has only its title to be known by."""
    taken = set(pairs.values())
    left = [(one.id, _pairs(title_key(one))) for one in base if one.id not in pairs]
    right = [(one.id, _pairs(title_key(one))) for one in current if one.id not in taken]
    return _alike(left, right)


def _alike(left: Sequence[tuple[str, frozenset[str]]], right: Sequence[tuple[str, frozenset[str]]]) -> dict[str, str]:
    candidates = [
        (-found, index, other)
        for index, (_id, text) in enumerate(left)
        for other, (_other_id, other_text) in enumerate(right)
        if (found := likeness(text, other_text)) >= ALIKE_SECTIONS
    ]
    return {left[index][0]: right[other][0] for index, other in _best_pairs(candidates).items()}


def _same_key(
    base: Sequence[Section], current: Sequence[Section], pairs: dict[str, str], key: Callable[[Section], Hashable]
) -> dict[str, str]:
    """Add the pairs of what is left whose key is the same; of several with one key the first goes to the first."""
    taken = set(pairs.values())
    waiting: dict[Hashable, list[str]] = {}
    for other in current:
        if other.id not in taken:
            waiting.setdefault(key(other), []).append(other.id)
    found = dict(pairs)
    for one in base:
        if one.id not in found and waiting.get(key(one)):
            found[one.id] = waiting[key(one)].pop(0)
    return found


def path_key(section: Section) -> tuple[str, ...]:
    """The titles from the top, without numbers and folded in width, case and spacing."""
    return tuple(_bare(title) for title in section.path)


def title_key(section: Section) -> str:
    """The title alone, as ``path_key`` has it."""
    return _bare(section.title)


_NUMBER = re.compile(
    rf"^(?:{ORDINAL}|第?\s*[0-9]+(?:[.\-][0-9]+)*\s*[章節項編部]?|[（(][0-9]+[)）]|[①-⑳]|[A-Z]\.)[.．、:：]?\s*"
)


def _bare(title: str) -> str:
    folded = fold_case(title).strip()
    if heading_number(folded):
        folded = _NUMBER.sub("", folded) or folded
    return "".join(folded.split())


def _own_pairs(text: str, section: Section) -> frozenset[str]:
    return _pairs(text[section.body_start : section.body_end].strip()[:_COMPARED_CHARACTERS])


def _pairs(text: str) -> frozenset[str]:
    """Every two neighbouring characters, without spaces; the text itself when it has but one."""
    squeezed = "".join(text.split())
    if len(squeezed) < 2:
        return frozenset((squeezed,)) if squeezed else frozenset()
    return frozenset(squeezed[index : index + 2] for index in range(len(squeezed) - 1))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common members, 0 to 1. Source: Sørensen–Dice coefficient."""
    total = len(one) + len(other)
    if not total or 3 * min(len(one), len(other)) < max(len(one), len(other)):
        return 0.0  # with such different sizes the share is below any limit that is used here
    return 2 * len(one & other) / total
