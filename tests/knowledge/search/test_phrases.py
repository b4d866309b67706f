"""Exact phrases: every way to quote, whatever the letters' case, and across the ends of lines."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from hub.core.errors import InvalidInput
from knowledge.search.calibration import GOOD_EVIDENCE
from knowledge.search.hybrid import search
from knowledge.search.phrases import MAX_PHRASES, find_phrases
from knowledge.types.search import SearchMode, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library, Passage, person

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


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.VECTOR])
@pytest.mark.parametrize(
    "question",
    [
        "「利用者は返却期限を守らなければならない」",
        "「なければ\nならない。遅れた」",
        "「守らなければならない」と「遅れた」",
    ],
)
def test_a_phrase_over_the_border_of_two_passages_finds_both(question: str, mode: SearchMode) -> None:
    first, second = "第8条　利用者は返却期限を守らなけれ", "返却期限を守らなければならない。遅れたときは貸出を止める。"
    pieces = [Passage(text=first), Passage(text=second, overlap=len("返却期限を守らなけれ")), Passage(text="以上")]
    Library().add("規則.md", pieces)
    assert contents(ask(question, mode)) == {second} if "遅れた" in question else {first, second}


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.VECTOR])
@pytest.mark.parametrize(
    ("question", "is_found"),
    [
        ("「申請は窓口で受け付ける」", True),
        ("「窓口で受け付け」 申請", True),
        ("「窓口で受け付け」と「証明書」", True),
        ("「窓口で申請は」", False),
        ("「窓口で受け付け」と「罰金」", False),
    ],
)
def test_a_phrase_that_one_passage_begins_and_the_next_one_ends_finds_both(
    question: str, is_found: bool, mode: SearchMode
) -> None:
    halves = ("証明書の交付の申請は窓", "口で受け付ける。手数料は無料とする。")
    Library().add("手続.md", ["口で言う。", *halves, "申請書は窓"])
    result = ask(question, mode)
    assert contents(result) == (set(halves) if is_found else set())
    assert ("phrase_divided" in {notice.code for notice in result.notices}) == is_found


def test_a_phrase_over_a_border_is_never_put_together_from_what_one_may_not_see() -> None:
    library = Library(slug="手続")
    library.add("手続.md", ["証明書の交付の申請は窓", "口で受け付ける。"])
    outsider = person("外部")
    hidden = search(outsider, SearchQuery(text="「申請は窓口で受け付ける」"))
    assert not hidden.hits
    assert "phrase_divided" not in {notice.code for notice in hidden.notices}
