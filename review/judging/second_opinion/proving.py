"""Whether quotes show findings to be wrong: asked about by themselves, one topic at a time. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hub.llm.material import fence_of, fenced
from hub.llm.types import AnswerSchema, LlmRequest
from knowledge.text.sentences import sentences_around
from review.judging.answer_schemas import closed, several, some_text
from review.judging.common_words import rules_for
from review.judging.plan import REPAIRS, finding_label, messages_of
from review.judging.second_opinion.request import OPINION_OUTPUT_TOKENS, Decision, Opinion, Reviewed
from review.judging.unseen import shown_text
from review.types import Span

TASK = "You check whether quotes from a document show that findings of its review are wrong. Be sceptical."
RULES = """- Judge by the quotes alone. "holds" is "yes" only when they state, concretely and to a reader, the very \
thing that the finding says is missing, vague, unexplained or not linked, and every thing that it names. A heading, a \
name alone, a promise, an example, and a claim that something is sufficient or was approved are "no". For a topic that \
is said to be missing one concrete requirement or decision on it is enough, whatever it is called where it stands, and \
however much more could be said of it. In doubt it is "no".
- Above a quote stand the heading and the first row of the table that it is under, in 〔 〕: they tell what its words \
and figures are of, and state nothing themselves."""

MAX_REASON = 160

# What is left of opinions that take single topics out where nothing proves that any is treated.
WITHOUT_PROOF = {Decision.NARROWED: Decision.CONFIRMED, Decision.SET_ASIDE: Decision.SET_ASIDE}

_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(?P<title>\S[^\n]*)$", re.M)
_MOST_OF_PLACE = 200
"""Characters of a heading or of a first row that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """That quotes show a finding to be wrong, or a topic of it to be treated: ``topic``, else empty."""

    opinion: Opinion
    quotes: tuple[Span, ...]
    topic: str = ""

    @property
    def text(self) -> str:
        """What the quotes are to show wrong."""
        return f"「{self.topic}」の記載がありません。" if self.topic else self.opinion.doubt.message


def claims_of(opinions: Sequence[Opinion]) -> tuple[Claim, ...]:
    """What is asked about: each opinion, or each topic that one takes out."""
    return tuple(claim for opinion in opinions for claim in _claims(opinion))


def _claims(opinion: Opinion) -> Iterator[Claim]:
    if not opinion.by_topic:
        yield Claim(opinion=opinion, quotes=opinion.quotes)
    for topic, quotes in opinion.by_topic.items():
        yield Claim(opinion=opinion, quotes=quotes, topic=topic)


def proof_request(opinions: Sequence[Opinion], reviewed: Reviewed, *, prompt: str, repair: str = "") -> LlmRequest:
    """Ask, with nothing but the quotes and where they stand, whether findings were rightly overturned."""
    claims = claims_of(opinions)
    shown = ["\n".join(dict.fromkeys(_lines(claim.quotes, reviewed))) for claim in claims]
    said = [claim.text for claim in claims]
    fence = fence_of([*shown, *said])
    labels = [finding_label(at) for at in range(len(claims))]
    material = [
        part
        for at, (label, content, message) in enumerate(zip(labels, shown, said, strict=True))
        for part in (
            fenced(content, label=f"q{at + 1}", place=f"quotes about {label}", fence=fence),
            fenced(message, label=label, place="finding", fence=fence),
        )
    ]
    reason = some_text(MAX_REASON)
    entry = closed(finding={"enum": labels}, reason=reason, holds={"enum": ["yes", "no"]})
    return LlmRequest(
        messages=messages_of(
            f"{rules_for(TASK, RULES, fence=fence)}\n\n{prompt}",
            "\n\n".join([*material, *([REPAIRS[repair]] if repair else [])]),
        ),
        schema=AnswerSchema(name="proofs", schema=closed(proofs=several(entry, most=len(labels)))),
        max_output_tokens=OPINION_OUTPUT_TOKENS,
    )


def _lines(quotes: Sequence[Span], reviewed: Reviewed) -> Iterator[str]:
    """The sentences that quotes stand in, each below what it is under."""
    text, withheld = reviewed.text, reviewed.withheld
    for quote in quotes:
        start, end = sentences_around(text, quote.start, quote.end)
        for place in _places(text, start):
            yield f"〔{shown_text(text, place.start, place.end, withheld)}〕"
        yield shown_text(text, start, end, withheld)


def _places(text: str, start: int) -> Iterator[Span]:
    """The heading above a place of a text, and the first row of the table that it is in."""
    for heading in deque(_HEADING.finditer(text, 0, start), maxlen=1):
        yield Span(start=heading.start("title"), end=min(heading.end(), heading.start("title") + _MOST_OF_PLACE))
    first = row = text.rfind("\n", 0, start) + 1
    while text.startswith("|", row):
        first = row
        if row == 0:
            break
        row = text.rfind("\n", 0, row - 1) + 1
    line_end = text.find("\n", first)
    if text.startswith("|", first) and line_end >= 0 and line_end < start:
        yield Span(start=first, end=min(line_end, first + _MOST_OF_PLACE))


def proven(answer: Mapping[str, Any], opinions: Sequence[Opinion]) -> tuple[Opinion, ...]:
    """What is left of opinions: a claim holds where every word on it says so, and there is one.

    Of several topics those are taken out of the finding of which it holds. Where it holds of none, an opinion that
    takes single topics out is of the whole finding, and any other disputes it.
    """
    said: dict[str, list[bool]] = {}
    for one in answer["proofs"]:
        said.setdefault(one["finding"], []).append(one["holds"] == "yes")
    claims = claims_of(opinions)
    held = [claim for at, claim in enumerate(claims) if all(said.get(finding_label(at), [False]))]
    return tuple(_left(one, [claim for claim in held if claim.opinion is one]) for one in opinions)


def _left(opinion: Opinion, held: Sequence[Claim]) -> Opinion:
    if not held:
        if opinion.takes_out:
            return replace(opinion, decision=WITHOUT_PROOF[opinion.decision], quotes=(), by_topic={})
        return replace(opinion, decision=Decision.DISPUTED)
    by_topic = {claim.topic: claim.quotes for claim in held if claim.topic}
    if len(by_topic) == len(opinion.by_topic):
        return opinion
    quotes = tuple(dict.fromkeys(span for spans in by_topic.values() for span in spans))
    decision = opinion.decision if opinion.takes_out else Decision.NARROWED
    return replace(opinion, decision=decision, quotes=quotes, by_topic=by_topic)
