"""Exact phrases: every way to quote, whatever the letters' case, and across the ends of lines."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from hub.core.errors import InvalidInput
from knowledge.search.calibration import GOOD_EVIDENCE
from knowledge.search.hybrid import search
from knowledge.search.phrases import MAX_PHRASES, find_phrases
from knowledge.types import SearchMode, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
WRAPPED = "貸出期間は二週間とし、延長は\nその期間内に一度だけ受け付ける。"
SPACED = "稼働率は 99.5 % 以上とし、PostgreSQL 16.4 を使う。"
ENGLISH = "The reservation\nservers are restarted nightly."
CODED = "FR-001 予約は『一人』十件までとする。"
PASSAGES = (WRAPPED, SPACED, ENGLISH, CODED)


@pytest.fixture(autouse=True)
def library() -> None:
    Library().add("要件.md", PASSAGES)


def ask(text: str, mode: SearchMode = SearchMode.HYBRID) -> SearchResult:
    return search(local_operator(), SearchQuery(text=text, mode=mode))


def contents(result: SearchResult) -> set[str]:
    return {hit.content for hit in result.hits}


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("＂貸出期間＂と〝延長〟と«版»と‘章’", ("貸出期間", "延長", "版", "章")),
        ("'FR-001'の予約と ’節’", ("FR-001", "節")),
        ("「『貸出期間』」", ("貸出期間",)),
        ("「予約は「一人」十件」の「延長", ("予約は「一人」十件",)),
        ("users' rights and the library's rules", ()),
        ("don’t, it’s the readers’ own", ()),
        ('「」『 』""', ()),
    ],
)
def test_every_kind_of_quote_is_read_and_apostrophes_are_none(text: str, phrases: tuple[str, ...]) -> None:
    assert find_phrases(text) == phrases


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.VECTOR])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("「延長はその期間内に」", {WRAPPED}),
        ("「その期間内」", {WRAPPED}),
        ("「稼働率は99.5%以上」", {SPACED}),
        ("「postgresql　16.4」", {SPACED}),
        ("「PostgreSQL16.4」", set()),
        ('"Reservation  Servers"', {ENGLISH}),
        ('"reservationservers"', set()),
        ("「期間内に貸出」", set()),
    ],
)
def test_case_and_line_ends_do_not_hide_a_phrase_and_nothing_else_passes_for_it(
    question: str, expected: set[str], mode: SearchMode
) -> None:
    result = ask(question, mode)
    assert contents(result) == expected
    assert ("phrase_not_found" in {notice.code for notice in result.notices}) == (not expected)


@pytest.mark.parametrize("question", ["「FR-00」", "「%」"])
def test_what_is_quoted_and_found_is_evidence_even_if_it_is_a_sign_or_part_of_a_code(question: str) -> None:
    result = ask(question)
    assert contents(result) == {CODED if "FR" in question else SPACED}
    assert "code_not_found" not in {notice.code for notice in result.notices}


def test_a_code_beside_a_phrase_is_still_told_to_be_missing() -> None:
    result = ask("「予約は」 FR-999")
    assert "code_not_found" in {notice.code for notice in result.notices}
    assert (result.hits[0].score or 0) < GOOD_EVIDENCE


def test_more_phrases_than_anybody_quotes_are_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match=str(MAX_PHRASES)):
        ask("".join(f"「{chr(0x4E00 + n)}」" for n in range(MAX_PHRASES + 1)))
