"""What a model's answer says, and how much of it holds in the text. Pure; never turns a doubt into a pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hub.core.texts import Text
from hub.llm.material import label_of
from knowledge.text.quoting import fold_quote, place_of_quote
from review.judging.engine import BLOCKING
from review.judging.plan import labelled
from review.judging.types import CheckTask, Passage, Reading, Supplement
from review.types import JUDGED_BY_MODEL, FindingDraft, Severity, Span, SuggestionDraft, Verdict

NOT_APPLICABLE = "not_applicable"
UNDECIDED = frozenset({"cannot_tell", NOT_APPLICABLE})


@dataclass(slots=True)
class _Quotes:
    """Looks quotes up in the passages that were shown, and counts."""

    text: str
    passages: Mapping[str, Passage]
    texts: Mapping[str, str] = field(default_factory=dict)
    given: int = 0
    fabricated: int = 0

    def locate(self, label: str, quote: str) -> Span | None:
        self.given += 1
        named = self.passages[label]
        span = find_in_passages(self.text, quote, self.passages.values(), first=named, texts=self.texts)
        self.fabricated += span is None
        return span

    @property
    def share(self) -> float:
        return 1 - self.fabricated / self.given if self.given else 1.0


@dataclass(slots=True)
class _Tally:
    """The findings by what they rest on."""

    verified: list[Severity] = field(default_factory=list)
    unverified: list[Severity] = field(default_factory=list)


def read_judgement(
    task: CheckTask,
    answer: Mapping[str, Any],
    text: str,
    passages: Sequence[Passage],
    *,
    supplements: Sequence[Supplement] = (),
    texts: Mapping[str, str] | None = None,
) -> Reading:
    """Hold an answer (of the schema that was asked for) against the passages, and conclude the verdict from it.

    A pass needs a quote that stands in the document's own passages, and none that stands nowhere. A fail needs a
    blocking finding that is verified, or that says what is missing. Findings whose quote is not there are kept as
    unverified; what is missing may have the words that state a part of it, and rests on none. What the model was shown
    of related documents (their ``texts`` by id) every finding rests on.
    """
    own = {label_of(index): one for index, one in enumerate(passages)}
    related = {label: one.passage for label, one in labelled(supplements).items() if one.passage is not None}
    quotes = _Quotes(text=text, passages={**own, **related}, texts=texts or {})
    grounds = [quotes.locate(ground["passage"], ground["quote"]) for ground in answer["grounds"]]
    ungrounded = grounds.count(None)
    located = [
        (proposed, [quotes.locate(said["passage"], said["quote"]) for said in proposed["quotes"]])
        for proposed in answer["findings"]
    ]
    tally = _Tally()
    for proposed, spans in located:
        is_sure = proposed["kind"] == "missing" or _is_found(spans)
        (tally.verified if is_sure else tally.unverified).append(Severity(proposed["severity"]))
    seen = sum(one.end - one.start for one in passages) / max(len(text), 1)
    score = None if answer["verdict"] in UNDECIDED else answer["score"] / 100
    has_grounds = not ungrounded and any(span is not None and not span.document for span in grounds)
    verdict, complaint = _conclude(answer["verdict"], tally, has_grounds=has_grounds)
    if verdict is Verdict.PASS and task.is_below(score):
        verdict = Verdict.WARNING
    return Reading(
        verdict=verdict,
        score=score,
        reason=answer["reason"].strip(),
        grounds=tuple(span for span in grounds if span is not None),
        findings=tuple(
            _draft(proposed, spans, quotes, seen=min(seen, 1.0), passages=passages, rests_on=documents_of(supplements))
            for proposed, spans in located
        ),
        fabricated=quotes.fabricated,
        complaint=complaint,
        is_applicable=answer["verdict"] != NOT_APPLICABLE,
    )


def documents_of(supplements: Sequence[Supplement]) -> tuple[str, ...]:
    """The ids of the related documents that a model was shown something of."""
    return tuple(sorted({document for one in supplements for document in one.documents}))


def _conclude(said: str, tally: _Tally, *, has_grounds: bool) -> tuple[Verdict, str]:
    """The verdict, and the code of what is wrong with the answer (then the verdict is error)."""
    blocking = BLOCKING & {*tally.verified, *tally.unverified}
    if said == NOT_APPLICABLE and (tally.verified or tally.unverified):
        return Verdict.ERROR, "contradiction"
    if said in UNDECIDED:
        return Verdict.SKIPPED, ""
    if said == "warning":
        is_warned = not blocking and tally.verified
        return (Verdict.WARNING, "") if is_warned else (Verdict.ERROR, "contradiction")
    if said == "pass":
        if blocking:
            return Verdict.ERROR, "contradiction"
        if not has_grounds or tally.unverified:
            return Verdict.ERROR, "no_grounds"
        return (Verdict.WARNING if Severity.MINOR in tally.verified else Verdict.PASS), ""
    if BLOCKING & set(tally.verified):
        return Verdict.FAIL, ""
    if tally.unverified:
        return Verdict.ERROR, "only_fabricated"
    return Verdict.ERROR, "contradiction"


def _is_found(spans: Sequence[Span | None]) -> bool:
    """Whether there is a quote, and each of them stands somewhere."""
    return bool(spans) and None not in spans


def _draft(
    proposed: Mapping[str, Any],
    spans: Sequence[Span | None],
    quotes: _Quotes,
    *,
    seen: float,
    passages: Sequence[Passage],
    rests_on: tuple[str, ...],
) -> FindingDraft:
    is_missing = proposed["kind"] == "missing"
    message = proposed["message"].strip()
    said = [one["quote"] for one in proposed["quotes"]]
    found = _is_found(spans)
    return FindingDraft(
        rule_id=JUDGED_BY_MODEL,
        severity=Severity(proposed["severity"]),
        message=Text(ja=message, en=message),  # a model writes in one language
        key=f"missing|{fold_quote(message)}" if is_missing else f"quote|{'|'.join(sorted(map(fold_quote, said)))}",
        evidence=tuple(span for span in spans if span is not None),
        claimed=tuple(quote for quote, span in zip(said, spans, strict=True) if span is None),
        searched=_searched(passages) if is_missing else (),
        data={"kind": proposed["kind"]},
        confidence=round(seen if is_missing else (quotes.share if found else 0.0), 3),
        confidence_basis=_basis(is_missing=is_missing, is_found=found),
        suggestion=_suggestion(proposed),
        rests_on=rests_on,
    )


def _basis(*, is_missing: bool, is_found: bool) -> Text:
    if is_missing:
        return Text(ja="言語モデルが見た本文の割合", en="share of the document that the language model saw")
    if not is_found:
        return Text(ja="引用が本文にない（未検証）", en="the quote does not stand in the document (unverified)")
    return Text(
        ja="言語モデルの引用のうち本文で確かめられた割合",
        en="share of the language model's quotes that stand in the document",
    )


def _searched(passages: Sequence[Passage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" > ".join(one.section_path) for one in passages if one.section_path))


def _suggestion(proposed: Mapping[str, Any]) -> SuggestionDraft | None:
    content = proposed["suggestion"].strip()
    if not content:
        return None
    return SuggestionDraft(
        content=Text(ja=content, en=content),
        rationale=Text(ja="言語モデルの提案", en="suggested by the language model"),
    )


def find_quote(text: str, quote: str, *, start: int = 0, end: int | None = None) -> Span | None:
    """Locate a quote within ``text[start:end]`` as `place_of_quote` does; None when it is not there."""
    place = place_of_quote(text, quote, start=start, end=end)
    return Span(start=place[0], end=place[1]) if place else None


def find_in_passages(
    text: str,
    quote: str,
    passages: Iterable[Passage],
    *,
    first: Passage | None = None,
    texts: Mapping[str, str] | None = None,
) -> Span | None:
    """Locate a quote in the ``first`` passage, else in the others: a wrong id does not make a true quote false.

    ``texts`` are those of related documents by their ids; ``text`` is that of the other passages.
    """
    for passage in (*([first] if first else []), *passages):
        own = (texts or {}).get(passage.document, "") if passage.document else text
        if span := find_quote(own, quote, start=passage.start, end=passage.end):
            return replace(span, document=passage.document)
    return None
