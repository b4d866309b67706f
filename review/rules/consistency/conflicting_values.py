"""One quantity with two values, here or between related documents, and expected results that a sample contradicts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import place, unnumbered_title
from knowledge.text.sentences import sentences_around
from knowledge.text.structure import section_at
from knowledge.text.tables import Cell, Row, read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.base import finding, rule, shipped, skipped
from review.rules.consistency.apart import are_apart
from review.rules.consistency.case_rows import cases_at_odds
from review.rules.consistency.contradictions import (
    Contradiction,
    are_siblings,
    contradictions,
    contradictions_across,
)
from review.rules.consistency.exclusive import exclusive_decisions
from review.rules.consistency.fact_names import EXAMPLE, conditions_of
from review.rules.consistency.facts import read_facts
from review.rules.consistency.item_tables import rows_twice, types_otherwise
from review.rules.consistency.matrices import marks_otherwise
from review.rules.consistency.mention_pairs import mentioned_across, mentioned_otherwise
from review.rules.consistency.quantities import Quantity, amounts, generic_labels, read_quantities
from review.rules.consistency.sequences import read_sequences
from review.rules.consistency.stated_twice import (
    copied_descriptions,
    methods_otherwise,
    rows_otherwise,
    shares_otherwise,
)
from review.rules.prose import read_prose
from review.rules.traceability.across import kind_name
from review.types import FindingDraft, RelatedDocument, RuleInput, RuleOutcome, Severity, Span

Group = tuple[str, str, str, str]
Values = frozenset[Decimal]

_MANY = 3
_SHARED_LABELS = 2
_SHORTEST_LABEL = 3
_EXPECTED = re.compile(r"期待|想定結果|expected", re.IGNORECASE)
_STATUS = re.compile(r"^\s*([1-5][0-9]{2})(?![0-9])")
_TEST_START = re.compile(r"^[ \t]*(?:(?:it|test)\s*\(|(?:async\s+)?def\s+test_|@Test\b)", re.MULTILINE)
_ASSERTED = re.compile(
    r"(?:toBe|toEqual|toStrictEqual|expect|assertEquals?|HaveStatus(?:Code)?)\(\s*([1-5][0-9]{2})\b|status(?:_code|Code)?\s*===?\s*([1-5][0-9]{2})\b"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}|[ァ-ヴー]{3,}|[一-龯]{2,}")
# The words of a message are none of the document's.
_MESSAGE = re.compile(r"[:：]\s*(?:\"[^\"]*\"|「[^「」]*」)$")
_FEWEST_SHARED = 2
_BOTH = 2
_LONGEST_SENTENCE = 400


@rule("consistency.conflicting_value", tags=("consistency",), reads_related=True)
def conflicting_value(target: RuleInput) -> RuleOutcome:
    """Report each quantity that has more than one value, with every place."""
    quantities = [each for each in read_quantities(target.text, target.sections, target.blocks) if _is_named(each)]
    facts = read_facts(target.text, target.sections, target.blocks)
    compared, contradicted = contradicted_results(target)
    orders = read_sequences(target.text, target.sections, target.blocks)
    stated = [
        *methods_otherwise(target.text, target.sections, target.blocks),
        *shares_otherwise(target.text, target.blocks),
        *copied_descriptions(target.text, target.sections, target.blocks),
        *rows_otherwise(target.text, target.sections, target.blocks),
        *types_otherwise(target.text, target.sections, target.blocks),
        *rows_twice(target.text, target.sections, target.blocks),
        *cases_at_odds(target.text, target.sections, target.blocks),
        *marks_otherwise(target.text, target.sections, target.blocks),
        *exclusive_decisions(target.text, target.sections, target.blocks),
        *mentioned_otherwise(target),
    ]
    across = [
        (related, each)
        for related in target.related
        for each in (*contradictions_across(target, related), *mentioned_across(target, related))
    ]
    has_amounts = bool(amounts(read_prose(target.text, target.blocks).masked))
    if not (quantities or facts or orders or compared or stated or across or has_amounts):
        return skipped("no_quantities")
    stated = [each for each in (*contradictions(target), *stated) if not _is_apart(target, each)]
    findings = [_finding(target, found) for found in _conflicts(quantities, target)]
    findings += [
        _across_finding(target, related, one) for related in target.related for one in _differing(target, related)
    ]
    findings += contradicted
    findings = _unrepeated(
        findings,
        [_stated_finding(target, each) for each in stated]
        + [_stated_across_finding(target, related, each) for related, each in across],
    )
    findings.sort(key=lambda finding: finding.location.start if finding.location else 0)
    return RuleOutcome(findings=tuple(findings), examined=len(quantities) + len(facts) + compared)


def _is_apart(target: RuleInput, found: Contradiction) -> bool:
    """What is copied or said twice is so wherever it stands; a value is of what it stands below."""
    starts = [span.start for span in found.places]
    return found.kind not in ("order", "copied", "twice", "share") and are_apart(target.text, target.sections, starts)


def _unrepeated(findings: list[FindingDraft], more: list[FindingDraft]) -> list[FindingDraft]:
    """Add findings but those that quote two places which another finding quotes: one contradiction is told once."""
    kept = list(findings)
    quoted: dict[tuple[str, int], set[int]] = defaultdict(set)
    for index, found in enumerate(kept):
        _note(quoted, index, found)
    for found in more:
        seen = [set[int]().union(*(quoted[cell] for cell in _cells(span))) for span in found.evidence]
        shared = Counter(index for each in seen for index in each)
        if all(count < _BOTH for count in shared.values()):
            _note(quoted, len(kept), found)
            kept.append(found)
    return kept


def _note(quoted: dict[tuple[str, int], set[int]], index: int, found: FindingDraft) -> None:
    for span in found.evidence:
        for cell in _cells(span):
            quoted[cell].add(index)


def _cells(span: Span) -> Iterator[tuple[str, int]]:
    """Yield the characters of a span, by which overlapping ones find each other."""
    yield from ((span.document, at) for at in range(span.start, span.end))


def _is_named(quantity: Quantity) -> bool:
    return (
        not _MESSAGE.search(quantity.written)
        and len(quantity.label) >= _SHORTEST_LABEL
        and quantity.label not in generic_labels()
    )


def _groups(quantity: Quantity) -> Iterator[tuple[Group, Values]]:
    """Yield what a quantity may be compared by, with its values: label, dimension, bound and sense."""
    by_bound: dict[tuple[str, str], set[Decimal]] = defaultdict(set)
    for amount in quantity.amounts:
        by_bound[amount.dimension, amount.bound].add(amount.value)
    for (dimension, bound), values in by_bound.items():
        if bound != "other":
            # What is bounded and not measured is demanded: 3秒以内 is a goal in a sentence as in a table of goals.
            sense = quantity.sense or ("goal" if bound in ("max", "min") else "")
            yield (quantity.label, dimension, bound, sense), frozenset(values)


def _conflicts(quantities: list[Quantity], target: RuleInput) -> list[list[Quantity]]:
    """Return the groups with two or three values; what has more is a property of many things."""
    places: dict[Group, list[tuple[Quantity, Values]]] = defaultdict(list)
    for quantity in quantities:
        for key, values in _groups(quantity):
            places[key].append((quantity, values))
    by_id = {section.id: section for section in target.sections}
    labels: dict[str, set[str]] = defaultdict(set)
    for quantity in quantities:
        labels[quantity.section].add(quantity.label)
    found = []
    for found_places in places.values():
        distinct = {values for _, values in found_places}
        if not 1 < len(distinct) <= _MANY:
            continue
        group = [quantity for quantity, _ in found_places]
        if len({quantity.written for quantity in group}) > _MANY or are_apart(
            target.text, target.sections, [quantity.start for quantity in group]
        ):
            continue
        if not _stand_apart(group, target) and _are_one_thing(group, labels, by_id):
            found.append(group)
    return found


def _stand_apart(group: list[Quantity], target: RuleInput) -> bool:
    """Whether the quantities are said under conditions of their own, 平日 and 休日, or one of them as an example."""
    said = [_sentence(quantity, target) for quantity in group]
    if any(EXAMPLE.search(narrow(sentence)) for sentence in said):
        return True
    conditions = {conditions_of(sentence) for sentence in said}
    return len(conditions) > 1 and all(conditions)


def _sentence(quantity: Quantity, target: RuleInput) -> str:
    start, end = sentences_around(target.text, quantity.start, quantity.end)
    return target.text[start : min(end, start + _LONGEST_SENTENCE)]


def _are_one_thing(group: list[Quantity], labels: Mapping[str, set[str]], by_id: Mapping[str, Section]) -> bool:
    titles = [unnumbered_title(by_id[each.section].title) if each.section in by_id else "" for each in group]
    if group[0].label in {fold_compact(label) for label in shipped("quantities")["by_context"]["labels"]}:
        whole = re.compile(shipped("quantities")["by_context"]["sections"], re.IGNORECASE)
        if not all(not title or whole.search(title) for title in titles):
            return False
    homes = list(dict.fromkeys(each.section for each in group))
    if are_siblings(homes, by_id):
        return False
    # Sections with several labels in common are records of different things: each component has its 起動時間.
    return all(
        len(labels[one] & labels[other]) <= _SHARED_LABELS or by_id.get(one) is None for one, other in pairwise(homes)
    )


def _differing(target: RuleInput, related: RelatedDocument) -> Iterator[list[Quantity]]:
    """Yield pairs (here, there) of a quantity that each document gives one value, and not the same."""
    ours = _single_valued(read_quantities(target.text, target.sections, target.blocks))
    theirs = _single_valued(read_quantities(related.text, related.sections, related.blocks))
    for key in ours.keys() & theirs.keys():
        (one, values), (other, others) = ours[key], theirs[key]
        if values != others:
            yield [one, other]


def _single_valued(quantities: tuple[Quantity, ...]) -> dict[Group, tuple[Quantity, Values]]:
    found: dict[Group, list[tuple[Quantity, Values]]] = defaultdict(list)
    for quantity in filter(_is_named, quantities):
        for key, values in _groups(quantity):
            # What a requirement demands and a design promises is one thing to a reader of both.
            found[(*key[:3], "actual" if key[3] == "actual" else "")].append((quantity, values))
    return {key: places[0] for key, places in found.items() if len({values for _, values in places}) == 1}


def _finding(target: RuleInput, group: list[Quantity]) -> FindingDraft:
    counts = Counter(each.written for each in group)
    first, name = group[0], group[0].name
    places = "、".join(
        dict.fromkeys(f"「{place(target.sections, each.start) or '本文'}」{each.written}" for each in group)
    )
    return finding(
        "consistency.conflicting_value",
        severity=Severity.MAJOR,
        key="|".join(sorted(counts)),
        rests_on=(),
        evidence=tuple(Span(start=each.start, end=each.end) for each in group),
        data={"quantity": name, "values": sorted(counts)},
        confidence=max(counts.values()) / len(group),
        words={"name": name, "places": places, "count": len(group), "first": place(target.sections, first.start)},
        example=first.written,
    )


def _stated_finding(target: RuleInput, found: Contradiction) -> FindingDraft:
    places = "、".join(
        dict.fromkeys(
            f"「{place(target.sections, span.start) or '本文'}」{written.rstrip('。')}"
            for span, written in zip(found.places, found.written, strict=True)
        )
    )
    return finding(
        "consistency.conflicting_value",
        severity=Severity.MAJOR,
        key="|".join(sorted(set(found.written))),
        texts=found.kind if found.kind in ("order", "copied", "twice") else "stated",
        rests_on=(),
        evidence=tuple(sorted(found.places, key=lambda span: span.start)),
        data={"quantity": found.name, "values": sorted(set(found.written)), "kind": found.kind},
        words={"name": found.name, "places": places, "first": place(target.sections, found.places[0].start)},
        example=found.written[0],
    )


def _stated_across_finding(target: RuleInput, related: RelatedDocument, found: Contradiction) -> FindingDraft:
    return finding(
        "consistency.conflicting_value",
        severity=Severity.MAJOR,
        key=f"{related.document_id}:{found.name}:{found.written[0]}",
        texts="across",
        evidence=found.places,
        data={
            "quantity": found.name,
            "values": list(found.written),
            "kind": found.kind,
            "document_id": related.document_id,
        },
        rests_on=(related.document_id,),
        words={
            "where": place(target.sections, found.places[0].start),
            "written": found.written[0],
            "kind": kind_name(related),
            "name": found.name,
        },
    )


def _across_finding(target: RuleInput, related: RelatedDocument, pair: list[Quantity]) -> FindingDraft:
    ours, theirs = pair
    return finding(
        "consistency.conflicting_value",
        severity=Severity.MAJOR,
        key=f"{related.document_id}:{ours.label}:{ours.written}",
        texts="across",
        evidence=(
            Span(start=ours.start, end=ours.end),
            Span(start=theirs.start, end=theirs.end, document=related.document_id),
        ),
        data={"quantity": ours.name, "values": [ours.written], "document_id": related.document_id},
        rests_on=(related.document_id,),
        words={
            "where": place(target.sections, ours.start),
            "written": ours.written,
            "kind": kind_name(related),
            "name": ours.name,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One test case of a code sample: its words, the statuses it asserts, and where the first one stands."""

    words: frozenset[str]
    statuses: frozenset[str]
    span: Span


