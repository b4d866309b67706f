"""A day is found in every calendar and spelling, by every other one."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.backends.analysis import analyse_passage, analyse_query, fold
from knowledge.backends.dates import find_dates
from knowledge.search.calibration import GOOD_EVIDENCE
from knowledge.search.highlights import highlight_spans, query_marks
from knowledge.search.hybrid import search
from knowledge.types.search import SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library

SPELLINGS = (
    *("令和8年4月1日", "Ｒ８．４．１", "2026年4月1日", "2026-04-01", "２０２６/4/1", "令和八年四月一日"),
    *("令和8年（2026年）4月1日", "R08/04/01", "令8.4.1", "April 1, 2026", "1st of April 2026"),
)
OTHER_DAYS = ("令和8年4月10日", "2026-05-01", "R7.4.1", "2026/4/2", "平成8年4月1日")


@pytest.mark.parametrize("written", SPELLINGS)
def test_every_spelling_of_a_day_is_one_term_of_both_fields(written: str) -> None:
    terms = analyse_passage("", f"この規程は{written}から施行する。")
    for field in (terms.words, terms.bigrams):
        assert [term for term in field if term.startswith("date:")] == ["date:2026-04-01", "date:2026-04", "date:2026"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("令和元年五月から平成31年3月", ["date:2019-05", "date:2019-03"]),
        ("令和8年度と2027年", ["date:2026", "date:2027"]),
        ("2026/04と2026-05、Sept. 2026", ["date:2026-04", "date:2026-05", "date:2026-09"]),
        ("S63.12.31、H30.1.8、昭和64年1月7日", ["date:1988-12-31", "date:2018-01-08", "date:1989-01-07"]),
        ("2026-04-01T09:00:00+09:00", ["date:2026-04-01"]),
        ("2026年2月30日、昭和65年1月1日、2026/13/1", []),
        ("S1.2.3、版2026.4.1.3、FR-2026-04-01、192.168.1.10、1.2.3", []),
    ],
)
def test_what_no_calendar_has_and_numbers_of_other_things_are_no_dates(text: str, terms: list[str]) -> None:
    assert [mention.terms[0] for mention in find_dates(fold(text))] == terms


def test_a_year_of_a_question_counts_as_little_as_a_synonym_and_its_words_as_before() -> None:
    asked = analyse_query("令和8年度の予算")
    assert asked.words == {"令和": 1.0, "8": 1.0, "年度": 1.0, "予算": 1.0, "date:2026": 0.3}


def test_a_day_is_no_code_that_must_be_met_as_it_is_written() -> None:
    assert analyse_query("R8.4.1 の FR-001").codes == ("fr-001",)


@pytest.fixture
def same_day() -> set[str]:
    """Passages that differ in a day alone, among others; gives those of the day in question."""
    passages = [f"この規程は、{day}から施行する。" for day in (*OTHER_DAYS, *SPELLINGS)]
    Library().add("附則.md", [*passages, *(f"第{number}条 規程の別表{number}を定める。" for number in range(30))])
    return set(passages[len(OTHER_DAYS) :])


@pytest.mark.django_db
def test_every_spelling_finds_every_other_one_before_other_days(same_day: set[str]) -> None:
    for asked in SPELLINGS:
        query = SearchQuery(text=f"{asked}に施行する規程", mode=SearchMode.LEXICAL, limit=len(same_day))
        assert {hit.content for hit in search(local_operator(), query).hits} == same_day, asked


@pytest.mark.django_db
def test_another_spelling_is_good_evidence_and_the_day_comes_first(same_day: set[str]) -> None:
    for asked in SPELLINGS[:4]:
        hits = search(local_operator(), SearchQuery(text=f"{asked}に施行する規程", limit=40)).hits
        assert hits[0].content in same_day, asked
        assert same_day <= {hit.content for hit in hits if (hit.score or 0) >= GOOD_EVIDENCE}, asked


@pytest.mark.parametrize("asked", ["令和8年4月1日の再起動", "2026-04-01 再起動"])
def test_a_day_is_marked_however_it_is_written_and_its_digits_alone_are_not(asked: str) -> None:
    text = "２０２６年４月１日（R8.4.1）と2026/4/10に、4時間ごとに再起動する。"
    marked = [text[start:end] for start, end in highlight_spans(text, query_marks(asked))]
    assert marked == ["２０２６年４月１日", "R8.4.1", "再起動"]
