"""Whether what a sentence says of somebody or something is said of the same in the places that it quotes. Pure.

In 初期費用は30万円、運用費用は50万円 both amounts stand, and each is of one cost. What a sentence says of a value or a
party is compared with what the quoted clauses say of it, and of the others of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from knowledge.answering.clauses import Clause, japanese_clauses, words_in
from knowledge.answering.english_clauses import english_clauses
from knowledge.answering.quantities import TIMES, Value, in_digits, unit_in, values_in
from knowledge.answering.sentences import PlacedSentence, sentences_at
from knowledge.answering.subjects import key_of
from knowledge.index.morphemes import JAPANESE, question_words
from knowledge.text.folding import fold_terms, normalise
from knowledge.text.tables import cells_of

_RANGE = re.compile(r"\s*(?:から|より|[~〜–-]|to|until|and)?\s*")
_COMMA = re.compile("[、,]")
_OF_VALUE = re.compile(r"の[^\W\d\u3041-\u3096]+")
_IN_BRACKETS = re.compile(r" ?\([^()]*")
_LISTED = re.compile(r"\W{0,4}(?:と|や|か|及び|または|又は|もしくは|若しくは|、|,|・)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """A value or a party: its unit or role, its names, the words that are said of it, and all of its clause."""

    kind: str
    names: frozenset[str]
    words: frozenset[str]
    clause: Clause
    is_party: bool = False

    def is_same(self, other: Attribution) -> bool:
        return self.kind == other.kind and self.has_name_of(other)

    def has_name_of(self, other: Attribution) -> bool:
        return self.names <= other.names or other.names <= self.names


def says_it_of_the_same(sentence: str, quotes: Sequence[PlacedSentence], question: str) -> bool:
    """Return whether each value and party of a sentence has in the quotes the words that the sentence says of it.

    Where the sentence does not tell it from others of its kind, the question may. False is no proof: it says that
    words can't tell.
    """
    claims = list(_of_text(sentence))
    stated = [one for quote in quotes for part in sentences_at(quote) for one in _of_place(part)]
    asked = frozenset(question_words(fold_terms(question)))
    return all(_is_borne_out(one, claims, stated, asked) for one in claims)


def _is_borne_out(
    claim: Attribution, claims: Sequence[Attribution], stated: Sequence[Attribution], asked: frozenset[str]
) -> bool:
    others = [one for one in stated if one.kind == claim.kind and not claim.is_same(one)]
    same = [one for one in stated if claim.is_same(one)]
    if not same and claim.is_party:
        if _is_turned(claim, claims, others):
            return False
        same = [one for one in stated if one.is_party and one.has_name_of(claim)]
    if not same or not others:
        return True
    if claim.is_party:
        most = max(len(claim.words & one.words) for one in same)
        acts = claim.clause.acts & claim.words - frozenset().union(*(one.words for one in same))
        return not any(acts & other.words and len(claim.words & other.words) > most for other in others)
    elsewhere = frozenset().union(*(one.words for one in others))
    fitting = [one for one in same if not claim.words & elsewhere - one.words]
    of_kind = [one for one in claims if one.kind == claim.kind]
    return any(_distinguish(claim.words, one, others) for one in fitting) or (
        bool(fitting)
        and (
            _in_order(of_kind, [one for one in stated if one.kind == claim.kind])
            or any(not asked & elsewhere - one.words and _distinguish(asked, one, others) for one in fitting)
        )
    )


def _distinguish(words: frozenset[str], one: Attribution, others: Iterable[Attribution]) -> bool:
    """Return whether words are said of this one that are not said of any of the others."""
    return all(words & one.words - other.words for other in others)


def _in_order(claims: Sequence[Attribution], stated: Sequence[Attribution]) -> bool:
    """Return whether several values come in a sentence as they follow each other in a quote."""
    places = [[place for place, one in enumerate(stated) if claim.is_same(one)] for claim in claims]
    return len(claims) > 1 and all(
        any(after == before + 1 for before in first for after in second) for first, second in pairwise(places)
    )


def _is_turned(claim: Attribution, claims: Sequence[Attribution], others: Sequence[Attribution]) -> bool:
    """Return whether a party has in a quoted clause another role, and who has its role there has another one here."""
    here = dict.fromkeys(claim.clause.beside, "")
    here |= {one.names: one.kind for one in claims if one.is_party and one.clause is claim.clause}
    return any(
        here.get(one.names, claim.kind) != claim.kind
        and claim.names <= (words := words_in(one.clause.text))
        and claim.clause.acts & words
        for one in others
    )


def _of_place(place: PlacedSentence) -> Iterator[Attribution]:
    if place.text.startswith("|"):
        yield from _of_row(place.text, place.header)
    else:
        yield from _of_text(place.text.replace("\n", "" if JAPANESE.search(place.text) else " "))


def _of_row(row: str, header: str) -> Iterator[Attribution]:
    """Each cell says its value of the row's key in the words of its column, with the unit that this names."""
    cells, columns = cells_of(fold_terms(row)), cells_of(fold_terms(header)) if header else []
    key = words_in(key_of(cells))
    for place, cell in enumerate(cells):
        column = columns[place] if place < len(columns) else ""
        text = f"{cell}{unit_in(column)}" if cell.replace(",", "").isdecimal() else cell
        clause = Clause(text=text, parties=(), shared={*key, *words_in(column)})
        yield from _values(clause)


