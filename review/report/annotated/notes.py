"""What is written at which words for each finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from hub.core.cells import xml_text
from knowledge.parsers.annotated.notes import AUTHOR, Note
from knowledge.types.documents import Block, Section
from review.models import COUNTED
from review.report.annotated.references import reference_line
from review.report.facts import ReportedFinding, ReportFacts
from review.runs.finding_schemas import FindingOut, suggestion_label
from review.types import JudgedBy

MOST_PLACES = 20
"""Notes for one finding. Rules that count something quote every place; the rest is told in words."""
_ESCAPED = re.compile(r"\\([\\|])")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_HEADS = ("【{title} {number}】", "【{title} {number} ({index}/{count})】")


def notes_of(facts: ReportFacts, markdown: str, sections: Sequence[Section], blocks: Sequence[Block]) -> list[Note]:
    """Return a note on the review, and those of all findings that a report shows; a finding has one for each quote."""
    found = [note for item in facts.findings for note in _notes(facts, item, markdown, sections, blocks)]
    return [_about_review(facts, markdown, sections, blocks), *found]


def _about_review(facts: ReportFacts, markdown: str, sections: Sequence[Section], blocks: Sequence[Block]) -> Note:
    """Return the note at the beginning: which review of which version it was, its verdict, and its notices."""
    review = facts.review
    day = facts.day.isoformat() if facts.day else "-"
    counts = ", ".join(f"{text} {number}" for _code, text, number in facts.by_severity)
    lines = [
        f"【{_('Review')}】 {facts.title} (v{review.version}) / {review.checklist.code} v{review.checklist.version}",
        f"{_('Verdict')}: {facts.verdict or '-'} / {_('Reviewed on')}: {day}",
        f"{_('Findings')}: {counts}",
        *facts.notices,
        reference_line(review.review_id, review.review_id, 0),
    ]
    start, end = _first_place(markdown, sections, blocks)
    return Note(text=xml_text("\n".join(lines)), author=AUTHOR, start=start, end=end, is_quote=False)


def _notes(
    facts: ReportFacts, item: ReportedFinding, markdown: str, sections: Sequence[Section], blocks: Sequence[Block]
) -> Iterator[Note]:
    finding = item.finding
    quoted = quoted_spans(finding, facts.review.document_id, markdown)
    spans = quoted or [_expected_place(finding, markdown, sections, blocks)]
    for index, (start, end) in enumerate(spans[:MOST_PLACES], 1):
        yield Note(
            text=xml_text(_text(facts, item, index, min(len(spans), MOST_PLACES), len(spans))),
            author=xml_text(_author(finding)),
            start=start,
            end=end,
            is_quote=bool(quoted),
            is_done=finding.triage not in COUNTED,
            replacement=_replacement(finding, start, end) if facts.options.tracked_changes else None,
        )


def _replacement(finding: FindingOut, start: int, end: int) -> str | None:
    """Return what a rule says that these words become, of a finding that counts; None where it says nothing."""
    shown = finding.data.get("shown") if finding.triage in COUNTED else None
    for place in shown if isinstance(shown, list) else ():
        if (place.get("start_offset"), place.get("end_offset")) == (start, end):
            replacement = place.get("replacement")
            return replacement if isinstance(replacement, str) else None
    return None


def quoted_spans(finding: FindingOut, document_id: str, markdown: str) -> list[tuple[int, int]]:
    """Return what a finding quotes of the document, or else where it stands; empty when something is missing."""
    own = [
        (one.start_offset, one.end_offset)
        for one in finding.evidence
        if one.verified and one.document_id == document_id and 0 <= one.start_offset < one.end_offset <= len(markdown)
    ]
    start, end = finding.location.start_offset, finding.location.end_offset
    if not own and start is not None and end is not None and 0 <= start < end <= len(markdown):
        own = [(start, end)]
    return list(dict.fromkeys(own))


def _expected_place(
    finding: FindingOut, markdown: str, sections: Sequence[Section], blocks: Sequence[Block]
) -> tuple[int, int]:
    """Return where something missing belongs: the heading of the section that was looked through, or the first one."""
    named = [*reversed(finding.location.section_path), *finding.searched]
    titles = {section.title: section for section in reversed(sections)}
    section = next((titles[name] for name in named if name in titles), None)
    return (section.start, section.body_start) if section else _first_place(markdown, sections, blocks)


def _first_place(markdown: str, sections: Sequence[Section], blocks: Sequence[Block]) -> tuple[int, int]:
    """Return the document's first heading, or without one its first block."""
    if sections:
        return sections[0].start, sections[0].body_start
    return (blocks[0].start, blocks[0].end) if blocks else (0, len(markdown))


def _author(finding: FindingOut) -> str:
    """Return who says it: the hub by its rules, or a language model."""
    if finding.judged_by == JudgedBy.HUB_MODEL:
        return _("Hub (language model)")
    return _("Hub (caller's language model)") if finding.judged_by == JudgedBy.CALLERS_MODEL else AUTHOR


def _text(facts: ReportFacts, item: ReportedFinding, index: int, count: int, places: int) -> str:
    """Return a note's lines: the first of a finding's notes says all, the others what it is about."""
    finding = item.finding
    head = _HEADS[count > 1].format(title=_("Finding"), number=item.number or "-", index=index, count=count)
    state = f"{item.triage} ({item.triage_note})" if item.triage_note else item.triage
    lines = [
        f"{head} {item.severity} / {finding.check_item_id} {item.check_name}",
        f"{_('State')}: {state}",
        finding.message,
    ]
    if index == 1:
        lines += _details(facts, item)
        if places > count:
            lines.append(_("And at {number} more places, see the report.").format(number=places - count))
    return "\n".join([*lines, reference_line(facts.review.review_id, finding.id, finding.revision)])


def _details(facts: ReportFacts, item: ReportedFinding) -> Iterator[str]:
    finding = item.finding
    others = [one.quote for one in finding.evidence if one.document_id != facts.review.document_id or not one.verified]
    if others:
        shown = " / ".join(f"「{' '.join(quote.split())}」" for quote in others[:MOST_PLACES])
        yield f"{_('Quoted from elsewhere')}: {shown}"
    if item.searched and not quoted_anything(finding):
        yield f"{_('Looked through')}: {item.searched}"
    for suggestion in item.suggestions:
        yield f"{suggestion_label(suggestion)}: {suggestion.content}"
        if suggestion.example:
            yield f"{_('Example')}: {suggestion.example}"
    if finding.related_guideline:
        yield f"{_('Related guideline')}: {finding.related_guideline}"
    yield f"{_('Certainty')}: {item.certainty}"
    if finding.answer and (finding.answer.plan or finding.answer.text):
        said = " / ".join(filter(None, (finding.answer.plan, finding.answer.text)))
        by = f" ({finding.answer.answered_by})" if finding.answer.answered_by else ""
        yield f"{_('Answer')}: {said}{by}"


def quoted_anything(finding: FindingOut) -> bool:
    return bool(finding.evidence)


def quotes_by_note(facts: ReportFacts, markdown: str) -> dict[tuple[str, int], str]:
    """Return what each note on a quote is on, as the file's own text has it, by the finding's id and its index."""
    return {
        (item.finding.id, index): _BREAK.sub(" ", _ESCAPED.sub(r"\1", markdown[start:end]))
        for item in facts.findings
        for index, (start, end) in enumerate(
            quoted_spans(item.finding, facts.review.document_id, markdown)[:MOST_PLACES], 1
        )
    }
