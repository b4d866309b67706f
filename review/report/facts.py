"""What every report shows, loaded once: the review, its findings by number, passages around quotes, what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from hub.access.principals import Principal
from hub.core.languages import shown_stored
from knowledge.models import VersionContent
from review.judging.sweep.reading import CATEGORIES
from review.mappings import suspect_reasons
from review.models import SEVERITIES, VERDICTS, CheckType, Review, Triage
from review.report.sheet import EARLIEST
from review.runs.finding_schemas import FindingOut, SuggestionOut, certainty_label, sure_first
from review.runs.reviews import get_review, review_facts
from review.runs.schemas import ResultOut, ReviewOut, StepOut
from review.triage.comparing import compare_reviews, difference
from review.triage.schemas import DiffOut
from review.types import Consulted, JudgedBy

MAX_QUOTES = 5
MAX_SEARCHED = 12
CONTEXT = 90
"""Characters shown before and after a quote."""
NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What a report has besides its head; ``tracked_changes`` are for the annotated copy of a Word file."""

    summary: bool = True
    details: bool = True
    evidence: bool = True
    tracked_changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A quote with the text around it, on one line each; only ``quote`` for text that is not of this document."""

    before: str
    quote: str
    after: str
    verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFinding:
    """A finding with its labels in the report's language."""

    finding: FindingOut
    severity: str
    triage: str
    certainty: str
    place: str
    check_name: str
    suggestions: Sequence[SuggestionOut]
    passages: Sequence[Passage]
    model_quotes: Sequence[str] = ()
    """What a model's opinion on it quotes, or what it points to itself; a line each."""

    @property
    def number(self) -> int | None:
        return self.finding.number

    @property
    def counter(self) -> str:
        return self.finding.counter

    @property
    def searched(self) -> str:
        shown = " / ".join(self.finding.searched[:MAX_SEARCHED])
        return f"{shown} …" if len(self.finding.searched) > MAX_SEARCHED else shown

    @property
    def shown_passages(self) -> Sequence[Passage]:
        return self.passages[:MAX_QUOTES]

    @property
    def more_passages(self) -> int:
        return max(0, len(self.passages) - MAX_QUOTES)

    @property
    def triage_note(self) -> str:
        """Who decided, why and until when; empty while nobody has."""
        one = self.finding
        until = _("until {day}").format(day=local_day(one.expires_at)) if one.expires_at else ""
        return ", ".join(part for part in (one.triaged_by or "", one.triage_reason or "", until) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResult:
    """A check with its labels in the report's language."""

    result: ResultOut
    verdict: str
    method: str
    check_type: str
    remarks: str
    findings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """All that a report shows. Texts are in the language that was active when it was loaded."""

    review: ReviewOut
    title: str
    path: str
    verdict: str
    status: str
    day: date | None
    results: Sequence[ReportedResult]
    findings: Sequence[ReportedFinding]
    notices: Sequence[str]
    steps: str
    aside: Sequence[tuple[str, Sequence[ReportedFinding]]]
    by_severity: Sequence[tuple[str, str, int]]
    by_type: Sequence[tuple[str, str, int]]
    by_triage: Sequence[tuple[str, str, int]]
    diff: DiffOut | None
    options: ReportOptions = field(default_factory=ReportOptions)

    @property
    def written_at(self) -> datetime:
        """The time in the properties of a file: when the review was finished, the same in every copy."""
        moment = self.review.finished_at
        return moment.replace(tzinfo=None, microsecond=0) if moment else datetime(*EARLIEST)  # noqa: DTZ001


def load_facts(principal: Principal, review_id: str, *, baseline: str, options: ReportOptions) -> ReportFacts:
    """Load a review for a report. Raises NotFound, InvalidInput (a baseline of another document)."""
    review = get_review(principal, review_id)
    shown = review_facts(review, everything=True)
    diff = difference(compare_reviews(principal, review_id, base_id=baseline)) if baseline else None
    document = review.version.document if review.version else None
    findings = _findings(shown, shown.findings, _text_of(review) if options.evidence else "", options)
    types = {result.check_item_id: result.check_type for result in shown.results}
    return ReportFacts(
        review=shown,
        title=document.title if document else shown.document_id,
        path=document.path if document else "",
        verdict=label(VERDICTS, shown.verdict or ""),
        status=review.get_status_display(),
        day=local_day(review.finished_at),
        results=_results(shown),
        findings=findings,
        notices=[shown_stored(notice) for notice in shown.notices],
        steps=steps_in_words(shown.steps),
        aside=_aside(shown, options),
        by_severity=_counted(SEVERITIES, (one.finding.severity for one in findings)),
        by_type=_counted(CheckType.choices, (types[one.finding.check_item_id] for one in findings)),
        by_triage=_counted(Triage.choices, (one.finding.triage for one in findings)),
        diff=diff,
        options=options,
    )


def _text_of(review: Review) -> str:
    found = VersionContent.objects.filter(pk=review.version_id).values_list("markdown", flat=True).first()
    return found or ""


def _aside(shown: ReviewOut, options: ReportOptions) -> list[tuple[str, list[ReportedFinding]]]:
    """The findings that do not count, by why; their passages are those that a model quoted."""
    kinds = ((_("Overturned by a language model"), shown.overturned), (_("Candidates"), shown.candidates))
    return [(title, _findings(shown, found, "", options)) for title, found in kinds if found]


def step_label(step: str) -> str:
    """What a step is called."""
    labels = {
        "rules": _("rules"),
        "judge": _("judgement by a language model"),
        "second_opinion": _("second opinion of a language model"),
        "sweep": _("reading of the whole document by a language model"),
    }
    return labels.get(step, step)


def category_label(name: str) -> str:
    """What a category of the reading is called."""
    labels = {
        "traceability": _("traceability"),
        "consistency": _("consistency"),
        "coverage": _("coverage"),
        "structure": _("structure"),
        "terminology": _("terminology"),
        "style": _("wording"),
    }
    return str(labels.get(name, name))


def state_label(step: StepOut) -> str:
    """What became of a step, and what the document was read for where that was not everything."""
    state = _state_label(step)
    if not 0 < len(step.categories) < len(CATEGORIES):
        return state
    return _("{state}, for {categories} only").format(
        state=state, categories=", ".join(map(category_label, step.categories))
    )


def _state_label(step: StepOut) -> str:
    labels = {
        "done": _("done"),
        "partly": _("in part"),
        "failed": _("failed"),
        "off": _("not asked for"),
        "no_model": _("no, without a language model"),
    }
    return labels.get(step.state, step.state)


def counts_in_words(step: StepOut) -> str:
    """What a step counted, in one line."""
    labels = {
        "requests": _("requests"),
        "facts": _("facts"),
        "proposed": _("proposed"),
        "unverified": _("quote not found"),
        "refuted": _("refuted or not decided"),
        "findings": _("findings"),
        "candidates": _("candidates"),
        "merged": _("same as a rule's"),
        "overturned": _("overturned"),
        "confirmed": _("confirmed"),
        "set_aside": _("set aside"),
        "disputed": _("disputed"),
        "narrowed": _("narrowed to what is missing"),
        "refused": _("kept, since the quote did not hold"),
    }
    return ", ".join(f"{labels.get(name, name)} {number}" for name, number in step.counts.items())


def steps_in_words(steps: Sequence[StepOut]) -> str:
    """What was looked at and what was not, in one line."""
    return "; ".join(f"{step_label(step.step)}: {state_label(step)}" for step in steps)


def _findings(
    shown: ReviewOut, findings: Sequence[FindingOut], text: str, options: ReportOptions
) -> list[ReportedFinding]:
    suggestions = shown.suggestions_by_finding()
    names = {result.check_item_id: result.name for result in shown.results}
    return [
        ReportedFinding(
            finding=one,
            severity=label(SEVERITIES, one.severity),
            triage=label(Triage.choices, one.triage),
            place=place_of(one),
            certainty=certainty_label(one.certainty),
            check_name=names[one.check_item_id],
            suggestions=suggestions.get(one.id, ()),
            passages=_passages(one, shown.document_id, text) if options.evidence else (),
            model_quotes=_model_quotes(one) if options.evidence else (),
        )
        for one in sure_first(findings)
    ]


def _passages(finding: FindingOut, document_id: str, text: str) -> list[Passage]:
    return [
        Passage(
            before=_squeezed(text[max(0, item.start_offset - CONTEXT) : item.start_offset], keep="end") if own else "",
            quote=" ".join(item.quote.split()),
            after=_squeezed(text[item.end_offset : item.end_offset + CONTEXT], keep="start") if own else "",
            verified=item.verified,
        )
        for item in finding.evidence
        for own in (item.verified and item.document_id == document_id,)
    ]


def _model_quotes(finding: FindingOut) -> list[str]:
    opinion = finding.second_opinion
    quoted = (opinion.quotes if opinion else []) or finding.evidence
    return [" ".join(one.quote.split()) for one in quoted[:MAX_QUOTES]]


def _squeezed(text: str, *, keep: str) -> str:
    """The part next to the quote, up to an empty line, on one line."""
    paragraphs = text.split("\n\n")
    return " ".join((paragraphs[-1] if keep == "end" else paragraphs[0]).split())


def place_of(finding: FindingOut, *, below: str = " > ", until: str = "-") -> str:
    """Name where a finding is: sections, page, cell, lines; ``below`` and ``until`` are between their parts."""
    location = finding.location
    parts = [below.join(location.section_path)] if location.section_path else []
    if location.page_number:
        parts.append(f"p. {location.page_number}")
    if location.cell:
        parts.append(location.cell)
    if location.ocr_confidence is not None:
        parts.append(_("read by OCR, {confidence}").format(confidence=f"{location.ocr_confidence:.0%}"))
    if location.line_range:
        first, last = location.line_range
        parts.append(f"L{first}" if first == last else f"L{first}{until}{last}")
    return ", ".join(parts)


def doubts_of(review: Review) -> dict[str, list[str]]:
    """Why checks are in doubt since a guideline changed, by check item. One query."""
    results = list(review.results.all())
    reasons = suspect_reasons(results)
    return {result.item_version.item.code: _in_doubt(reasons[result.pk]) for result in results if result.pk in reasons}


def _in_doubt(reasons: Iterable[str]) -> list[str]:
    return [_("In doubt since: {reason}").format(reason=reason) for reason in reasons]


def _results(shown: ReviewOut) -> list[ReportedResult]:
    counts = Counter(one.check_item_id for one in shown.findings)
    return [
        ReportedResult(
            result=result,
            verdict=verdict_label(result),
            method=_with_sources(result),
            check_type=label(CheckType.choices, result.check_type),
            remarks=remarks_on(result),
            findings=counts[result.check_item_id],
        )
        for result in shown.results
    ]


def judge_label(result: ResultOut) -> str:
    """Name who decided a check."""
    judges = {
        JudgedBy.RULES: _("rules"),
        JudgedBy.HUB_MODEL: _("language model"),
        JudgedBy.CALLERS_MODEL: _("the caller's own language model"),
        JudgedBy.HUMAN: _("a person"),
    }
    return judges[JudgedBy(result.judged_by)]


def _with_sources(result: ResultOut) -> str:
    """Who decided a check, and the sources that were consulted for it."""
    judge = judge_label(result)
    sources = ", ".join(sources_of(result))
    return f"{judge} ({sources})" if sources else judge


def sources_of(result: ResultOut) -> list[str]:
    """The sources that were consulted for a check, in words."""
    named = {
        Consulted.VECTOR: _("search by meaning"),
        Consulted.LEXICAL: _("search by words"),
        Consulted.GRAPH: _("knowledge graph"),
        Consulted.ONTOLOGY: _("ontology"),
    }
    return [text for source, text in named.items() if source in result.consulted]


def verdict_label(result: ResultOut) -> str:
    """Name the verdict of a check."""
    return label(VERDICTS, result.verdict)


def remarks_on(result: ResultOut, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return the remarks on a check's verdict: its notices, a person's decision, and since when it is in doubt.

    People are called as ``names`` has it, by their user names, or else by these.
    """
    remarks = [shown_stored(notice) for notice in result.notices]
    if result.decision:
        before = label(VERDICTS, result.original_verdict or "")
        who = names.get(result.decision.decided_by, result.decision.decided_by)
        remarks.append(
            _("{who}: {reason} (before: {before})").format(who=who, reason=result.decision.reason, before=before)
        )
    return " ".join([*remarks, *_in_doubt(result.suspects)])


def label(choices: Sequence[tuple[str, object]], code: str) -> str:
    """The text of a code in the active language; an unknown code itself."""
    return str(dict(choices).get(code, code))


def _counted(choices: Sequence[tuple[str, object]], codes: Iterable[str]) -> list[tuple[str, str, int]]:
    counts: Mapping[str, int] = Counter(codes)
    return [(code, str(text), counts[code]) for code, text in choices]


def local_day(moment: datetime | None) -> date | None:
    """The day of a moment in the hub's time zone. Reports name days only, so that a repeated one is the same."""
    return timezone.localtime(moment).date() if moment else None
