"""What a model is asked about findings that rules made, and what of its answer holds. Pure.

A finding is overturned only by quotes that stand in the document, where a reader sees them and outside of any passage
that speaks to a model; and only after a second request (`proving`), which shows nothing but those quotes, agrees. One
that is so and that nobody would act on is set aside: it stays for people to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from hub.llm.material import fence_of, fenced, label_of
from hub.llm.types import AnswerSchema, LlmRequest
from knowledge.text.quoting import fold_quote
from knowledge.text.sentences import sentence_spans, sentences_around
from review.judging.answer_schemas import closed, several, some_text
from review.judging.common_words import KIND, rules_for
from review.judging.plan import MAX_QUOTE, REPAIRS, fenced_passages, finding_label, messages_of
from review.judging.proof import is_proof
from review.judging.reading import find_in_passages
from review.judging.steps import Spending
from review.judging.types import Passage
from review.judging.unseen import NOTHING_UNFIT, Unfit, overlaps, shown_text
from review.types import Severity, Span

MAX_DOUBTS = 40
"""So many findings of a review, the most severe ones, are put to a model."""
PER_REQUEST = 40
MAX_QUOTES = 6
MAX_REASON = 300
MAX_SEARCHED = 12
OPINION_OUTPUT_TOKENS = 8000
# Message, searched places and names of a finding; the sentences of a proof, with what they are under; the rules of a
# request.
TOKENS_OF_DOUBT = 300
TOKENS_OF_PROOF = 600
TOKENS_OF_REQUEST = 1500

# Where paragraphs, items and cells end; a line within a paragraph ends no sentence.
_BORDERS = ("\n\n", "\n-", "\n*", "\n#", "|", "<br>")
_BORDER = re.compile("|".join(map(re.escape, _BORDERS)))
_MARKS = re.compile(r"[*_`#>]|^\s*-\s|\s*[。．]?\s*$")
_NAMING = re.compile(r"[一-龯々ァ-ヴー]{2,}|[a-z0-9]{2,}")

WHOLE = "whole"
"""What a quote of a finding that names nothing treats."""

TASK = "You give a second opinion on findings of a document review that simple rules made."
RULES = f"""- Each finding says that something is missing, not treated, vague, unexplained, without a link or without \
a figure, or tells of a spelling, a mark or a way to write. Rules look for words that they know; you read what the \
passages mean, and what such a document is for.
- "decision" is "overturned" only when the passages themselves show that the finding is wrong: they treat the very \
point, concretely, in other words or in another place. Then "quotes" has the sentences that show it, copied from the \
passages character by character, at most {MAX_QUOTE} characters each, without "…". A heading, a table of contents, a \
mention in passing, an example, a promise (別途定める, TBD) or a statement that the document is complete or was \
approved treats nothing. A finding on a spelling, a mark or a way to write is never overturned.
- A topic that is said to be missing is treated when the passages state at least one concrete requirement or decision \
on it, under whatever heading or in a table; it need not be complete, nor be needed in this document. Look for such \
words first: only a topic on which nothing is stated is set aside. Words on another topic do not treat it.
- A finding that names several things is overturned only when each of them is treated, with a quote for each. Of \
several "Topics" those that are treated are taken out, whatever "decision" is, which is of the others then: \
"confirmed" where something comes of one of them, and "reason" names it; "set_aside" where nothing comes of any. \
"treats" says which of them a quote treats; it is "{WHOLE}" where the finding has none. Each topic needs a quote of \
its own: what is quoted for two of them, or cut for them from one sentence or cell, takes out neither, unless the part \
names its topic.
- Of what is as the finding says, ask what comes of it if it stays: who decides, builds, tests, operates or looks \
something up by this document, and would do it wrongly, ask back, or be unable to. "confirmed" is what a reviewer who \
has read the whole document would put among the comments for its writer for that reason. "reason" names who, and what.
- "set_aside" is what is so, and nothing comes of it. What rules count is there to the letter; in other documents a \
reviewer acted on half of it. Nothing comes of: a topic that this document does its work without, that follows from \
what it states, or that belongs into a document of another kind; a list of terms or of abbreviations where those who \
read such a document know them or they are clear where they stand; identifiers that nobody needs to link; two words \
that name two things, a cut of the line, a name, a piece of a program, an address or a text shown on a screen; a vague \
word that nobody builds or tests by; a spelling, a mark or a way to write that no reader stumbles over, unless the \
document is for the public or names the rule that it breaks. "reason" says why nothing comes of it. Whether a check \
item that asks for a topic is met is settled apart: a topic that is set aside stays missing.
- "cannot_tell" when the passages do not let you tell.
- "quotes" is empty, but for "overturned", and for those of several topics that are treated.
- "opinions" has one entry for each finding. "reason" is one sentence of at most {MAX_REASON} characters."""


class Decision(StrEnum):
    """What a model says of a finding: it is right; the document treats the point, or some of the topics that it names;
    nobody would act on it; or once that the document treats the point, and once, before its own quotes, that it does
    not.
    """

    CONFIRMED = "confirmed"
    OVERTURNED = "overturned"
    NARROWED = "narrowed"
    SET_ASIDE = "set_aside"
    DISPUTED = "disputed"


ANSWERS = (Decision.CONFIRMED, Decision.OVERTURNED, Decision.SET_ASIDE, "cannot_tell")
UNPROVEN = (Decision.SET_ASIDE, Decision.DISPUTED)
"""What takes a finding back without words of the document that would show it to be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A stored finding as a model gets to see it. ``spans`` are of the reviewed text.

    ``named`` are words of which each has to stand in a quote that takes the finding back; ``topics`` several topics
    that it calls missing, each of which is taken back by a quote of its own. ``is_required``: a list or a regulation
    asks for what it calls missing. ``is_form``: it is about a form that everybody sees, so that no quote shows it to be
    wrong. ``rests_on`` are the related documents that it is about.
    """

    pk: int
    fingerprint: str
    item: str
    rule_id: str
    severity: Severity
    message: str
    section_path: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    searched: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    is_about_history: bool = False
    is_form: bool = False
    is_required: bool = False
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a model says of a finding. ``quotes`` are where it stands that the finding is wrong, else empty.

    ``by_topic`` has those of several topics that quotes treat, each with its own. ``refused`` counts quotes that are
    not in the document, or stand where they prove nothing: then it says nothing. ``is_kept``: it is recorded with the
    finding, and changes nothing.
    """

    doubt: Doubt
    decision: Decision
    reason: str
    quotes: tuple[Span, ...] = ()
    by_topic: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    refused: int = 0
    is_kept: bool = False

    @property
    def treated(self) -> tuple[str, ...]:
        """The names of those of several topics that the quotes treat."""
        return tuple(self.by_topic)

    @property
    def needs_proof(self) -> bool:
        """Whether its quotes are looked at once more, by themselves."""
        return self.decision is Decision.OVERTURNED or self.takes_out

    @property
    def takes_out(self) -> bool:
        """Whether some of the topics that the finding names are taken out of it."""
        return not self.is_kept and bool(self.by_topic) and self.decision is not Decision.OVERTURNED

    @property
    def takes_back(self) -> bool:
        """Whether the finding counts no more."""
        return not self.is_kept and self.decision not in (Decision.CONFIRMED, Decision.NARROWED)

    @property
    def leaves_missing(self) -> bool:
        """Whether what a list asks for is still called missing, though nobody is asked to act on it."""
        return self.takes_back and self.decision in UNPROVEN and self.doubt.is_required


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The reviewed text, what of it no model sees (in order, none overlapping), and what proves nothing."""

    text: str
    withheld: tuple[Span, ...] = ()
    unfit: Unfit = NOTHING_UNFIT

    def shown(self, passage: Passage) -> str:
        """A passage as a model is shown it."""
        return shown_text(self.text, passage.start, passage.end, self.withheld)


def most_opinions(
    *, document_tokens: int, tokens: int, passages: int, per_long_request: int, related: int = 0
) -> Spending:
    """Bound what a second opinion takes: MAX_DOUBTS findings, all of which a model wants to overturn.

    A document that fits into ``tokens`` is shown whole, of a longer one so many tokens of ``passages``.
    What tells of related documents is asked about apart, so that each may take a request more.
    """
    fits = document_tokens <= tokens
    groups = -(-MAX_DOUBTS // (PER_REQUEST if fits else per_long_request)) + related
    shown = document_tokens if fits else passages
    asked = groups * (shown + TOKENS_OF_REQUEST) + MAX_DOUBTS * TOKENS_OF_DOUBT
    proved = groups * TOKENS_OF_REQUEST + MAX_DOUBTS * TOKENS_OF_PROOF
    out = 2 * groups * OPINION_OUTPUT_TOKENS
    return Spending(requests=2 * groups, tokens_in=asked + proved, tokens_out=out)


def group_doubts(doubts: Sequence[Doubt], *, size: int = PER_REQUEST) -> tuple[tuple[Doubt, ...], ...]:
    """Choose the most severe findings, in their order, and put those of one check item next to each other.

    What tells of other related documents is asked about apart: a model's words on one finding may repeat another's.
    """
    chosen = sorted(doubts, key=lambda doubt: doubt.severity.rank)[:MAX_DOUBTS]
    groups: dict[tuple[str, ...], list[Doubt]] = {}
    for doubt in sorted(chosen, key=lambda doubt: (doubt.rests_on, doubt.item)):
        groups.setdefault(doubt.rests_on, []).append(doubt)
    return tuple(
        tuple(group[start : start + size]) for group in groups.values() for start in range(0, len(group), size)
    )


def opinion_request(
    doubts: Sequence[Doubt],
    reviewed: Reviewed,
    passages: Sequence[Passage],
    *,
    document: str,
    prompt: str,
    repair: str = "",
) -> LlmRequest:
    """Ask for a second opinion on findings. The same findings and passages give the same request."""
    shown = [reviewed.shown(passage) for passage in passages]
    described = [_description(doubt, passages) for doubt in doubts]
    fence = fence_of([*shown, *described])
    labels = [finding_label(at) for at in range(len(doubts))]
    material = [
        *fenced_passages(passages, shown, fence),
        *(
            fenced(content, label=label, place=f"finding, {doubt.severity}", fence=fence)
            for label, doubt, content in zip(labels, doubts, described, strict=True)
        ),
        f"Document: {document}",
        *([REPAIRS[repair]] if repair else []),
    ]
    return LlmRequest(
        messages=messages_of(f"{rules_for(TASK, KIND, RULES, fence=fence)}\n\n{prompt}", "\n\n".join(material)),
        schema=_opinion_schema(
            labels,
            [label_of(at) for at in range(len(passages))],
            list(dict.fromkeys((*(topic for doubt in doubts for topic in doubt.topics), WHOLE))),
        ),
        max_output_tokens=OPINION_OUTPUT_TOKENS,
    )


def read_opinions(
    answer: Mapping[str, Any], doubts: Sequence[Doubt], reviewed: Reviewed, passages: Sequence[Passage]
) -> tuple[Opinion, ...]:
    """Take the first opinion on each finding. One that overturns it with a quote that does not hold overturns nothing,
    and confirms nothing, either: its ``refused`` tells.
    """
    named = {finding_label(at): doubt for at, doubt in enumerate(doubts)}
    labelled = {label_of(at): passage for at, passage in enumerate(passages)}
    taken: list[Opinion] = []
    for said in answer["opinions"]:
        doubt = named.pop(said["finding"], None)
        if doubt is None or said["decision"] == "cannot_tell":
            continue
        taken.append(_read(said, doubt, reviewed, labelled))
    return tuple(taken)


def _read(said: Mapping[str, Any], doubt: Doubt, reviewed: Reviewed, labelled: Mapping[str, Passage]) -> Opinion:
    """One opinion with the quotes that prove it. Those of single topics hold or count as none."""
    decision, reason = Decision(said["decision"]), said["reason"].strip()
    plain = Opinion(doubt=doubt, decision=decision, reason=reason)
    if decision is not Decision.OVERTURNED and not doubt.topics:
        return plain
    found = [
        find_in_passages(reviewed.text, each["quote"], labelled.values(), first=labelled[each["passage"]])
        for each in said["quotes"]
    ]
    proof = tuple(dict.fromkeys(span for span in found if span is not None and _is_proof(reviewed, doubt, span)))
    refused = len(set(found)) - len(proof)
    shown = _shown_by_own(
        reviewed.text, doubt.topics, zip((each["treats"] for each in said["quotes"]), found, strict=True)
    )
    of_each = {topic: tuple(span for span in proof if span in shown[topic]) for topic in doubt.topics}
    by_topic = {topic: spans for topic, spans in of_each.items() if spans}
    if doubt.topics:
        proof = tuple(span for span in proof if any(span in spans for spans in by_topic.values()))
    holds = bool(proof) and not refused and not doubt.is_form and _names_all(reviewed.text, doubt, proof)
    if not holds:
        is_refused = decision is Decision.OVERTURNED
        return replace(plain, decision=Decision.CONFIRMED, refused=max(refused, 1)) if is_refused else plain
    if len(by_topic) == len(doubt.topics):
        decision = Decision.OVERTURNED
    elif decision is not Decision.SET_ASIDE:
        decision = Decision.NARROWED
    return replace(plain, decision=decision, quotes=proof, by_topic=by_topic)


def _shown_by_own(text: str, topics: Sequence[str], quoted: Iterable[tuple[str, Span | None]]) -> dict[str, set[Span]]:
    """Return for each of several topics where it is treated: in what is quoted for it, and in no part for another.

    A sentence, item or cell, however often it stands in the document, treats one topic, but for those that a part of it
    names: of what is cut from it for several the parts that name none of them treat nothing.
    """
    spans: dict[str, set[Span]] = {topic: set() for topic in topics}
    for topic, span in quoted:
        if span is not None and topic in spans:
            spans[topic].add(span)
    said = {span: _said_in(text, span) for own in spans.values() for span in own}
    shown: dict[str, set[Span]] = {}
    for topic, own in spans.items():
        others = [span for other in topics if other != topic for span in spans[other]]
        said_for_others = frozenset[str]().union(*(said[span] for span in others))
        shown[topic] = {
            span
            for span in own
            if not overlaps(others, span.start, span.end)
            and (not said[span] <= said_for_others or _names(text[span.start : span.end], topic))
        }
    return shown


def _said_in(text: str, span: Span) -> frozenset[str]:
    """The sentences, items and cells that a quote has a part of, alike however they are marked and broken."""
    start, end = sentences_around(text, span.start, span.end, borders=_BORDERS)
    parts = [fold_quote(_MARKS.sub("", part)) for part in _BORDER.split(text[start:end])]
    sentences = (part[first:last] for part in parts for first, last in sentence_spans(part, 0, len(part)))
    return frozenset(sentence for sentence in sentences if sentence)


def _names(quote: str, topic: str) -> bool:
    """Whether a quote has one of the words that a topic's name is made of."""
    folded = fold_quote(quote).casefold()
    return any(word in folded for word in _NAMING.findall(fold_quote(topic).casefold()))


