"""What of the proposals becomes a finding: once each, beside those of the rules, as many as a reader can use. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hub.core.texts import Text
from knowledge.text.quoting import fold_quote
from knowledge.text.sentences import sentences_around
from review.judging.sweep.reading import Proposal, Subject, pairs_of
from review.judging.sweep.refuting import Examined
from review.types import JUDGED_BY_MODEL, FindingDraft, Severity, Span

# What a rule's finding is about, by the first part of its id.
CATEGORY_OF = {
    "traceability": "traceability",
    "consistency": "consistency",
    "coverage": "coverage",
    "compliance": "coverage",
    "structure": "structure",
    "figure": "structure",
    "document": "structure",
    "terminology": "terminology",
    "wording": "style",
    "style": "style",
}
# Measured: of 654 findings of strong readers in ten unseen documents 645 were so, as others judged them (rounds 11 and
# 12, docs/review-quality.md); the lower bound of that share at 95 %.
CONFIDENCE = 0.974
BASIS = Text(
    ja="言語モデルの通読による。引用はすべて本文で確かめ、反証の問いにも残った（測定では 654 件中 645 件が"
    "そのとおりだった。割合の下限）",
    en="a language model's reading; every quote was found in the document, and an attempt to refute it failed (645 of "
    "654 were so where that was measured; the lower bound of the share)",
)
DOUBTED = Text(
    ja="言語モデルの通読による。引用は本文で確かめた。反証の問いは疑いを示したが、"
    "それを示す本文の記述を挙げなかった: {reason}",
    en="a language model's reading; every quote was found in the document; an attempt to refute it raised a doubt and "
    "named no words of the document for it: {reason}",
)
BASIS_OF_CANDIDATE = Text(
    ja="言語モデルの通読による。引用は本文で確かめた",
    en="a language model's reading; every quote was found in the document",
)


# Where a line or cell ends; one row of a workbook may hold several defects.
BORDERS = ("\n", "|", "<br>")
# Messages about the same sentences with so large a share of common pairs of characters tell of one defect. In five
# documents with 250 proposals two defects told twice had 0.53 and 0.71, nine pairs of different ones at most 0.33.
ALIKE = 0.45
# What becomes of proposals that count, by what their test said.
COUNTING = {"stands": "confirmed", "doubted": "doubted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFinding:
    """A stored finding of the rules, or of a model that judged a check item by itself.

    ``missing`` are the things that it calls missing; ``rests_on`` names related documents; ``item`` is the code of its
    check item. ``is_overturned`` by words of the document, ``is_set_aside`` without.
    """

    pk: int
    rule_id: str
    severity: Severity
    spans: tuple[Span, ...]
    missing: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    is_overturned: bool = False
    is_set_aside: bool = False
    item: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A proposal as it is stored under a check item: as a finding that counts, or as a candidate with the reason."""

    item: str
    draft: FindingDraft
    decision: str
    reason: str
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What is stored of a reading, and what it says of the rules' findings (their keys)."""

    kept: tuple[Kept, ...]
    confirmed: dict[int, str]


def distinct(
    proposals: Sequence[Proposal], subject: Subject, *, known: Sequence[Proposal] = ()
) -> tuple[Proposal, ...]:
    """Leave out what is ``known`` or was proposed in like words about the same sentences; the most severe one stays.

    The order of an answer, and of the answers, changes nothing.
    """
    ordered = sorted(
        proposals, key=lambda one: (one.severity.rank, one.quotes[0].start, key_of(one, subject), one.message)
    )
    kept = list(known)
    counted = Counter(key_of(replace(one, nth=1), subject) for one in known)
    for proposal in ordered:
        if not any(_is_same_defect(proposal, other, subject) for other in kept):
            key = key_of(proposal, subject)
            counted[key] += 1
            kept.append(replace(proposal, nth=counted[key]))
    return tuple(kept[len(known) :])


def _is_same_defect(one: Proposal, other: Proposal, subject: Subject) -> bool:
    """Whether two proposals say in like words something of the same sentences, under whatever category and kind."""
    first, second = ([_sentence(quote, subject) for quote in proposal.quotes] for proposal in (one, other))
    fewer, more = sorted((first, second), key=len)
    return all(any(_touch(a, b) for b in more) for a in fewer) and _likeness(one.message, other.message) >= ALIKE


def _likeness(one: str, other: str) -> float:
    """How many of the shorter text's pairs of characters the other has, 0 to 1."""
    fewer, more = sorted(map(pairs_of, (one, other)), key=len)
    return len(fewer & more) / (len(fewer) or 1)


def _sentence(quote: Span, subject: Subject) -> Span:
    """The sentences that a quote stands in; in a table those of its cell, or of a line of it."""
    start, end = sentences_around(subject.text_of(quote), quote.start, quote.end, borders=BORDERS)
    return Span(start=start, end=end, document=quote.document)


def _touch(one: Span, other: Span) -> bool:
    return one.document == other.document and one.start < other.end and other.start < one.end