def contradicted_results(target: RuleInput) -> tuple[int, list[FindingDraft]]:
    """Return how many test items have a matching sample, and a finding for each whose status the sample denies."""
    compared, findings = 0, []
    for name, expected, sample in _matched(target):
        compared += 1
        status = _STATUS.match(expected.text)
        if status and status[1] not in sample.statuses:
            findings.append(_expected_finding(target, name, expected, status[1], sample))
    return compared, findings


def _matched(target: RuleInput) -> Iterator[tuple[str, Cell, Sample]]:
    for table in read_tables(target.text, target.blocks):
        column = table.column(_EXPECTED)
        section = section_at(target.sections, table.header.start)
        if column is None or section is None:
            continue
        rows = [row for row in table.rows if column < len(row.cells) and _STATUS.match(row.cells[column].text)]
        distinctive = _distinctive(rows)
        for sample in _samples(target, section.start, section.end):
            ranked = sorted(rows, key=lambda row: -len(distinctive[row.start] & sample.words))
            if ranked and len(distinctive[ranked[0].start] & sample.words) >= _FEWEST_SHARED:
                yield _name(ranked[0]), ranked[0].cells[column], sample


def _distinctive(rows: list[Row]) -> dict[int, frozenset[str]]:
    """Return each row's words that no other row of the table has."""
    words = {row.start: frozenset(_words(" ".join(cell.text for cell in row.cells))) for row in rows}
    counts = Counter(word for each in words.values() for word in each)
    return {start: frozenset(word for word in each if counts[word] == 1) for start, each in words.items()}


