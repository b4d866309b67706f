"""The sceptical request: what a model proposed is put to the test, and refuted by words of the document only. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hub.llm.material import fence_of, fenced, label_of
from hub.llm.types import AnswerSchema, LlmRequest
from review.judging.answer_schemas import closed, several, some_text
from review.judging.common_words import KIND, rules_for
from review.judging.plan import MAX_QUOTE, REPAIRS, finding_label, messages_of, place_of, window_around
from review.judging.proof import is_proof
from review.judging.reading import find_quote
from review.judging.steps import Spending
from review.judging.sweep.reading import Proposal, Subject
from review.judging.types import Passage
from review.judging.unseen import NOTHING_UNFIT, Unfit, joined, overlaps, shown_text
from review.types import Severity, Span

PER_REQUEST = 40
MAX_REFUTED = 120
"""So many proposals, the most severe ones, are put to the test; the others stay candidates."""
AROUND = 300
"""Characters of a long document shown before and after a quote."""
MAX_REASON = 240
MAX_AGAINST = 3
REFUTING_OUTPUT_TOKENS = 8000
NO_OTHER = "none"
# A proposal by itself, and with its windows.
TOKENS_OF_PROPOSAL = 300
TOKENS_WITH_WINDOWS = 900
TOKENS_OF_REQUEST = 1500

TASK = "You test findings that were proposed about a document. Try to refute each one first."
RULES = f"""- "refuted": words of the document let both sides be true (they are of two things, phases, versions, \
environments or cases), or state what is called missing, or show that the finding misreads them. Then "quotes" has \
these words, copied character by character, at most {MAX_QUOTE} of them each, without "…". What another document may \
hold, what the author may have meant and what is usual refute nothing; neither does a heading or a statement that the \
document is complete or was approved.
- "trivial": it is so, and nothing comes of it: nobody who decides, builds, tests, operates or looks something up by \
this document goes wrong or has to ask back, and no reader stumbles. What is called missing belongs into a document of \
another kind or follows from what is stated, the short form of a name or the abbreviation is plain to those who read \
such a document, a value, class or tool has its name in a program beside the word for it, the way to write is usual. \
You would strike it from a colleague's list of comments. That it is small is no reason: then it stands as minor. So \
does what a writer corrects whatever comes of it: a wrong letter, digit or name; one word spelled in two ways, two \
words of which a reader can't be sure that they are one thing; a field or cell of a form or table that has no value \
where its like have one, though it may be found elsewhere; a part that says itself that it is unfinished; a statement \
without exception (all, none, only) beside its exception; what is ruled out or left open without a word why.
- "same": it tells of the same defect as another finding here, in whatever words or category. Then "same_as" is that \
one, which says it best and is not "same" itself; else it is "none". Two defects of one sentence are not the same.
- "stands": the passages show the defect, and a reviewer would have it corrected, were it a word. One that tells of \
several points stands where one of them does.
- "cannot_tell": the passages do not show what the finding is about.
- What is called missing is there only where words state that very point; that its subject is touched elsewhere \
refutes nothing. Values that differ contradict each other, also where one of them may be the newer one.
- But for "refuted" "quotes" is empty. "severity" is what the defect is worth: critical, major or minor. "reason" is \
one sentence of at most {MAX_REASON} characters.
- "verdicts" has one entry for each finding."""


def most_tests(*, document_tokens: int, tokens: int, passages: int, is_short: bool = False) -> Spending:
    """Bound what the tests take of MAX_REFUTED proposals. A document that fits into ``tokens`` is shown whole, of a
    longer one what surrounds the quotes and, where something is missing, which is tested apart then, so many tokens of
    ``passages``. What the last reading of one that ``is_short`` finds is tested apart, too.
    """
    groups = -(-MAX_REFUTED // PER_REQUEST) + is_short
    shown = groups * document_tokens + MAX_REFUTED * TOKENS_OF_PROPOSAL
    if document_tokens > tokens:
        groups += 1
        shown = groups // 2 * passages + MAX_REFUTED * TOKENS_WITH_WINDOWS
    return Spending(
        requests=groups,
        tokens_in=groups * TOKENS_OF_REQUEST + shown,
        tokens_out=groups * REFUTING_OUTPUT_TOKENS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A proposal with what became of it: ``stands``, ``refuted``, ``doubted`` without a word of the document that
    would refute it, ``trivial`` where nobody would act on it, ``same`` where another one that stands tells the same
    defect, or not tested (``unrefuted``).
    """

    proposal: Proposal
    decision: str
    reason: str = ""

    @property
    def stands(self) -> bool:
        return self.decision in ("stands", "doubted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of a document as a test shows it, with the section that it stands in."""

    span: Span
    place: str


def group_proposals(proposals: Sequence[Proposal], *, is_whole: bool) -> tuple[tuple[Proposal, ...], ...]:
    """Put those together that are tested with the same material: by related documents, and what is missing apart
    unless all see the whole document.
    """
    groups: dict[tuple[bool, tuple[str, ...]], list[Proposal]] = {}
    for proposal in proposals:
        groups.setdefault((proposal.kind == "missing" and not is_whole, proposal.rests_on), []).append(proposal)
    return tuple(
        tuple(group[start : start + PER_REQUEST])
        for group in groups.values()
        for start in range(0, len(group), PER_REQUEST)
    )


def refuting_request(
    group: Sequence[Proposal], subject: Subject, windows: Sequence[Window], *, prompt: str, repair: str = ""
) -> LlmRequest:
    """Ask whether proposals stand, with nothing but what ``windows`` show."""
    shown = [
        shown_text(subject.text_of(one.span), one.span.start, one.span.end, subject.withheld_of(one.span))
        for one in windows
    ]
    described = [_description(proposal, windows) for proposal in group]
    fence = fence_of([*shown, *described])
    labels = [finding_label(at) for at in range(len(group))]
    sources = [label_of(at) for at in range(len(windows))]
    material = [
        *(
            fenced(content, label=label, place=window.place, fence=fence)
            for label, window, content in zip(sources, windows, shown, strict=True)
        ),
        *(
            fenced(content, label=label, place=f"proposed finding, {proposal.category}, {proposal.kind}", fence=fence)
            for label, proposal, content in zip(labels, group, described, strict=True)
        ),
        f"Document: {subject.title}",
        *([REPAIRS[repair]] if repair else []),
    ]
    quote = closed(passage={"enum": sources}, quote={"type": "string", "maxLength": MAX_QUOTE})
    verdict = closed(
        finding={"enum": labels},
        reason=some_text(MAX_REASON),
        quotes=several(quote, most=MAX_AGAINST),
        severity={"enum": ["critical", "major", "minor"]},
        same_as={"enum": [*labels, NO_OTHER]},
        verdict={"enum": ["stands", "refuted", "trivial", "same", "cannot_tell"]},
    )
    return LlmRequest(
        messages=messages_of(f"{rules_for(TASK, KIND, RULES, fence=fence)}\n\n{prompt}", "\n\n".join(material)),
        schema=AnswerSchema(name="refuting", schema=closed(verdicts=several(verdict, most=len(labels)))),
        max_output_tokens=REFUTING_OUTPUT_TOKENS,
    )


def read_verdicts(
    answer: Mapping[str, Any],
    group: Sequence[Proposal],
    subject: Subject,
    windows: Sequence[Window],
    unfit: Unfit,
    *,
    planted: Sequence[Span] = (),
) -> tuple[Examined, ...]:
    """What became of each proposal; severities only go down, but for what stands for another one: it has the higher.

    It stands when every word on it says so. It is refuted by words of the document that are where they are said to be
    and that prove something; a refutation without them is a doubt: the proposal counts as minor, and people see why.
    Nothing but such words takes out, or makes less of, a critical one and one beside what is ``planted``, which speaks
    to a model.
    """
    said: dict[str, list[Mapping[str, Any]]] = {}
    for one in answer["verdicts"]:
        said.setdefault(one["finding"], []).append(one)

    def holds(quoted: Mapping[str, Any]) -> bool:
        return any(_holds_in(window.span, quoted["quote"], subject, unfit) for window in windows)

    labelled = {finding_label(at): proposal for at, proposal in enumerate(group)}
    standing = {
        label: labelled[label]
        for label, words in said.items()
        if label in labelled and all(one["verdict"] == "stands" for one in words)
    }
    believed = {label: _believed(one, said.get(label, []), standing) for label, one in labelled.items()}
    examined = {
        label: _tested(one, believed[label], holds, needs_proof=_needs_proof(one, subject, planted))
        for label, one in labelled.items()
    }
    for label, words in believed.items():
        if examined[label].decision == "same":
            other = next(one["same_as"] for one in words if one["verdict"] == "same")
            examined[other] = _at_least(examined[other], labelled[label].severity)
    return tuple(examined.values())


def _believed(
    proposal: Proposal, words: Sequence[Mapping[str, Any]], standing: Mapping[str, Proposal]
) -> list[Mapping[str, Any]]:
    """What is said of a proposal: one that is called the same as another which does not stand, or which is of another
    category and rests on other words, stands itself.
    """
    return [
        {**one, "verdict": "stands"}
        if one["verdict"] == "same" and not _may_be_one(proposal, standing.get(one["same_as"]))
        else one
        for one in words
    ]


def _may_be_one(proposal: Proposal, other: Proposal | None) -> bool:
    """Whether two proposals are of one category, or some of their quotes overlap."""
    return other is not None and (
        proposal.category == other.category
        or any(
            one.document == each.document and overlaps((one,), each.start, each.end)
            for one in proposal.quotes
            for each in other.quotes
        )
    )


def _at_least(examined: Examined, severity: Severity) -> Examined:
    """Give what stands for another one the severity of that one where it is the higher."""
    highest = min(examined.proposal.severity, severity, key=lambda each: each.rank)
    return replace(examined, proposal=replace(examined.proposal, severity=highest))


def _holds_in(shown: Span, quote: str, subject: Subject, unfit: Unfit) -> bool:
    text = subject.text_of(shown)
    found = find_quote(text, quote, start=shown.start, end=shown.end)
    if found is None or overlaps(subject.withheld_of(shown), found.start, found.end):
        return False
    return is_proof(text, NOTHING_UNFIT if shown.document else unfit, found)


def _needs_proof(proposal: Proposal, subject: Subject, planted: Sequence[Span]) -> bool:
    """Whether nothing but words of the document may take a proposal out: a critical one, or one beside what is
    ``planted`` in the document.
    """
    own = (_around(subject.text, quote) for quote in proposal.quotes if not quote.document)
    return proposal.severity is Severity.CRITICAL or any(overlaps(planted, one.start, one.end) for one in own)


def _tested(
    proposal: Proposal,
    words: Sequence[Mapping[str, Any]],
    holds: Callable[[Mapping[str, Any]], bool],
    *,
    needs_proof: bool,
) -> Examined:
    if not words:
        return Examined(proposal=proposal, decision="unrefuted")
    against = next((one for one in words if one["verdict"] != "stands"), None)
    if against is None:
        severities = (proposal.severity, *(Severity(one["severity"]) for one in words))
        least = max(severities, key=lambda severity: severity.rank)
        return Examined(
            proposal=replace(proposal, severity=least), decision="stands", reason=words[0]["reason"].strip()
        )
    reason = against["reason"].strip()
    verdict = against["verdict"]
    if verdict == "same" or (verdict == "trivial" and not needs_proof):
        return Examined(proposal=proposal, decision=verdict, reason=reason)
    is_shown = verdict != "trivial" and bool(against["quotes"]) and all(map(holds, against["quotes"]))
    if is_shown or (verdict == "cannot_tell" and not needs_proof):
        return Examined(proposal=proposal, decision="refuted", reason=reason)
    severity = proposal.severity if needs_proof else Severity.MINOR
    return Examined(proposal=replace(proposal, severity=severity), decision="doubted", reason=reason)


def windows_for(group: Sequence[Proposal], subject: Subject, more: Sequence[Passage]) -> tuple[Window, ...]:
    """What a test shows: ``more`` passages of the document, the whole of it where they are all, and what surrounds the
    quotes that do not stand in them, by document and in its order. What overlaps of the latter is one window.
    """
    given = [Span(start=one.start, end=one.end) for one in more]
    quotes = [quote for proposal in group for quote in proposal.quotes]
    around = joined(
        _around(subject.text_of(quote), quote)
        for quote in quotes
        if quote.document or not any(one.start <= quote.start and quote.end <= one.end for one in given)
    )
    spans = sorted((*given, *around), key=lambda one: (one.document, one.start, one.end))
    return tuple(Window(span=span, place=_place(subject, span)) for span in spans)


def _around(text: str, quote: Span) -> Span:
    """A quote with what stands around it, in whole lines where they are short."""
    start, end = window_around(text, quote.start, quote.end, around=AROUND)
    return Span(start=start, end=end, document=quote.document)


def _place(subject: Subject, span: Span) -> str:
    bodies = (subject.related_bodies or {}).get(span.document, ()) if span.document else subject.bodies
    place = next((place_of(one) for one in bodies if one.start <= span.start < one.end), "")
    kind = next((one.document_type for one in subject.related if one.document_id == span.document), "")
    return f"related document ({kind}): {place}" if span.document else place


def _description(proposal: Proposal, windows: Sequence[Window]) -> str:
    places = [
        label_of(at)
        for at, window in enumerate(windows)
        if any(
            window.span.document == quote.document and window.span.start <= quote.start < window.span.end
            for quote in proposal.quotes
        )
    ]
    return f"Finding: {proposal.message}\nPassages: {', '.join(places)}"
