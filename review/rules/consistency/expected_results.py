"""Expected HTTP results in tables of test items against what the code sample beside them asserts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.text.outline import place
from knowledge.text.structure import section_at
from knowledge.text.tables import Cell, Row, read_tables
from knowledge.types.documents import BlockKind
from review.rules.findings import finding
from review.types import FindingDraft, RuleInput, Severity, Span

_EXPECTED = re.compile(r"期待|想定結果|expected", re.IGNORECASE)
_STATUS = re.compile(r"^\s*([1-5][0-9]{2})(?![0-9])")
_TEST_START = re.compile(r"^[ \t]*(?:(?:it|test)\s*\(|(?:async\s+)?def\s+test_|@Test\b)", re.MULTILINE)
_ASSERTED = re.compile(
    r"(?:toBe|toEqual|toStrictEqual|expect|assertEquals?|HaveStatus(?:Code)?)\(\s*([1-5][0-9]{2})\b|status(?:_code|Code)?\s*===?\s*([1-5][0-9]{2})\b"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}|[ァ-ヴー]{3,}|[一-龯]{2,}")
_FEWEST_SHARED = 2


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
            findings.append(_finding(target, name, expected, status[1], sample))
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


def _finding(target: RuleInput, name: str, expected: Cell, status: str, sample: Sample) -> FindingDraft:
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
