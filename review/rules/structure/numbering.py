"""Heading numbers and levels: numbers used twice, out of order, and levels that were jumped over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise

from hub.core.texts import Text
from review.rules.registry import rule
from review.rules.structure.headings import (
    Number,
    NumberedHeading,
    follows,
    heading_spans,
    hidden_headings,
    numbered_headings,
    runs_of,
    with_hidden,
)
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, SuggestionDraft

NO_NUMBERS = Text(ja="番号付きの見出しがありません。", en="The document has no numbered headings.")


@rule(
    id="structure.duplicate_number",
    title=Text(ja="見出し番号の重複", en="Heading number used twice"),
    looks_at=Text(
        ja="同じ番号を持つ見出し（番号が振り直される範囲の中で）",
        en="headings with the same number, within one run of numbering",
    ),
    tags=("structure",),
)
def duplicate_number(target: RuleInput) -> RuleOutcome:
    """Report numbers that several headings carry; a repeated subsection is folded into its repeated chapter."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return RuleOutcome(skip_reason=NO_NUMBERS)
    by_number: dict[tuple[str, Number], list[NumberedHeading]] = defaultdict(list)
    for heading in headings:
        by_number[heading.scope, heading.number].append(heading)
    repeated = {key: group for key, group in by_number.items() if len(group) > 1}
    findings = tuple(
        _duplicate_finding(group, _repeated_below(key, repeated))
        for key, group in repeated.items()
        if not _is_below_repeated(key, repeated)
    )
    return RuleOutcome(findings=findings, examined=len(headings))


def _is_below_repeated(key: tuple[str, Number], repeated: dict[tuple[str, Number], list[NumberedHeading]]) -> bool:
    scope, number = key
    return any((scope, number[:depth]) in repeated for depth in range(1, len(number)))


def _repeated_below(
    key: tuple[str, Number], repeated: dict[tuple[str, Number], list[NumberedHeading]]
) -> list[NumberedHeading]:
    scope, number = key
    return [
        heading
        for (other_scope, other), group in repeated.items()
        if other_scope == scope and len(other) > len(number) and other[: len(number)] == number
        for heading in group
    ]


def _duplicate_finding(group: list[NumberedHeading], below: list[NumberedHeading]) -> FindingDraft:
    label = group[0].label
    numbers = [label, *dict.fromkeys(heading.label for heading in below)]
    titles_ja = "、".join(f"「{heading.title}」" for heading in group)
    titles_en = ", ".join(f"“{heading.title}”" for heading in group)
    also_ja = f"その下の {'、'.join(numbers[1:])} も重複しています。" if below else ""
    also_en = f" So are {', '.join(numbers[1:])} below it." if below else ""
    last = group[-1]
    return FindingDraft(
        rule_id="structure.duplicate_number",
        severity=Severity.MINOR,
        message=Text(
            ja=f"見出し番号 {label} が {len(group)} か所で使われています: {titles_ja}。{also_ja}",
            en=f"Heading number {label} is used {len(group)} times: {titles_en}.{also_en}",
        ),
        key=f"{group[0].scope}:{label}",
        evidence=heading_spans([*group, *below]),
        data={"numbers": numbers, "titles": [heading.title for heading in group]},
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{last.title}」の番号を、直前の見出しに続く番号に振り直し、{label} への参照を確かめます。",
                en=f"Renumber “{last.title}” after the heading before it and check references to {label}.",
            ),
            rationale=Text(
                ja="番号が一意でないと、章番号による参照がどちらを指すか決まりません。",
                en="If a number is not unique, a reference by number does not say which section is meant.",
            ),
        ),
    )


