"""What a model is asked when it reads a whole document against its check list, and what of its answers holds. Pure.

It is shown every check item with what rules said of it, whether they passed it or not. A document that one request does
not hold is read part by part, each with the facts noted so far, so that a number of chapter 2 meets the one of chapter
7. A proposal holds only when each of its quotes stands in the document that it is said to be of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hub.llm.material import fence_of, fenced, label_of
from hub.llm.tokens import estimate_text_tokens
from hub.llm.types import AnswerSchema, LlmRequest
from knowledge.text.folding import normalise
from review.judging.answer_schemas import closed, several, some_text
from review.judging.common_words import KIND, rules_for
from review.judging.overview import cut_stretches
from review.judging.plan import REPAIRS, fenced_passages, messages_of, place_of, tokens_of_passage
from review.judging.reading import find_in_passages, find_quote
from review.judging.sweep.check_list import OBSERVED_TOKENS, Point, check_list_text
from review.judging.sweep.wanted import FOUND_TOKENS, TASK, found_text, rules_text, wanted_text
from review.judging.types import Passage
from review.judging.unseen import overlaps, shown_text
from review.rules.prompt_injection import reads_as_instruction
from review.types import READING_CODE, RelatedDocument, Severity, Span

CATEGORIES = ("traceability", "consistency", "coverage", "structure", "terminology", "style")
MAX_FACTS = 12
MAX_PROPOSALS = 30
MAX_QUOTES = 3
MAX_QUOTE = 240
MAX_WORDS = 80
MAX_MESSAGE = 240
READING_OUTPUT_TOKENS = 8000
# The shares (one of so many) of what a request holds that earlier facts, the outline and related documents may take.
FACTS_SHARE = 4
OUTLINE_SHARE = 8
RELATED_SHARE = 3
# A document that takes no more than this share of a request is read once more for what the readings left.
AGAIN_SHARE = 2
EARLIER = "earlier"
CHECK_LIST = "checklist"
TOLD = "told"
NO_ITEM = NO_TOPIC = "none"
# Subject, attribute, value, heading and quote of a fact, at their longest.
TOKENS_OF_FACT = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a part states of a subject, where its quote stands. ``rests_on`` names the related documents shown then."""

    subject: str
    attribute: str
    value: str
    span: Span
    quote: str
    place: str
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A finding that a model proposes; its quotes stand where they say. ``rests_on`` names related documents.

    ``item`` is the code of the check item that it belongs to, ``topic`` the name of the topic that it says is not
    treated, or empty. ``nth`` counts defects of one category on the same sentences, from 1.
    """

    category: str
    kind: str
    severity: Severity
    message: str
    quotes: tuple[Span, ...]
    rests_on: tuple[str, ...] = ()
    item: str = READING_CODE
    topic: str = ""
    nth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One reading of the whole document, for some categories; with the related documents at hand or without.

    ``is_last``: it is given what the readings before it found, and looks for what they left.
    """

    categories: tuple[str, ...]
    shows_related: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is read: the text, its parts by headings, what is withheld of it, and the documents it belongs to.

    ``topics`` are the names of what a document of its type has to treat and rules took for treated; ``points`` is its
    check list.
    """

    title: str
    text: str
    bodies: tuple[Passage, ...]
    withheld: tuple[Span, ...] = ()
    related: tuple[RelatedDocument, ...] = ()
    related_bodies: Mapping[str, tuple[Passage, ...]] | None = None
    related_withheld: Mapping[str, tuple[Span, ...]] | None = None
    topics: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()

    def text_of(self, span: Span) -> str:
        """The whole text that a span is of."""
        return next((one.text for one in self.related if one.document_id == span.document), self.text)

    def withheld_of(self, span: Span) -> tuple[Span, ...]:
        """What no model is shown of the text that a span is of."""
        return (self.related_withheld or {}).get(span.document, ()) if span.document else self.withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedPassage:
    """A passage of a related document."""

    document: RelatedDocument
    passage: Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedSection:
    """A section of a related document with what it takes in a request, and its pairs of characters."""

    shown: RelatedPassage
    tokens: int
    pairs: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What an answer about a part comes to. ``unverified`` counts proposals whose quotes do not hold."""

    facts: tuple[Fact, ...]
    proposals: tuple[Proposal, ...]
    unverified: int