def _of_text(text: str) -> Iterator[Attribution]:
    clauses = japanese_clauses(fold_terms(text)) if JAPANESE.search(text) else english_clauses(normalise(text))
    for clause in clauses:
        yield from _values(clause)
        for party in [*clause.parties, *clause.lent]:
            words = clause.words - party.words
            yield Attribution(kind=party.role, names=party.words, words=words, clause=clause, is_party=True)


def _values(clause: Clause) -> Iterator[Attribution]:
    text = in_digits(fold_terms(clause.text))
    found = _once(values_in(text), text)
    for kind in dict.fromkeys(value.kind for value in found):
        of_kind = [value for value in found if value.kind == kind]
        for value, said in zip(of_kind, _said_of_each(text, of_kind), strict=True):
            yield Attribution(kind=kind, names=value.names, words=words_in(said) | clause.taken_over, clause=clause)


def _once(values: Sequence[Value], text: str) -> list[Value]:
    """Make one of a value and of what brackets right behind it say of it: 720年（養老4年）."""
    kept: list[Value] = []
    for value in values:
        if kept and kept[-1].kind == value.kind and _IN_BRACKETS.fullmatch(text[kept[-1].end : value.start]):
            first = kept.pop()
            kept.append(replace(first, names=first.names | value.names, end=value.end))
        else:
            kept.append(value)
    return kept


def _said_of_each(text: str, values: Sequence[Value]) -> Iterator[str]:
    """Part a clause between values of one kind: what is said stands before them, and in English behind a quantity.

    What stands behind the last one is said of all in a list, and both ends of a range have all.
    """
    between = [text[one.end : following.start] for one, following in pairwise(values)]
    if all(_RANGE.fullmatch(one) for one in between):
        yield from (f"{text[: one.start]} {text[one.end :]}" for one in values)
        return
    head, tail = text[: values[0].start], text[values[-1].end :]
    is_behind = not JAPANESE.search(text) and values[0].kind not in TIMES
    is_list = not is_behind and all(_LISTED.match(one) for one in between)
    cuts = [_cut(one, is_behind=is_behind) for one in between]
    before, behind = [head, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), tail]
    shared = (head if is_behind else "", tail if is_list else "")
    yield from (" ".join([*said, *shared]) for said in zip(before, behind, strict=True))


def _cut(between: str, *, is_behind: bool) -> tuple[str, str]:
    """Part the words between two values at a comma, or behind what の joins to the first: 85名の負傷のほうが16名."""
    if comma := _COMMA.search(between):
        return between[: comma.start()], between[comma.end() :]
    if of := _OF_VALUE.match(between):
        return of[0], between[of.end() :]
    return (between, "") if is_behind else ("", between)
