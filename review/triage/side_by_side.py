"""Two versions of a document side by side, with the findings of their reviews at the lines that they quote."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from knowledge.documents.comparing import ComparedVersions, compare_versions
from knowledge.text.line_differences import Line, LineChange, LinePair
from review.models import SEVERITIES, Review, ReviewStatus
from review.runs.finding_schemas import FindingOut
from review.runs.reviews import get_review, list_reviews, record_view, review_facts

AROUND = 2
"""Unchanged lines shown before and after what changed or was found."""
CHANGES = ((LineChange.CHANGED, _("changed")), (LineChange.ADDED, _("added")), (LineChange.REMOVED, _("removed")))
SEVERITY_NAMES = dict(SEVERITIES)
Pieces = Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding at a line, with the review in which it is decided.

    ``is_still_there`` is said of one of the earlier version that the later one has on the same row.
    """

    finding: FindingOut
    severity: str | Promise
    review: Review
    is_still_there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A line of one version: its text in pieces, with those that changed marked, and the findings that quote it."""

    pieces: Pieces
    found: Sequence[Found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A pair of lines; ``skipped`` counts the unchanged ones that are left out before it."""

    change: LineChange
    old: Side | None
    new: Side | None
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Two versions, how many lines differ in which way, in words, and the rows that show it.

    ``reviews`` are the newest ones of both versions whose findings are shown, None where there is none.
    """

    versions: ComparedVersions
    counts: Sequence[tuple[str | Promise, int]]
    rows: Sequence[Row]
    reviews: tuple[Review | None, Review | None]

    @property
    def not_reviewed(self) -> list[int]:
        """The versions of which no findings are shown, since the reader may read no finished review of them."""
        numbers = (self.versions.before, self.versions.after)
        return [number for number, review in zip(numbers, self.reviews, strict=True) if review is None]


def versions_side_by_side(
    principal: Principal, document_id: str, *, before: int | None = None, after: int | None = None
) -> SideBySide:
    """Show what changed from version ``before`` to ``after``, with what the newest review of each has found.

    Findings are those that the caller may read. Raises, and chooses versions, as ``compare_versions``; reading both
    texts and results is written to the audit trail.
    """
    versions = compare_versions(principal, document_id, before=before, after=after)
    before_review, after_review = (
        _newest_review(principal, document_id, number) for number in (versions.before, versions.after)
    )
    old, new = (_findings(principal, review) for review in (before_review, after_review))
    changes = Counter(pair.change for pair in versions.pairs)
    return SideBySide(
        versions=versions,
        counts=[(text, changes[change]) for change, text in CHANGES],
        rows=list(_rows(versions, old, new)),
        reviews=(before_review, after_review),
    )


def _newest_review(principal: Principal, document_id: str, version: int) -> Review | None:
    """The newest finished review of a version that the caller may read, with all that is shown of it."""
    finished = list_reviews(principal, document_id=document_id, status=ReviewStatus.COMPLETED)
    newest = finished.filter(version_number=version).first()
    return get_review(principal, newest.public_id) if newest else None


def _findings(principal: Principal, review: Review | None) -> list[Found]:
    """The findings of a review of one side; none without one."""
    if review is None:
        return []
    record_view(principal, review, part="side_by_side")
    return [
        Found(finding=one, severity=SEVERITY_NAMES[one.severity], review=review)
        for one in review_facts(review, everything=True).findings
    ]


def _rows(compared: ComparedVersions, old: Sequence[Found], new: Sequence[Found]) -> Iterator[Row]:
    """The lines that changed or that a finding quotes, each with some unchanged ones around it."""
    pairs = compared.pairs
    document_id = compared.document.public_id
    at_old = _by_line([pair.old for pair in pairs], old, document_id)
    at_new = _by_line([pair.new for pair in pairs], new, document_id)
    shown = sorted(
        {
            near
            for place, pair in enumerate(pairs)
            if pair.change is not LineChange.SAME or place in at_old or place in at_new
            for near in range(max(place - AROUND, 0), min(place + AROUND + 1, len(pairs)))
        }
    )
    last = -1
    for place in shown:
        yield _row(pairs[place], at_old.get(place, ()), at_new.get(place, ()), skipped=place - last - 1)
        last = place


def _by_line(lines: Sequence[Line | None], found: Sequence[Found], document_id: str) -> Mapping[int, list[Found]]:
    """The findings by the place of the line on which a quote of theirs in this document begins."""
    places = [place for place, line in enumerate(lines) if line is not None]
    starts = [line.start for line in lines if line is not None]
    at: dict[int, list[Found]] = defaultdict(list)
    for one in found:
        quoted = {each.start_offset for each in one.finding.evidence if each.document_id == document_id}
        for number in sorted({bisect_right(starts, offset) - 1 for offset in quoted}):
            if number >= 0:
                at[places[number]].append(one)
    return at


def _row(pair: LinePair, old: Sequence[Found], new: Sequence[Found], *, skipped: int) -> Row:
    still_there = {one.finding.fingerprint for one in new}
    marked = [replace(one, is_still_there=one.finding.fingerprint in still_there) for one in old]
    return Row(change=pair.change, old=_side(pair.old, marked), new=_side(pair.new, new), skipped=skipped)


def _side(line: Line | None, found: Sequence[Found]) -> Side | None:
    return None if line is None else Side(pieces=_pieces(line), found=found)


def _pieces(line: Line) -> Pieces:
    pieces, done = [], 0
    for start, end in line.marks:
        pieces += [(line.text[done:start], False), (line.text[start:end], True)]
        done = end
    return [piece for piece in [*pieces, (line.text[done:], False)] if piece[0]]