def rounds_for(*, has_related: bool, categories: Sequence[str] = CATEGORIES) -> tuple[Round, ...]:
    """The readings of a document for some categories: what compares is read apart from what looks for gaps, and both
    from what goes through the words.

    A reading with none of them is left out.
    """
    inside = ("consistency",) if has_related else ("consistency", "traceability")
    across = (Round(categories=("traceability",), shows_related=True),) if has_related else ()
    within = (inside, ("coverage", "structure"), ("terminology", "style"))
    every = (*(Round(categories=each) for each in within), *across)
    wanted = [replace(one, categories=tuple(each for each in one.categories if each in categories)) for one in every]
    return tuple(one for one in wanted if one.categories)


def cut_parts(text: str, bodies: Sequence[Passage], *, tokens: int) -> tuple[tuple[Passage, ...], ...]:
    """Put stretches together, in order, that one request of ``tokens`` may hold."""
    parts: list[list[Passage]] = []
    left = 0
    for stretch in cut_stretches(text, bodies, tokens=tokens):
        size = tokens_of_passage(text, stretch)
        if not parts or size > left:
            parts.append([])
            left = tokens
        parts[-1].append(stretch)
        left -= size
    return tuple(tuple(part) for part in parts)


def last_round(categories: Sequence[str] = CATEGORIES) -> Round:
    """The reading for what the others left, of all categories that are wanted."""
    return Round(categories=tuple(each for each in CATEGORIES if each in categories), is_last=True)


