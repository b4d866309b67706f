"""The table of contents against the headings that are there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.folding import fold_compact, narrow
from knowledge.text.numbering import heading_number, is_caption
from knowledge.text.outline import contents_ids, inside, is_history, unnumbered_title
from knowledge.text.structure import heading_text, is_contents_passage, is_contents_title, is_table_of_contents
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.base import finding, listed, rule, skipped
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_PAGE = re.compile(r"(?<![\s.．…‥・\-|])[\s.．…‥・\-|]++(?:[0-9]{1,4}|[ivx]{1,5})\s*+$")
_MARK = re.compile(r"^[ \t]*(?:[-*+]\s+|\|\s*)")
_LINK = re.compile(r"\[(?P<text>[^\]]{1,500}+)\]\([^)]{0,2000}+\)")
# A PDF's table of contents may have several entries in one line, and the last page number at the end of a title.
_GLUED = re.compile(r"(?<=[^\s0-9.])(?=[0-9]{1,2}\.[0-9]{1,2}[ 　])")
_GLUED_PAGE = re.compile(r"(?<=[^\s0-9.])[0-9]{1,3}$")
_NUMBERED_LINE = re.compile(r"^[ \t]*(?=[0-9]{1,2}\.[0-9])[^\n|]{2,80}", re.MULTILINE)
_MANY_MISSING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the table of contents: heading number, if any, and folded wording without it."""

    number: str | None
    title: str
    written: str
    span: Span


@rule("structure.toc_mismatch", tags=("structure",))
def toc_mismatch(target: RuleInput) -> RuleOutcome:
    """Report all differences between the table of contents and the headings in one finding."""
    entries = list(_entries(target))
    if not entries:
        return skipped("no_contents")
    contents = contents_ids(target.text, target.sections)
    sections = [section for section in target.sections if section.id not in contents]
    if any(block.sheet for block in target.blocks):
        return _of_workbook(target, entries, sections)
    # What stands before the first line, such as the title and the change history, need not be listed.
    body = [section for section in sections if section.start > entries[0].span.start and not is_history(section)]
    numbers: dict[str, set[str | None]] = defaultdict(set)
    for section in sections:
        numbers[_title(section)].add(section.number)
    lines = _numbered_lines(target, contents)
    written = sorted(line for line, _ in lines)
    gone = [entry for entry in entries if entry.title not in numbers and not _begins_line(entry, written)]
    renumbered = [
        entry
        for entry in entries
        if entry.number is not None and entry.title in numbers and not numbers[entry.title] & {None, entry.number}
    ]
    titles, levels = {entry.title for entry in entries}, _levels(entries, body)
    # A heading that was renamed is one difference, not two.
    renamed = {entry.number for entry in gone if entry.number}
    absent = [s for s in body if s.level in levels and _title(s) not in titles and s.number not in renamed]
    if not (gone or renumbered or absent):
        return RuleOutcome(examined=len(entries))
    lost = {entry.number for entry in gone if entry.number}
    otherwise = [span for line, span in lines if _leading_number(line) in lost]
    return RuleOutcome(
        findings=(_finding(target, gone, renumbered, absent, entries, otherwise),), examined=len(entries)
    )


def _of_workbook(target: RuleInput, entries: list[Entry], sections: list[Section]) -> RuleOutcome:
    """Compare a sheet 目次 by its numbers only: its cells name sheets too, and stand in columns."""
    numbered = [entry for entry in entries if entry.number is not None]
    titles: dict[str, list[Section]] = defaultdict(list)
    for section in sections:
        if section.number is not None:
            titles[section.number].append(section)
    found = [(entry, titles[entry.number]) for entry in numbered if entry.number in titles]
    alike = [entry for entry, those in found if any(_title(each) == entry.title for each in those)]
    if len(alike) <= _MANY_MISSING * len(numbered):
        return skipped("no_contents")
    alone = [(entry, those[0]) for entry, those in found if len(those) == 1]
    renamed = [(entry, section) for entry, section in alone if not _is_cut(entry.title, _title(section))]
    if not renamed:
        return RuleOutcome(examined=len(numbered))
    otherwise = [heading_span(target.text, section) for _, section in renamed]
    gone = [entry for entry, _ in renamed]
    return RuleOutcome(findings=(_finding(target, gone, [], [], numbered, otherwise),), examined=len(numbered))


def _is_cut(title: str, other: str) -> bool:
    """Whether one begins with the other: the name of a sheet is cut where it is long."""
    return title.startswith(other) or other.startswith(title)


def _entries(target: RuleInput) -> Iterator[Entry]:
    for start, end in [*_listings(target)] or [*_listings_without_a_heading(target)]:
        position = start
        for line in target.text[start:end].splitlines(keepends=True):
            at = position
            for part in _GLUED.split(line.rstrip("\r\n")):
                if entry := _entry(part, at):
                    yield entry
                at += len(part)
            position += len(line)


def _listings(target: RuleInput) -> Iterator[tuple[int, int]]:
    for section in target.sections:
        is_contents = is_contents_title(section.title) or is_table_of_contents(section, target.text)
        if is_contents and not re.search(r"[図表]", section.title):
            yield section.body_start, section.body_end