def _samples(target: RuleInput, start: int, end: int) -> Iterator[Sample]:
    for block in target.blocks:
        if block.kind is not BlockKind.CODE or not start <= block.start < end:
            continue
        starts = [match.start() for match in _TEST_START.finditer(target.text, block.start, block.end)]
        for first, last in zip(starts, [*starts[1:], block.end], strict=True):
            asserted = list(_ASSERTED.finditer(target.text, first, last))
            if asserted:
                yield Sample(
                    words=frozenset(_words(target.text[first:last])),
                    statuses=frozenset(match[1] or match[2] for match in asserted),
                    span=Span(start=asserted[0].start(), end=asserted[0].end()),
                )


def _words(text: str) -> Iterator[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text)
    yield from (word.casefold() for word in _WORD.findall(spaced))


def _name(row: Row) -> str:
    return next((cell.text for cell in row.cells if re.search(r"[^\W\d_]{2,}", cell.text)), row.cells[0].text)


def _expected_finding(target: RuleInput, name: str, expected: Cell, status: str, sample: Sample) -> FindingDraft:
    asserted = sorted(sample.statuses)
    spans = sorted((Span(start=expected.start, end=expected.end), sample.span), key=lambda span: span.start)
    return finding(
        "consistency.conflicting_value",
        severity=Severity.MAJOR,
        key=f"expected:{name}",
        texts="expected",
        evidence=tuple(spans),
        data={"quantity": name, "values": [status, *asserted]},
        rests_on=(),
        words={
            "where": place(target.sections, expected.start),
            "name": name,
            "status": status,
            "asserted": "、".join(asserted),
        },
    )