def is_short(subject: Subject, *, tokens: int) -> bool:
    """Return whether a document takes so little of a request for ``tokens`` that one more reading of it is within what
    a review may cost.
    """
    return len(cut_parts(subject.text, subject.bodies, tokens=tokens // AGAIN_SHARE)) <= 1


def part_tokens(tokens: int, reading: Round) -> int:
    """How much of a request for ``tokens`` of documents is for the part itself; facts and outline come on top."""
    return tokens - (tokens // RELATED_SHARE if reading.shows_related else 0)


def plan_readings(
    subject: Subject,
    *,
    tokens: int,
    prompt: str,
    has_related: bool = False,
    categories: Sequence[str] = CATEGORIES,
) -> list[tuple[LlmRequest, int]]:
    """The requests that reading a document takes as long as all goes well, each with the tokens that may come on top.

    Those are of what rules will say, of facts of the parts before, of passages of related documents, and of what the
    readings before found. Which ones is not looked at: all of their texts would be.
    """
    last = [last_round(categories)] if is_short(subject, tokens=tokens) else []
    rounds = [*rounds_for(has_related=has_related, categories=categories), *last]
    return [
        (
            reading_request(subject, part, reading, facts=(), related=(), tokens=tokens, prompt=prompt),
            OBSERVED_TOKENS
            + (min(tokens // FACTS_SHARE, number * MAX_FACTS * TOKENS_OF_FACT))
            + (tokens // RELATED_SHARE if reading.shows_related else 0)
            + (FOUND_TOKENS if reading.is_last else 0),
        )
        for reading in rounds
        for number, part in enumerate(cut_parts(subject.text, subject.bodies, tokens=part_tokens(tokens, reading)))
    ]


def reading_request(
    subject: Subject,
    part: Sequence[Passage],
    reading: Round,
    *,
    facts: Sequence[Fact],
    related: Sequence[RelatedPassage],
    tokens: int,
    prompt: str,
    found: Sequence[str] = (),
    repair: str = "",
) -> LlmRequest:
    """Ask for the facts of a part and the findings that it shows; the last reading for others than were ``found``.

    The same part, facts and findings give the same request.
    """
    shown = [shown_text(subject.text, one.start, one.end, subject.withheld) for one in part]
    beside = [_related_text(subject, one) for one in related]
    outline = _outline(subject.bodies, tokens=tokens // OUTLINE_SHARE)
    known = "\n".join(map(_fact_line, fit_facts(facts, tokens=tokens // FACTS_SHARE)))
    asked = check_list_text(subject.points)
    before = found_text(found)
    fence = fence_of([*shown, *beside, outline, known, asked, before])
    material = [
        *([fenced(asked, label=CHECK_LIST, place="what the document is held against", fence=fence)] if asked else []),
        fenced(outline, label="outline", place="headings of the whole document", fence=fence),
        *([fenced(known, label=EARLIER, place="facts of the parts before", fence=fence)] if known else []),
        *([fenced(before, label=TOLD, place="what other readings found", fence=fence)] if before else []),
        *(
            fenced(content, label=_related_label(at), place=_related_place(one), fence=fence)
            for at, (one, content) in enumerate(zip(related, beside, strict=True))
        ),
        *fenced_passages(part, shown, fence),
        f"Document: {subject.title}",
        *([REPAIRS[repair]] if repair else []),
    ]
    wanted = "\n".join(f"  - {wanted_text(category, subject.topics)}" for category in reading.categories)
    rules = rules_text(
        [category for category in CATEGORIES if category not in reading.categories],
        wanted=wanted,
        is_whole=part[0].start <= subject.bodies[0].start and part[-1].end >= subject.bodies[-1].end,
        is_last=reading.is_last,
        message=MAX_MESSAGE,
        words=MAX_WORDS,
        quote=MAX_QUOTE,
    )
    labels = [label_of(at) for at in range(len(part))]
    sources = [*labels, *([EARLIER] if known else []), *(_related_label(at) for at in range(len(related)))]
    return LlmRequest(
        messages=messages_of(f"{rules_for(TASK, KIND, rules, fence=fence)}\n\n{prompt}", "\n\n".join(material)),
        schema=_schema(
            labels,
            sources,
            reading.categories,
            items=[*(one.code for one in subject.points), NO_ITEM],
            topics=[*(subject.topics if "coverage" in reading.categories else ()), NO_TOPIC],
        ),
        max_output_tokens=READING_OUTPUT_TOKENS,
    )


def read_part(
    answer: Mapping[str, Any],
    subject: Subject,
    part: Sequence[Passage],
    related: Sequence[RelatedPassage],
    *,
    earlier: Iterable[str] = (),
) -> Read:
    """Take the facts and the proposals whose quotes hold; nothing that speaks to a model is taken.

    All of them rest on the related documents that are shown, and on those that the ``earlier`` facts rest on: a model
    words facts, and may word them as a related document does.
    """
    places = _Places(subject=subject, part=part, related=related)
    shown = tuple(sorted({*(one.document.document_id for one in related), *earlier}))
    items = {point.code for point in subject.points}
    facts = [fact for said in answer["facts"] if (fact := _fact(said, places, shown)) is not None]
    proposals: list[Proposal] = []
    unverified = 0
    for said in answer["findings"]:
        found = [places.locate(each["passage"], each["quote"]) for each in said["quotes"]]
        quotes = tuple(dict.fromkeys(span for span in found if span is not None))
        needed = 2 if said["kind"] == "contradiction" else 1
        if None in found or len(quotes) < needed or reads_as_instruction(said["message"]):
            unverified += 1
            continue
        proposals.append(
            Proposal(
                category=said["category"],
                kind=said["kind"],
                severity=Severity(said["severity"]),
                message=said["message"].strip(),
                quotes=quotes,
                rests_on=shown,
                item=said["item"] if said["item"] in items else READING_CODE,
                topic="" if said["topic"] == NO_TOPIC else said["topic"],
            )
        )
    return Read(facts=tuple(facts), proposals=tuple(proposals), unverified=unverified)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Finds quotes where they are said to stand, then elsewhere in the same document."""

    subject: Subject
    part: Sequence[Passage]
    related: Sequence[RelatedPassage]

    def locate(self, label: str, quote: str) -> Span | None:
        named = {_related_label(at): one for at, one in enumerate(self.related)}
        if label in named:
            document = named[label].document
            found = find_quote(document.text, quote)
            span = replace(found, document=document.document_id) if found else None
        else:
            span = self._in_text(label, quote)
        if span is None or overlaps(self.subject.withheld_of(span), span.start, span.end):
            return None
        return span

    def _in_text(self, label: str, quote: str) -> Span | None:
        first = {label_of(at): one for at, one in enumerate(self.part)}.get(label)
        text = self.subject.text
        return find_in_passages(text, quote, self.part, first=first) or find_quote(text, quote)

    def heading_of(self, span: Span) -> str:
        return next((place_of(one) for one in self.subject.bodies if one.start <= span.start < one.end), "")


def _fact(said: Mapping[str, Any], places: _Places, rests_on: tuple[str, ...]) -> Fact | None:
    words = {name: " ".join(said[name].split()) for name in ("subject", "attribute", "value")}
    span = places.locate(said["passage"], said["quote"])
    if span is None or reads_as_instruction(" ".join(words.values())):
        return None
    quote = " ".join(places.subject.text[span.start : span.end].split())
    return Fact(**words, span=span, quote=quote, place=places.heading_of(span), rests_on=rests_on)


def fit_facts(facts: Sequence[Fact], *, tokens: int) -> tuple[Fact, ...]:
    """The facts that fit, in their order: those with figures first, since they are what differs; the newest of each."""
    kept: list[int] = []
    left = tokens
    order = sorted(range(len(facts)), key=lambda at: (not any(map(str.isdigit, facts[at].value)), -at))
    for at in order:
        left -= estimate_text_tokens(_fact_line(facts[at])) + 2
        if left < 0:
            break
        kept.append(at)
    return tuple(facts[at] for at in sorted(kept))


def _fact_line(fact: Fact) -> str:
    return f"{fact.subject} | {fact.attribute} | {fact.value} | {fact.place} | {fact.quote}"


def _outline(bodies: Sequence[Passage], *, tokens: int) -> str:
    lines: list[str] = []
    left = tokens
    for path in dict.fromkeys(body.section_path for body in bodies if body.section_path):
        line = f"{'  ' * (len(path) - 1)}{path[-1]}"
        left -= estimate_text_tokens(line) + 1
        if left < 0:
            lines.append("(more)")
            break
        lines.append(line)
    return "\n".join(lines)


def sections_of_related(subject: Subject) -> tuple[RelatedSection, ...]:
    """The sections of the related documents, in their order, as `choose_related` compares them with each part."""
    return tuple(
        RelatedSection(
            shown=RelatedPassage(document=document, passage=body),
            tokens=tokens_of_passage(document.text, body),
            pairs=pairs_of(document.text[body.start : body.end]),
        )
        for document in subject.related
        for body in (subject.related_bodies or {}).get(document.document_id, ())
    )


def choose_related(
    sections: Sequence[RelatedSection], text: str, part: Sequence[Passage], *, tokens: int
) -> tuple[RelatedPassage, ...]:
    """The related sections that share most with a part of a text, as far as they fit; all where they do.

    Two texts share pairs of characters. It needs no index, so it is the same wherever it is done again.
    """
    pairs = pairs_of("".join(text[one.start : one.end] for one in part))
    likeness = [len(one.pairs & pairs) / (len(one.pairs) or 1) for one in sections]
    chosen: list[int] = []
    left = tokens
    for at in sorted(range(len(sections)), key=lambda at: -likeness[at]):
        left -= sections[at].tokens
        if left < 0:
            break
        chosen.append(at)
    return tuple(sections[at].shown for at in sorted(chosen))


def pairs_of(text: str) -> frozenset[str]:
    """The pairs of characters next to each other in a text, white space and widths aside."""
    folded = "".join(normalise(text).split())
    return frozenset(folded[at : at + 2] for at in range(len(folded) - 1))


def _related_text(subject: Subject, one: RelatedPassage) -> str:
    withheld = (subject.related_withheld or {}).get(one.document.document_id, ())
    return shown_text(one.document.text, one.passage.start, one.passage.end, withheld)


def _related_place(one: RelatedPassage) -> str:
    return f"related document ({one.document.document_type}): {place_of(one.passage)}"


def _related_label(index: int) -> str:
    return f"r{index + 1}"


def _schema(
    labels: list[str], sources: list[str], categories: Sequence[str], *, items: Sequence[str], topics: Sequence[str]
) -> AnswerSchema:
    words = some_text(MAX_WORDS)
    text = {"type": "string", "maxLength": MAX_QUOTE}
    fact = closed(subject=words, attribute=words, value=words, passage={"enum": labels}, quote=text)
    quote = closed(passage={"enum": sources}, quote=text)
    finding = closed(
        item={"enum": list(items)},
        topic={"enum": list(topics)},
        category={"enum": list(categories)},
        kind={"enum": ["contradiction", "wrong", "missing"]},
        message=some_text(MAX_MESSAGE),
        quotes=several(quote, most=MAX_QUOTES),
        severity={"enum": ["critical", "major", "minor"]},
    )
    return AnswerSchema(
        name="reading",
        schema=closed(
            facts=several(fact, most=MAX_FACTS),
            findings=several(finding, most=MAX_PROPOSALS),
        ),
    )