def _listings_without_a_heading(target: RuleInput) -> Iterator[tuple[int, int]]:
    """Yield the lists under a line 「[目次]」 that is no heading, and those at the front whose lines end in pages."""
    for before, listing in pairwise((None, *target.blocks)):
        if listing is None or listing.kind is not BlockKind.LIST:
            continue
        line = target.text[before.start : before.end] if before and before.kind is BlockKind.PARAGRAPH else ""
        if is_contents_title(line) or _is_untitled(listing, target):
            yield listing.start, listing.end


def _is_untitled(listing: Block, target: RuleInput) -> bool:
    """Whether a list before the second heading reads as a table of contents, and not as one of figures."""
    if len(target.sections) > 1 and listing.start > target.sections[1].start:
        return False
    words = target.text[listing.start : listing.end]
    return is_contents_passage([], words) and not is_caption(_MARK.sub("", _PAGE.sub("", words.split("\n")[0])))


def _entry(line: str, start: int) -> Entry | None:
    bare = _MARK.sub("", narrow(line))
    linked = _LINK.search(bare)
    # 「1. [概要](#1-概要)」 numbers the list, and 「[1. 概要](#…)」 the heading.
    words = bare[: linked.start()] + linked["text"] if linked else _PAGE.sub("", bare)
    words = heading_text(words.strip(" |*"))
    if not re.search(r"[^\W\d_]", words) or is_contents_title(words):
        return None
    inner = line.strip()
    offset = start + line.index(inner)
    return Entry(
        number=heading_number(words),
        title=fold_compact(unnumbered_title(words)),
        written=words,
        span=Span(start=offset, end=offset + len(inner)),
    )


def _numbered_lines(target: RuleInput, contents: frozenset[str]) -> tuple[tuple[str, Span], ...]:
    """Return the lines of running text that begin with the number of a section, folded: headings that a file lost."""
    skipped = [(section.start, section.end) for section in target.sections if section.id in contents]
    found = _NUMBERED_LINE.finditer(narrow(target.text))
    return tuple(
        (fold_compact(match[0]), Span(start=match.start(), end=match.end()))
        for match in found
        if not inside(skipped, match.start())
    )


def _begins_line(entry: Entry, lines: list[str]) -> bool:
    """Whether one of the sorted lines begins with the entry: the first that isn't before it does, if any."""
    if entry.number is None:
        return False
    for title in (fold_compact(entry.written), fold_compact(_GLUED_PAGE.sub("", entry.written))):
        at = bisect_left(lines, title)
        if at < len(lines) and lines[at].startswith(title):
            return True
    return False


def _leading_number(line: str) -> str:
    return line[: len(line) - len(line.lstrip(".0123456789"))]


def _title(section: Section) -> str:
    return fold_compact(unnumbered_title(section.title))


def _levels(entries: list[Entry], sections: list[Section]) -> set[int]:
    """Return the heading levels that the table of contents is meant to list: those of which it has at least half."""
    titles, numbers = {entry.title for entry in entries}, {entry.number for entry in entries if entry.number}
    every = Counter(section.level for section in sections)
    found = Counter(s.level for s in sections if _title(s) in titles or s.number in numbers)
    return {level for level, count in found.items() if count >= _MANY_MISSING * every[level]}


def _finding(
    target: RuleInput,
    gone: list[Entry],
    renumbered: list[Entry],
    absent: list[Section],
    entries: list[Entry],
    otherwise: list[Span],
) -> FindingDraft:
    """Say all differences. The last entry is quoted where headings are to be added below it; ``otherwise`` are lines
    of the text that begin with the number of an entry that is gone.
    """
    kinds = (
        ("目次にあるが見出しがない", "listed without a heading", [entry.written for entry in gone]),
        ("番号が違う", "listed with another number", [entry.written for entry in renumbered]),
        ("目次にない見出し", "headings not listed", [section.title.strip() for section in absent]),
    )
    spans = [entry.span for entry in (*gone, *renumbered)] + [heading_span(target.text, each) for each in absent]
    spans += [*otherwise, *([entries[-1].span] if absent else [])]
    differences = sum(len(names) for _, _, names in kinds)
    first = next(names[0] for _, _, names in kinds if names)
    return finding(
        "structure.toc_mismatch",
        severity=Severity.MINOR,
        key="|".join(name for _, _, names in kinds for name in names),
        evidence=tuple(sorted(set(spans), key=lambda span: span.start)),
        data={"not_in_text": kinds[0][2], "renumbered": kinds[1][2], "not_in_contents": kinds[2][2]},
        confidence=max(0.0, 1 - (len(gone) + len(renumbered)) / len(entries)),
        words={
            "count": differences,
            "differences": Text(
                ja="。".join(f"{ja}: {listed(names)}" for ja, _, names in kinds if names),
                en="; ".join(f"{en}: {listed(names)}" for _, en, names in kinds if names),
            ),
            "total": len(entries),
            "first": first,
        },
    )