def key_of(proposal: Proposal, subject: Subject) -> str:
    """Name a proposal by the sentences that it quotes: the same however the model cuts or words them.

    Of several defects on the same sentences the second and further ones are numbered.
    """
    sentences = sorted(
        f"{quote.document}:{fold_quote(subject.text_of(quote)[span.start : span.end])}"
        for quote in proposal.quotes
        for span in (_sentence(quote, subject),)
    )
    nth = [str(proposal.nth)] * (proposal.nth > 1)
    return "|".join(
        [proposal.category, "missing" if proposal.kind == "missing" else "quote", *dict.fromkeys(sentences), *nth]
    )


def merge(
    tested: Sequence[Examined], rules: Sequence[RuleFinding], subject: Subject, *, limit: int, least: Severity
) -> Merged:
    """Decide what counts: what stands, no rule has found, and is among the worst ``limit`` of its category.

    A rule's finding that was set aside, without a word of the document, keeps no proposal from counting.
    """
    standing = [rule for rule in rules if not rule.is_set_aside]
    kept: list[Kept] = []
    confirmed: dict[int, str] = {}
    counted: Counter[str] = Counter()
    for one in sorted(tested, key=lambda each: _order(each, subject)):
        proposal = one.proposal
        known = next((rule for rule in standing if is_same_matter(proposal, rule, subject)), None)
        if one.stands and known is not None and not known.is_overturned:
            # who may read the rule's finding may not read all that the proposal rests on
            is_open = set(proposal.rests_on) <= set(known.rests_on)
            confirmed.setdefault(known.pk, proposal.message if is_open else "")
            continue
        decision = one.decision
        if one.stands and known is not None:
            decision = "unrefuted"  # a second opinion overturned it: people decide
        elif one.stands:
            is_severe = proposal.severity.rank <= least.rank
            has_room = is_severe and counted[proposal.category] < limit
            decision = COUNTING[one.decision] if has_room else "left_over"
            counted[proposal.category] += has_room
        counts = decision in COUNTING.values()
        draft = _draft(proposal, subject, decision=decision, reason=one.reason)
        kept.append(Kept(item=proposal.item, draft=draft, decision=decision, reason=one.reason, counts=counts))
    return Merged(kept=tuple(kept), confirmed=confirmed)


def _order(one: Examined, subject: Subject) -> tuple[bool, int, int, str]:
    quote = one.proposal.quotes[0]
    return (not one.stands, one.proposal.severity.rank, quote.start, key_of(one.proposal, subject))


def is_same_matter(proposal: Proposal, rule: RuleFinding, subject: Subject) -> bool:
    """Return whether a rule has found it, as grave or graver: the topic that both call missing, or, where neither names
    what is missing, a finding on the sentences that it quotes.

    Of a topic that is treated after all a proposal may name what is left out: it is the same only where it calls the
    topic itself missing. What a model found when it judged a check item by itself is the same where it is of that item.
    """
    if rule.missing and rule.is_overturned:
        return proposal.topic in rule.missing
    if rule.severity.rank > proposal.severity.rank:
        return False
    if proposal.kind == "missing" and rule.missing:
        return proposal.topic in rule.missing
    own = [_sentence(quote, subject) for quote in proposal.quotes]
    touched = [any(_touch(sentence, span) for span in rule.spans) for sentence in own]
    if rule.rule_id == JUDGED_BY_MODEL:
        return any(touched) and proposal.item == rule.item
    if proposal.kind == "contradiction":
        return all(touched) and len({_first(rule.spans, sentence) for sentence in own}) > 1
    category = CATEGORY_OF.get(rule.rule_id.partition(".")[0], "")
    return any(touched) and category == proposal.category


def _first(spans: Sequence[Span], sentence: Span) -> Span | None:
    return next((span for span in spans if _touch(sentence, span)), None)


def _basis(decision: str, reason: str) -> Text:
    """How a finding came to be; a doubt is told with it, since it counts nevertheless."""
    if decision == "doubted":
        return Text(ja=DOUBTED.ja.format(reason=reason), en=DOUBTED.en.format(reason=reason))
    return BASIS if decision == "confirmed" else BASIS_OF_CANDIDATE


def _draft(proposal: Proposal, subject: Subject, *, decision: str, reason: str) -> FindingDraft:
    own = sorted((one for one in proposal.quotes if not one.document), key=lambda one: one.start)
    return FindingDraft(
        rule_id=JUDGED_BY_MODEL,
        severity=proposal.severity,
        message=Text(ja=proposal.message, en=proposal.message),  # a model writes in one language
        key=f"sweep|{key_of(proposal, subject)}",
        evidence=(*own, *(one for one in proposal.quotes if one.document)),
        data={
            "kind": proposal.kind,
            "category": proposal.category,
            **({"item": proposal.topic} if proposal.topic else {}),
        },
        confidence=CONFIDENCE if decision == "confirmed" else None,  # of the others nobody has measured it
        confidence_basis=_basis(decision, reason),
        rests_on=proposal.rests_on,
    )
