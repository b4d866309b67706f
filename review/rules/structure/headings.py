"""Headings: the sequence that their numbers form, levels that were jumped over, those in an unbalanced code fence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

from knowledge.text.numbering import heading_number
from knowledge.text.structure import heading_text
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.base import finding, joined, listed, quoted, rule, skipped, spans_of
from review.rules.structure.number_runs import own_runs
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

Number = tuple[int, ...]

_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_LONGEST_UNMARKED = 40
_IN_SENTENCE = re.compile(r"[。\n]")
_HEADING_LINE = re.compile(r"^(#{1,6})[ \t]+(\S[^\n]*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedHeading:
    """A heading with a decimal number.

    ``scope`` names the run of numbers it belongs to: numbering may start again under another unnumbered heading.
    ``hidden`` headings stand inside a code block. ``is_sheet``: it is the title of a workbook's sheet.
    """

    number: Number
    title: str
    level: int
    start: int
    end: int
    scope: str
    hidden: bool = False
    is_sheet: bool = False

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


@lru_cache(maxsize=4)
def sheet_titles(sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> frozenset[str]:
    """Return the sections that number a workbook's sheet, and are followed there by a numbering that begins anew.

    Such a heading is the title of the sheet, and what follows is its content.
    """
    sheets = {block.start: block.sheet for block in blocks if block.kind is BlockKind.HEADING and block.sheet}
    numbered = [
        (sheets[section.start], section, number)
        for section in sections
        if section.start in sheets and (number := decimal_number(section.title)) is not None
    ]
    found = set()
    for _, group in groupby(numbered, key=lambda each: each[0]):
        (_, first, _), *others = group
        if others and others[0][1].level == first.level and others[0][2] == (1,):
            found.add(first.id)
    return frozenset(found)


def numbered_headings(
    text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...] = ()
) -> tuple[NumberedHeading, ...]:
    """Return the numbered headings in document order, each with the scope its number counts in."""
    by_id = {section.id: section for section in sections}
    titles = sheet_titles(sections, blocks)
    continued = _continued(sections, by_id)
    firsts = {b.sheet: b.start for b in reversed(blocks) if b.kind is BlockKind.HEADING and b.sheet}
    starts = frozenset(firsts.values())
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
                    scope=section.id if section.id in titles else _scope(section, number, by_id, continued),
                    is_sheet=section.start in starts,
                )
            )
    return _with_own_runs(found)


def _with_own_runs(headings: list[NumberedHeading]) -> tuple[NumberedHeading, ...]:
    """Give those that count on their own within a scope one of their own."""
    scopes: dict[str, list[int]] = defaultdict(list)
    for at, heading in enumerate(headings):
        scopes[heading.scope].append(at)
    found = list(headings)
    for places in scopes.values():
        members = [headings[at] for at in places]
        runs = own_runs([(each.number, each.title, each.level) for each in members])
        for at, heading, run in zip(places, members, runs, strict=True):
            found[at] = replace(heading, scope=f"{heading.scope}{run}") if run else heading
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


def _unmarked_headings(text: str, blocks: tuple[Block, ...]) -> Iterable[NumberedHeading]:
    """Yield numbered lines that stand alone and are no headings to the parser: a chapter's title set as body text."""
    for block in blocks:
        line = text[block.start : block.end].strip()
        if (
            block.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST)
            or len(line) > _LONGEST_UNMARKED
            or _IN_SENTENCE.search(line)
        ):
            continue
        if (number := decimal_number(line)) is not None:
            yield NumberedHeading(
                number=number, title=line, level=1, start=block.start, end=block.end, scope="", hidden=True
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


def _continued(sections: tuple[Section, ...], by_id: dict[str, Section]) -> frozenset[str]:
    """Return the chapters whose own numbering goes on below them: # 8. above ## 9. and ## 10., one level too deep."""
    first: dict[str, int] = {}
    for section in sections:
        number, above = decimal_number(section.title), by_id.get(section.parent_id or "")
        if number is not None and len(number) == 1 and above is not None:
            first.setdefault(above.id, number[0])
    return frozenset(name for name, began in first.items() if decimal_number(by_id[name].title) == (began - 1,))


def _scope(section: Section, number: Number, by_id: dict[str, Section], continued: frozenset[str]) -> str:
    ancestor = by_id.get(section.parent_id or "")
    while ancestor is not None:
        above = decimal_number(ancestor.title)
        if above is None:
            return ancestor.id
        if len(number) == 1 and ancestor.id not in continued:
            # 「1. ログインする」 below 「3.1 操作手順」, or 第1節 below 第1章: numbered on their own.
            return ancestor.id
        ancestor = by_id.get(ancestor.parent_id or "")
    return ""


@rule("structure.duplicate_number", tags=("structure",))
def duplicate_number(target: RuleInput) -> RuleOutcome:
    """Report numbers that several headings carry; a repeated subsection is folded into its repeated chapter."""
    headings = numbered_headings(target.text, target.sections, target.blocks)
    if not headings:
        return skipped("no_numbered_headings")
    by_number: dict[tuple[str, Number], list[NumberedHeading]] = defaultdict(list)
    for heading in headings:
        by_number[heading.scope, heading.number].append(heading)
    repeated = {key: group for key, group in by_number.items() if len(group) > 1}
    findings = []
    for (scope, number), group in repeated.items():
        if any((scope, number[:depth]) in repeated for depth in range(1, len(number))):
            continue
        below = [
            heading
            for (other_scope, other), others in repeated.items()
            if other_scope == scope and len(other) > len(number) and other[: len(number)] == number
            for heading in others
        ]
        findings.append(_duplicate_finding(group, below))
    return RuleOutcome(findings=tuple(findings), examined=len(headings))


def _duplicate_finding(group: list[NumberedHeading], below: list[NumberedHeading]) -> FindingDraft:
    label = group[0].label
    numbers = [label, *dict.fromkeys(heading.label for heading in below)]
    titles = [heading.title for heading in group]
    return finding(
        "structure.duplicate_number",
        severity=Severity.MINOR,
        key=f"{group[0].scope}:{label}",
        texts="with_below" if below else "finding",
        evidence=spans_of([*group, *below]),
        data={"numbers": numbers, "titles": titles},
        words={
            "label": label,
            "count": len(group),
            "titles": quoted(titles),
            "below": joined(numbers[1:]),
            "title": titles[-1],
        },
    )


@rule("structure.number_order", tags=("structure",))
def number_order(target: RuleInput) -> RuleOutcome:
    """Report where a heading number does not continue the one before, one finding for a run of neighbouring breaks."""
    headings = numbered_headings(target.text, target.sections, target.blocks)
    if not headings:
        return skipped("no_numbered_headings")
    hidden = sorted(
        (*hidden_headings(target.text, target.blocks), *_unmarked_headings(target.text, target.blocks)),
        key=lambda heading: heading.start,
    )
    runs = runs_of(headings)
    broken = [(run, breaks) for run in runs for breaks in _break_runs(with_hidden(run, hidden))]
    findings = _order_findings(broken)
    findings.sort(key=lambda finding: finding.evidence[0].start)
    return RuleOutcome(findings=tuple(findings), examined=len(headings))


Break = tuple[NumberedHeading, NumberedHeading]
_FEWEST_OF_ONE_KIND, _MOST_SHOWN = 4, 20


def _order_findings(broken: Iterable[tuple[list[NumberedHeading], list[Break]]]) -> list[FindingDraft]:
    """Make a finding of each slip; four and more of one kind have one cause, such as chapters set as body text."""
    kinds: dict[str, list[tuple[list[NumberedHeading], list[Break]]]] = defaultdict(list)
    for run, breaks in broken:
        present = {heading.number for heading in run}
        kinds[_what_breaks(breaks, _missing_between(breaks, present))].append((run, breaks))
    findings = []
    for same in kinds.values():
        if len(same) >= _FEWEST_OF_ONE_KIND:
            findings.append(_often_finding(same))
        else:
            findings += (_order_finding(run, breaks) for run, breaks in same)
    return findings


def _often_finding(same: Sequence[tuple[list[NumberedHeading], list[Break]]]) -> FindingDraft:
    pairs = [pair for _, breaks in same for pair in breaks]
    involved = [heading for pair in pairs for heading in pair if not heading.hidden]
    run = same[0][0]
    before, after = pairs[0]
    sequences = [" → ".join(heading.label for heading in pair) for pair in pairs]
    return finding(
        "structure.number_order",
        severity=Severity.MINOR,
        key=f"{before.scope}:{sequences[0]}",
        texts="often",
        evidence=spans_of(involved[:_MOST_SHOWN]),
        data={"numbers": [heading.label for heading in involved], "missing": [], "expected": _successor(before, after)},
        confidence=max(0.0, 1 - len(pairs) / max(len(pairs), sum(len(each) - 1 for each in _distinct(same)))),
        words={
            "count": len(same),
            "sequences": listed(sequences),
            "pairs": len(run) - 1,
            "before": before.title,
            "title": after.title,
            "successor": _successor(before, after),
        },
    )


def _distinct(same: Sequence[tuple[list[NumberedHeading], list[Break]]]) -> list[list[NumberedHeading]]:
    return list({run[0].start: run for run, _ in same}.values())


def _break_runs(run: list[NumberedHeading]) -> Iterable[list[Break]]:
    """Group breaks that follow directly upon each other: 5.2, 5.4, 5.3 is one slip, not two."""
    breaks = [
        (index, (before, after))
        for index, (before, after) in enumerate(pairwise(run))
        # A jump over a level is structure.skipped_level's finding, the same number twice structure.duplicate_number's.
        if not follows(before.number, after.number)
        and not _begins_sheet(before, after)
        and after.level <= before.level + 1
        and before.number != after.number
    ]
    for _, members in groupby(enumerate(breaks), key=lambda entry: entry[1][0] - entry[0]):
        yield [pair for _, (_, pair) in members]


def _begins_sheet(before: NumberedHeading, after: NumberedHeading) -> bool:
    """Whether a sheet has the first part of the next chapter, 3.1 after 2: a workbook has no sheet for 3 itself."""
    return after.is_sheet and after.number == (before.number[0] + 1, 1)


def _order_finding(run: list[NumberedHeading], breaks: list[Break]) -> FindingDraft:
    present = {heading.number for heading in run}
    involved = list(dict.fromkeys(heading for pair in breaks for heading in pair))
    sequence = " → ".join(heading.label for heading in involved)
    missing = _missing_between(breaks, present)
    before, after = breaks[0]
    return finding(
        "structure.number_order",
        severity=Severity.MINOR,
        key=f"{before.scope}:{sequence}",
        texts=_what_breaks(breaks, missing),
        evidence=spans_of(heading for heading in involved if not heading.hidden),
        data={
            "numbers": [heading.label for heading in involved],
            "missing": missing,
            "expected": _successor(before, after),
        },
        confidence=1 - len(breaks) / (len(run) - 1),
        words={
            "sequence": sequence,
            "missing": joined(missing),
            "parent": ".".join(map(str, after.number[:-1])),
            "before": before.title,
            "pairs": len(run) - 1,
            "title": after.title,
            "successor": _successor(before, after),
        },
    )


def _what_breaks(breaks: list[Break], missing: list[str]) -> str:
    """Return the name of the texts that say what is wrong with the first break."""
    before, after = breaks[0]
    if missing:
        return "missing"
    if len(after.number) > 1 and after.number[:-1] != before.number[: len(after.number) - 1]:
        return "other_parent"
    return "goes_back" if after.number <= before.number else "skips"


def _missing_between(breaks: list[Break], present: set[Number]) -> list[str]:
    missing: list[str] = []
    for before, after in breaks:
        depth = len(after.number) - 1
        same_parent = depth < len(before.number) and before.number[:depth] == after.number[:depth]
        first = before.number[depth] + 1 if same_parent else 1
        if same_parent or before.number == after.number[:depth]:
            numbers = ((*after.number[:depth], last) for last in range(first, after.number[depth]))
            missing += (".".join(map(str, number)) for number in numbers if number not in present)
    return missing


def _successor(before: NumberedHeading, after: NumberedHeading) -> str:
    depth = len(after.number)
    if depth > len(before.number):
        return f"{before.label}.1"
    return ".".join(map(str, (*before.number[: depth - 1], before.number[depth - 1] + 1)))


@rule("structure.skipped_level", tags=("structure",))
def skipped_level(target: RuleInput) -> RuleOutcome:
    """Report all headings that jump over a level in one finding: such jumps are a habit of the whole document."""
    if not target.sections:
        return skipped("no_headings")
    jumps = [(before, after) for before, after in pairwise(target.sections) if after.level > before.level + 1]
    if not jumps:
        return RuleOutcome(examined=len(target.sections))
    before, after = jumps[0]
    deeper = sum(1 for first, second in pairwise(target.sections) if second.level > first.level)
    found = finding(
        "structure.skipped_level",
        severity=Severity.MINOR,
        key="|".join(after.title.strip() for _, after in jumps),
        evidence=tuple(heading_span(target.text, after) for _, after in jumps),
        data={"jumps": [{"title": after.title, "from": above.level, "to": after.level} for above, after in jumps]},
        confidence=1 - len(jumps) / deeper,
        words={
            "count": len(jumps),
            "above": before.title.strip(),
            "above_level": before.level,
            "title": after.title.strip(),
            "level": after.level,
            "deeper": deeper,
            "right_level": before.level + 1,
        },
        example=f"{'#' * (before.level + 1)} {after.title.strip()}",
    )
    return RuleOutcome(findings=(found,), examined=len(target.sections))


@rule("structure.swallowed_heading", tags=("structure",))
def swallowed_heading(target: RuleInput) -> RuleOutcome:
    """Report the numbered headings that an unbalanced code fence hides, all in one finding."""
    headings = numbered_headings(target.text, target.sections, target.blocks)
    if not headings:
        return skipped("no_numbered_headings")
    hidden = hidden_headings(target.text, target.blocks)
    swallowed: dict[int, NumberedHeading] = {}
    for run in runs_of(headings):
        swallowed |= {heading.start: heading for heading in with_hidden(run, hidden) if heading.hidden}
    if not swallowed:
        return RuleOutcome(examined=len(headings))
    hidden_here = [swallowed[start] for start in sorted(swallowed)]
    titles = [heading.title for heading in hidden_here]
    found = finding(
        "structure.swallowed_heading",
        severity=Severity.MINOR,
        key="|".join(titles),
        evidence=spans_of(hidden_here),
        data={"numbers": [heading.label for heading in hidden_here], "titles": titles},
        words={"count": len(titles), "titles": quoted(titles), "title": titles[0]},
    )
    return RuleOutcome(findings=(found,), examined=len(headings))