@rule(
    id="structure.number_order",
    title=Text(ja="見出し番号の順序", en="Order of heading numbers"),
    looks_at=Text(
        ja="見出し番号の飛び・逆転・親の番号との食い違い",
        en="heading numbers that skip, go back, or do not continue their parent's number",
    ),
    tags=("structure",),
)
def number_order(target: RuleInput) -> RuleOutcome:
    """Report where a heading number does not continue the one before, one finding for a run of neighbouring breaks."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return RuleOutcome(skip_reason=NO_NUMBERS)
    hidden = hidden_headings(target.text, target.blocks)
    findings: list[FindingDraft] = []
    for run in runs_of(headings):
        findings += (_order_finding(run, breaks) for breaks in _break_runs(with_hidden(run, hidden)))
    findings.sort(key=lambda finding: finding.evidence[0].start)
    return RuleOutcome(findings=tuple(findings), examined=len(headings))


Break = tuple[NumberedHeading, NumberedHeading]


def _break_runs(run: list[NumberedHeading]) -> Iterable[list[Break]]:
    """Group breaks that follow directly upon each other: 5.2, 5.4, 5.3 is one slip, not two."""
    breaks = [
        (index, (before, after))
        for index, (before, after) in enumerate(pairwise(run))
        # A jump over a level is structure.skipped_level's finding.
        if not follows(before.number, after.number) and after.level <= before.level + 1
    ]
    for _, members in groupby(enumerate(breaks), key=lambda entry: entry[1][0] - entry[0]):
        yield [pair for _, (_, pair) in members]


def _order_finding(run: list[NumberedHeading], breaks: list[Break]) -> FindingDraft:
    present = {heading.number for heading in run}
    involved = list(dict.fromkeys(heading for pair in breaks for heading in pair))
    sequence = " → ".join(heading.label for heading in involved)
    missing = _missing_between(breaks, present)
    reason = _order_reason(breaks, missing)
    before, after = breaks[0]
    return FindingDraft(
        rule_id="structure.number_order",
        severity=Severity.MINOR,
        message=Text(
            ja=f"見出し番号が順番どおりではありません（{sequence}）。{reason.ja}",
            en=f"Heading numbers are out of order ({sequence}). {reason.en}",
        ),
        key=f"{before.scope}:{sequence}",
        evidence=heading_spans(heading for heading in involved if not heading.hidden),
        data={
            "numbers": [heading.label for heading in involved],
            "missing": missing,
            "expected": _successor(before, after),
        },
        confidence=round(1 - len(breaks) / (len(run) - 1), 3),
        confidence_basis=Text(
            ja=f"この範囲の見出し番号の並び {len(run) - 1} 組のうち順番どおりの割合",
            en=f"share of the {len(run) - 1} neighbouring number pairs in this run that are in order",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{after.title}」を {_successor(before, after)} に振り直すか、抜けた見出しを補うか、"
                "番号順に並べ替えます。",
                en=f"Renumber “{after.title}” to {_successor(before, after)}, add the missing heading, "
                "or put the sections in order.",
            ),
            rationale=Text(
                ja="番号の飛びや逆転は、節の欠落や移し忘れを疑わせます。",
                en="A skipped or reversed number suggests that a section is missing or was moved.",
            ),
        ),
    )


def _order_reason(breaks: list[Break], missing: list[str]) -> Text:
    before, after = breaks[0]
    if missing:
        return Text(ja=f"{'、'.join(missing)} がありません。", en=f"{', '.join(missing)} is missing.")
    if len(after.number) > 1 and after.number[:-1] not in _prefixes(before.number):
        parent = ".".join(map(str, after.number[:-1]))
        return Text(
            ja=f"「{after.title}」は {parent} に属する番号ですが、「{before.title}」の次にあります。",
            en=f"“{after.title}” is numbered as part of {parent} but follows “{before.title}”.",
        )
    if after.number <= before.number:
        return Text(
            ja=f"「{before.title}」の後に「{after.title}」があります。",
            en=f"“{after.title}” comes after “{before.title}”.",
        )
    return Text(
        ja=f"「{before.title}」の次が「{after.title}」です。",
        en=f"“{before.title}” is followed by “{after.title}”.",
    )


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


def _prefixes(number: Number) -> set[Number]:
    return {number[:depth] for depth in range(len(number) + 1)}
