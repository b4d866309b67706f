"""Sentences as a model might say them, made by rule of questions and their answers: right and wrong ones.

A question becomes a statement by putting the answer where it asks: いつ開業しましたか, 1914年に開業しました.
The wrong one has in its place another value of the quoted sentence. Nothing is searched: each quotes the sentence that
answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.answering.halves import Half, questions_of
from benchmarks.retrieval.question_sets import Paragraph, Question, QuestionSet
from knowledge.answering.attribution import says_it_of_the_same
from knowledge.answering.quantities import in_digits, values_in
from knowledge.answering.sentences import PlacedSentence, sentences_of
from knowledge.answering.support import has_facts_of, has_words_of, says_no_more_than
from knowledge.text.folding import fold_terms
from knowledge.types.search import Hit

_ASKS_JA = re.compile(
    r"(?:西暦)?何年(?:何月)?(?:何日)?|何月何日|いつ|誰|だれ|どこ|いくら"
    r"|何(?P<unit>[人名個回台円歳年日分秒か月%ヶ]{1,2})|何(?![かも])"
)
_END_JA = re.compile(r"(?:でしょう|のです|なのです|なの)?か?[。?？]*\Z")
_ASKS_EN = (
    (
        re.compile(
            r"(?:who|what|which \w+|how many \w+|how much \w+)\s+"
            r"(?!(?:did|do|does|is|are|was|were|has|have|will|can)\b)(?P<rest>.+)",
            re.IGNORECASE,
        ),
        "{answer} {rest}",
    ),
    (
        re.compile(r"(?:what|who|where|when)\s+(?P<verb>is|are|was|were)\s+(?P<rest>.+)", re.IGNORECASE),
        "{answer} {verb} {rest}",
    ),
    (re.compile(r"when\s+did\s+(?P<rest>.+)", re.IGNORECASE), "{rest} in {answer}"),
)


LEGEND = """
dropped: not borne out by its quote; the quote: said instead, for other bounds, names or a no
of the same: the quote said instead, because a value or a party in it is not surely of the same thing"""


class Fate(StrEnum):
    """What the check after a model does with a sentence."""

    DROPPED = "dropped"
    TURNED = "turned"
    OF_ANOTHER = "of another"
    SAID = "said"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A sentence with the quote that it rests on, and whether the answer in it is the right one."""

    text: str
    quote: PlacedSentence
    question: str
    is_right: bool


def made_of(question_set: QuestionSet, half: Half, count: int) -> Iterator[Made]:
    """Make sentences of the questions of one half whose answer stands in one sentence of a gold passage."""
    passages = {one.id: one for one in question_set.corpus}
    for question in questions_of(question_set, half, count):
        for name in sorted(question.gold):
            yield from _made(question, passages[name], is_english=question_set.is_english)


def _made(question: Question, passage: Paragraph, *, is_english: bool) -> Iterator[Made]:
    for answer in sorted(question.answers):
        quotes = [one for one in sentences_of(_hit(passage)) if answer in one.text]
        said = _statement(question.text, answer, is_english=is_english)
        if len(quotes) != 1 or not said:
            continue
        yield Made(text=said, quote=quotes[0], question=question.text, is_right=True)
        for other in _neighbours(answer, quotes[0].text):
            text = _statement(question.text, other, is_english=is_english)
            yield Made(text=text, quote=quotes[0], question=question.text, is_right=False)
        return


def _hit(passage: Paragraph) -> Hit:
    return Hit(
        chunk_id=passage.id, document_id="", document_path="", title=passage.title, content=passage.text, score=None,
        chunk_index=0, section_path=(), page=None, cell=None, start_offset=0, end_offset=len(passage.text),
    )  # fmt: skip


def _statement(question: str, answer: str, *, is_english: bool) -> str:
    if is_english:
        asked = question.strip(" ?.")
        found = next(((form, m) for pattern, form in _ASKS_EN if (m := pattern.fullmatch(asked))), None)
        return found[0].format(answer=answer, **found[1].groupdict()) + "." if found else ""
    asks = list(_ASKS_JA.finditer(question))
    if len(asks) != 1:
        return ""
    before, behind = question[: asks[0].start()], _END_JA.sub("", question[asks[0].end() :])
    unit = asks[0]["unit"] or ""
    return f"{before}{answer}{'' if answer.endswith(unit) else unit}{behind}。"


def _neighbours(answer: str, quote: str) -> Iterator[str]:
    """Another value of the answer's kind in the quoted sentence."""
    folded = in_digits(fold_terms(quote))
    own = values_in(in_digits(fold_terms(answer)))
    kinds, names = {one.kind for one in own}, frozenset().union(*(one.names for one in own))
    others = [one for one in values_in(folded) if one.kind in kinds and names.isdisjoint(one.names)]
    yield from list(dict.fromkeys(folded[one.start : one.end] for one in others))[:1]


def run(sets: Sequence[QuestionSet], half: Half, count: int) -> None:
    """Print a line for the right sentences of each set, and one for those with a neighbour's value."""
    print(f"{'':30}{'sentences':>10}{'dropped':>9}{'the quote':>11}{'of the same':>13}{'said':>6}")
    for one in sets:
        found = measure(list(made_of(one, half, count)))
        for is_right in (True, False):
            own = {fate: found[is_right, fate] for fate in Fate}
            name = one.name[:29] if is_right else "  a neighbour's value"
            print(
                f"{name:30}{sum(own.values()):>10}{own[Fate.DROPPED]:>9}{own[Fate.TURNED]:>11}"
                f"{own[Fate.OF_ANOTHER]:>13}{own[Fate.SAID]:>6}",
                flush=True,
            )
    print(LEGEND)


def measure(made: Sequence[Made]) -> Counter[tuple[bool, Fate]]:
    """Count what the check does with right and wrong sentences."""
    return Counter((one.is_right, _fate(one)) for one in made)


def _fate(one: Made) -> Fate:
    if not has_facts_of(one.text, [one.quote]) or not has_words_of(one.text, [one.quote]):
        return Fate.DROPPED
    if not says_no_more_than(one.text, [one.quote]):
        return Fate.TURNED
    return Fate.SAID if says_it_of_the_same(one.text, [one.quote], one.question) else Fate.OF_ANOTHER
