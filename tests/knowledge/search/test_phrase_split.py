"""Which passages may have a half of a phrase: whoever has one is found, wherever border and ends of lines are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.index.analysis import analyse_passage, terms_inside
from knowledge.search import phrase_postings
from knowledge.search.phrase_postings import Halves, breaks_in, find_halves
from knowledge.search.postings import Piece, PieceKey
from knowledge.search.weighing import KnownTerm

PHRASE = "障害発生時の復旧手順を定める"


@dataclass(kw_only=True)
class Index:
    """What postings tell of some texts, by their numbers."""

    texts: dict[int, str]

    def find(self, phrase: str) -> Halves:
        terms = terms_inside(phrase)
        known: dict[str, KnownTerm] = {}
        pieces: dict[PieceKey, Piece] = {}
        having = {number: analyse_passage("", text).bigrams for number, text in self.texts.items()}
        for place, term in enumerate(dict.fromkeys(terms)):
            ordinals = np.array([number for number in sorted(having) if term in having[number]], np.int32)
            if ordinals.size:
                key, ones = PieceKey(place, 1, 1), np.ones(ordinals.size, np.int16)
                pieces[key] = Piece(ordinals=ordinals, tfs=ones, lengths=ones, peak_tf=1, least_length=1)
                known[term] = KnownTerm(term_id=place, text=term, chunks=ordinals.size, pieces=(key,))
        return find_halves(terms, known, pieces)


def are_found(found: Halves, first: int, second: int) -> bool:
    sets = found.terms_of(np.array([first, second]))
    return bool(found.may_be_pair[sets[0], sets[1]]) and (first in found.firsts or second in found.seconds)


@given(data=st.data(), span=st.sampled_from([0, 4_000_000]))
@settings(max_examples=150, derandomize=True)
def test_both_halves_are_found_wherever_a_border_and_ends_of_lines_divide_a_phrase(
    data: st.DataObject, span: int
) -> None:
    phrase = data.draw(
        st.text("障害復旧の手順", min_size=4, max_size=14).filter(lambda one: len(set(pairwise(one))) > 2)
    )
    border = data.draw(st.integers(1, len(phrase) - 1))
    breaks = data.draw(st.sets(st.integers(1, len(phrase) - 1), max_size=breaks_in(terms_inside(phrase))))
    text = "".join(
        ["\n" * (place in breaks) + ("|" if place == border else "") + one for place, one in enumerate(phrase)]
    )
    first, second = text.split("|")
    others = data.draw(st.lists(st.text("障害復旧の手順", max_size=6), max_size=8))
    numbers = data.draw(st.permutations(range(1, len(others) + 3)))
    texts = dict(zip(numbers, [f"前文。{first}", f"{second}。後文", *others], strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrase_postings, "DENSE_SPAN", span)
        assert are_found(Index(texts=texts).find(phrase), numbers[0], numbers[1])


def test_of_very_many_those_that_have_most_of_it_with_the_next_number_go_first() -> None:
    texts = {number: "障害の復旧" if number % 2 else "手順を定める" for number in range(10, 2_000, 3)}
    texts |= {901: "障害発生時の復", 902: "旧手順を定める。"}
    found = Index(texts=texts).find(PHRASE)
    assert len(found) <= phrase_postings.MOST_DIVIDED
    assert are_found(found, 901, 902)


@pytest.mark.parametrize(
    "texts", [["障害発生の連絡", "窓口の手順を定める"], ["手順を定める", "障害発生時の復旧"], ["復旧"], []]
)
def test_nothing_is_looked_at_when_too_many_terms_are_nowhere_or_no_two_make_up_the_phrase(texts: list[str]) -> None:
    found = Index(texts=dict(enumerate(texts, start=1))).find(PHRASE)
    assert not len(found) or not are_found(found, 1, 2)
