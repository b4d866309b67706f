"""Exact phrases: every way to quote, whatever the letters' case, and across the ends of lines."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hub.access.principals import local_operator
from hub.core.errors import InvalidInput
from knowledge.index.postings import write_postings
from knowledge.search import phrase_postings, phrases, scope
from knowledge.search.fusion import GOOD_EVIDENCE
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


@pytest.mark.parametrize("is_numbered_in_a_row", [True, False])
def test_of_many_that_have_parts_of_a_phrase_the_neighbours_that_share_it_are_found(
    is_numbered_in_a_row: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phrase_postings, "MOST_DIVIDED", 3)
    library = Library()
    library.add("用語.md", [f"利用者登録の申請{n}" if n % 2 else f"窓口で受け付ける日{n}" for n in range(20)])
    pair = library.add("手続.md", ["利用者登録の申請書は、総務課の窓", "口で受け付けるものとする。"])
    if not is_numbered_in_a_row:
        write_postings(pair[:1], title="手続.md")
    result = ask("「申請書は、総務課の窓口で受け付ける」")
    assert contents(result) == {chunk.content for chunk in pair}
    assert "phrase_divided" in {notice.code for notice in result.notices}


@pytest.mark.parametrize(
    ("question", "reads_texts"),
    [("「量子計算機の冷却装置」", False), ("「延長はその窓口に」", False), ("「期間内に一度だけ貸出」", True)],
)
def test_where_postings_show_that_no_passage_has_a_phrase_no_text_is_read(question: str, reads_texts: bool) -> None:
    ask(question)
    with CaptureQueriesContext(connection) as captured:
        result = ask(question)
    assert {notice.code for notice in result.notices} >= {"phrase_not_found"}
    assert any("strpos" in (query["sql"] or "") for query in captured) == reads_texts


def test_a_phrase_of_one_or_two_characters_is_found_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    passages = [f"第{n}条　規程の{'〒' if n == 7 else ''}改正は、審査会の議を経る。" for n in range(12)]
    Library().add("規程.md", passages)
    monkeypatch.setattr(scope, "SMALL", 3)
    monkeypatch.setattr(phrases, "READ_AT_ONCE", 4)
    assert contents(ask("「〒」規程の改正")) == {passages[7]}
    assert len(contents(ask("「審査」会"))) > 4
    assert not contents(ask("「査審」会"))