def _is_proof(reviewed: Reviewed, doubt: Doubt, span: Span) -> bool:
    """Whether a quote proves something, and is not the vague wording itself."""
    if not is_proof(reviewed.text, reviewed.unfit, span, is_about_history=doubt.is_about_history):
        return False
    if not doubt.rule_id.startswith("wording."):
        return True  # what something missing points to are the nearest passages, and one of them may treat it
    return not any(own.start <= span.start and span.end <= own.end for own in doubt.spans)


def _names_all(text: str, doubt: Doubt, proof: Sequence[Span]) -> bool:
    words = fold_quote(" ".join(text[span.start : span.end] for span in proof)).casefold()
    return all(fold_quote(name).casefold() in words for name in doubt.named)


def _description(doubt: Doubt, passages: Sequence[Passage]) -> str:
    places = [
        label_of(at)
        for at, one in enumerate(passages)
        if any(one.start <= span.start < one.end for span in doubt.spans)
    ]
    lines = [
        ("Finding", doubt.message),
        ("Check item", doubt.item),
        ("Stands in", ", ".join(places) or " > ".join(doubt.section_path)),
        ("Names", "、".join(doubt.named)),
        ("Topics", "、".join(doubt.topics)),
        ("Looked through", " / ".join(doubt.searched)),
    ]
    return "\n".join(f"{name}: {value}" for name, value in lines if value)


def _opinion_schema(findings: list[str], passages: list[str], topics: list[str]) -> AnswerSchema:
    quote = closed(
        passage={"enum": passages}, treats={"enum": topics}, quote={"type": "string", "maxLength": MAX_QUOTE}
    )
    opinion = closed(
        finding={"enum": findings},
        reason=some_text(MAX_REASON),
        quotes=several(quote, most=MAX_QUOTES),
        decision={"enum": list(ANSWERS)},
    )
    return AnswerSchema(
        name="second_opinion",
        schema=closed(opinions=several(opinion, most=len(findings))),
    )
