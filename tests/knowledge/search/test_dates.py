"""A day is found in every calendar and spelling, by every other one."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.index.analysis import analyse_passage, analyse_query
from knowledge.search.fusion import GOOD_EVIDENCE
from knowledge.search.highlights import highlight_spans, query_marks
from knowledge.search.hybrid import search
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.types.search import SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library

SPELLINGS = (
    *("令和8年4月1日", "Ｒ８．４．１", "2026年4月1日", "2026-04-01", "２０２６/4/1", "令和八年四月一日"),
    *("令和8年（2026年）4月1日", "R08/04/01", "令8.4.1", "April 1, 2026", "1st of April 2026"),
    *("㋿8年４月１日", "20260401", "R080401", "R8.04.01", "令和8・4・1"),
)
OTHER_DAYS = ("令和8年4月10日", "2026-05-01", "R7.4.1", "2026/4/2", "平成8年4月1日")


@pytest.mark.parametrize("written", SPELLINGS)
def test_every_spelling_of_a_day_is_one_term_of_both_fields(written: str) -> None:
    terms = analyse_passage("", f"この規程は{written}から施行する。")
    for field in (terms.words, terms.bigrams):
        dates = [term for term in field if term.startswith("date:")]
        assert dates == ["date:2026-04-01", "date:2026-04", "date:2026", "date:--04-01"]


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
        (
            "4月1日、四月一日、毎年４月１日、4/1、9/30付、Apr. 1",
            ["date:--04-01"] * 4 + ["date:--09-30", "date:--04-01"],
        ),
        ("1/4(日)、3/31時点、12/25の窓口、May 5th", ["date:--01-04", "date:--03-31", "date:--12-25", "date:--05-05"]),
        ("1/2、全体の2/3、約3/20、3/20名、5/5ページ、1/4に減少、24/7、4/1,000、80/443、01/12", []),
        ("4.1、3.2.1、第4条、v4.1、10.1.2、4-1、IPv4/6、3か月10日、2月30日、版1 may be、you may 1", []),
        ("20260401_議事録.docx、議事録20260401、20260401T0900", ["date:2026-04-01"] * 3),
        ("20261301、12345678、202604010、20,260,401円、20260401円、受付番号20260401、第20260401号、ID:20260401", []),
        ("R080401、令和080401、H310430、R081301、AR080401", ["date:2026-04-01", "date:2026-04-01", "date:2019-04-30"]),
        ("4/15/2026、15.4.2026、4/4/2026", ["date:2026-04-15", "date:2026-04-15", "date:2026-04-04"]),
        ("4/1/2026、13/13/2026", ["date:2026"]),
        ("㍻元年、R8 年度、FY2026、FY26、令和８年", ["date:1989"] + ["date:2026"] * 4),
        ("R8.4月、令和8/4、平成8/9年度、令和8.5%", ["date:2026-04", "date:2026-04"]),
        *(
            (written, ["date:--04-01", "date:--04-05"])
            for written in (
                "4/1-4/5",
                "４／１～４／５",
                "4/1(水)～4/5(日)",
                "4月1日～5日",
                "4月1～5日",
                "4/1から4/5まで",
            )
        ),
        *(
            (written, ["date:2026-04-01", "date:2026-04-05"])
            for written in ("R8.4.1-R8.4.5", "2026/4/1-4/5", "令和8年4月1日（水）から5日まで", "20260401-20260405")
        ),
        ("10/12-10/15、5/6～5/8", ["date:--10-12", "date:--10-15", "date:--05-06", "date:--05-08"]),
        ("4/5時点、5/10付の文書、1/2～1/3に減らす、2/3-3/4、第4/5～4/10章", ["date:--04-05", "date:--05-10"]),
        ("令和8年4月1日・5日、10日", ["date:2026-04-01", "date:2026-04-05", "date:2026-04-10"]),
        ("1/2～3/4、3/4 inch、3/4-1/2インチ、第4/5章、4-5/8、FR-4/1-4/5、5日、4月の5日", []),
        (
            "4月1日から5日間、4月1日から5日で、4月1日、5日以内、4月5日～1日、4月30日～31日",
            ["date:--04-01"] * 3 + ["date:--04-05", "date:--04-30"],
        ),
        ("令和7年4月1日から8年3月31日まで、施行後8年4月1日", ["date:2025-04-01", "date:2026-03-31"]),
        (
            "令和8年4月1日から6月30日まで。同年10月1日、翌年3月31日",
            ["date:2026-04-01", "date:2026-06-30", "date:2026-10-01", "date:2027-03-31"],
        ),
        (
            "2026年4月1日〜3月31日、2026年4月1日の会議では5月1日",
            ["date:2026-04-01", "date:--03-31", "date:2026-04-01", "date:--05-01"],
        ),
    ],
)
def test_what_no_calendar_has_and_numbers_of_other_things_are_no_dates(text: str, terms: list[str]) -> None:
    assert [mention.terms[0] for mention in find_dates(fold_terms(text))] == terms


def test_a_date_of_a_question_is_asked_in_any_spelling_and_its_own_helps() -> None:
    assert analyse_query("令和8年度の予算").words == {"date:2026": 1.0, "予算": 1.0, "令和": 0.3, "8": 0.3, "年度": 0.3}
    day = analyse_query("2026年4月1日の予算").words
    assert {term: weight for term, weight in day.items() if term.startswith("date:")} == {
        "date:2026-04-01": 1.0,
        "date:?-04-01": 0.7,
        "date:2026-04": 0.3,
        "date:2026": 0.3,
    }
    assert day["4"] == day["日"] == 0.1


def test_a_day_is_no_code_that_must_be_met_as_it_is_written() -> None:
    assert analyse_query("R8.4.1 の FR-001").codes == ("fr-001",)


@pytest.fixture
def same_day() -> set[str]:
    """Passages that differ in a day alone, among others; gives those of the day in question."""
    # Spellings that differ in signs and width alone would be one text.
    marks = "いろはにほへとちりぬるをわかよたれそつねならむ"
    days = (*OTHER_DAYS, *SPELLINGS)
    passages = [f"この規程は、{day}から施行する（{mark}）。" for day, mark in zip(days, marks, strict=False)]
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


NO_YEAR = ("4月1日", "4/1", "四月一日", "４／１（水）", "4月1日")


@pytest.mark.django_db
def test_a_day_without_a_year_finds_that_day_of_any_year_and_no_other_day() -> None:
    same = [f"{day}に窓口を開設する。" for day in (*NO_YEAR[:4], "令和8年4月1日", "2025-04-01", "H31.4.1", "20240401")]
    others = [
        f"{day}に窓口を開設する。"
        for day in ("4月10日", "令和8年1月4日", "1/4の割合", "5/1", "2026年4月", "第4条1日目")
    ]
    Library().add("窓口.md", [*others, *same, *(f"第{number}条 様式{number}を定める。" for number in range(30))])
    for asked in NO_YEAR:
        query = SearchQuery(text=f"{asked}に窓口を開設", mode=SearchMode.LEXICAL, limit=len(same))
        assert {hit.content for hit in search(local_operator(), query).hits} == set(same), asked


@pytest.mark.django_db
def test_a_full_day_finds_one_without_a_year_behind_exact_ones_and_before_other_days() -> None:
    exact = [f"{day}に窓口を開設する。" for day in ("令和8年4月1日", "2026/4/1")]
    no_year = ["4月1日に窓口を開設する。", "4/1に窓口を開設する。"]
    others = [
        f"{day}に窓口を開設する。" for day in ("令和7年4月1日", "2026年4月10日", "2025-04-01", "令和8年度", "9月1日")
    ]
    Library().add(
        "窓口.md", [*others, *no_year, *exact, *(f"第{number}条 様式{number}を定める。" for number in range(30))]
    )
    for asked in ("2026年4月1日", "R8.4.1", "20260401"):
        hits = search(local_operator(), SearchQuery(text=f"{asked}に窓口を開設", mode=SearchMode.LEXICAL)).hits
        found = [hit.content for hit in hits]
        assert set(found[:2]) == set(exact), asked
        assert set(found[2:4]) == set(no_year), asked


@pytest.mark.django_db
@pytest.mark.parametrize("asked", ["令和8年度", "2026年度", "R8年度", "FY2026", "㋿８年度"])
def test_a_year_finds_its_other_calendar_before_other_years(asked: str) -> None:
    same = [f"{year}の予算を執行する。" for year in ("令和8年度", "2026年度", "R8 年度")]
    others = [f"{year}の予算を執行する。" for year in ("令和7年度", "2025年度", "平成8年度", "2028年度", "令和元年度")]
    Library().add("予算.md", [*others, *same, *(f"第{number}条 様式{number}を定める。" for number in range(30))])
    hits = search(local_operator(), SearchQuery(text=f"{asked}の予算", mode=SearchMode.LEXICAL)).hits
    assert {hit.content for hit in hits[:3]} == set(same)


@pytest.mark.parametrize("asked", ["令和8年4月1日の再起動", "2026-04-01 再起動"])
def test_a_day_is_marked_however_it_is_written_and_its_digits_alone_are_not(asked: str) -> None:
    text = "２０２６年４月１日（R8.4.1）と2026/4/10に、4時間ごとに再起動する。"
    marked = [text[start:end] for start, end in highlight_spans(text, query_marks(asked, analyse_query(asked)))]
    assert marked == ["２０２６年４月１日", "R8.4.1", "再起動"]


@pytest.mark.parametrize(
    ("asked", "marked"),
    [
        ("4/1の窓口", ["令和8年4月1日", "四月一日", "4/1(水)", "20250401", "㋿８年四月一日"]),
        ("R080401", ["令和8年4月1日", "四月一日", "4/1(水)", "㋿８年四月一日"]),
        ("2026年度", ["令和8年4月1日", "㋿８年四月一日"]),
    ],
)
def test_marks_are_where_a_reader_finds_the_date(asked: str, marked: list[str]) -> None:
    text = "令和8年4月1日、1/4、四月一日。4/1(水)と4.1節、20250401と㋿８年四月一日、第4条。"
    found = [text[start:end] for start, end in highlight_spans(text, query_marks(asked, analyse_query(asked)))]
    assert [one for one in found if one != "年"] == marked


DAY_IN_NAME = {
    "20260401": ("議事録_20260401.docx", "議事録_20260401_v1.2.docx", "20260401-議事録.pdf", "2026_04_01_議事録.md"),
    "2026-04-01": ("2026-04-01_議事録.md", "minutes-2026-04-01_v2.docx", "議事録/2026/04/01/第1回.md"),
    "R8.4.1": ("R8.4.1_議事録.xlsx", "議事録(R8.4.1).docx", "議事録_R8_4_1.xlsx", "令和8年4月1日議事録.txt"),
}
NO_DAYS = ("設計書_v1.2.3.docx", "src/1/2/3.md", "第4/5章.md", "FR-2026-04-01.md", "2026.docx", "20261301_議事録.docx")


@pytest.mark.parametrize("name", [name for names in DAY_IN_NAME.values() for name in names])
def test_the_day_in_a_files_name_is_one_of_every_passage(name: str) -> None:
    terms = analyse_passage("定例会議", "出席者は次のとおり。", name=name)
    assert "date:2026-04-01" in terms.words
    assert "date:2026-04-01" in terms.bigrams


def test_words_of_a_files_own_name_count_once_where_nothing_else_has_them() -> None:
    terms = analyse_passage("定例会議", "出席者は定例会議の委員。", name="総務課/定例会議_議事録_R8.4.1.docx").words
    assert (terms["議事"], terms["定例"], terms["総務"], terms["docx"]) == (1, 2, 0, 0)


@pytest.mark.parametrize("name", NO_DAYS)
def test_versions_paths_and_codes_in_a_files_name_are_no_days(name: str) -> None:
    terms = analyse_passage("定例会議", "出席者は次のとおり。", name=name)
    assert [term for term in terms.words if term.startswith("date:") and term.count("-") > 1] == []


def test_a_day_that_the_text_tells_counts_once_more_by_no_name() -> None:
    assert analyse_passage("", "令和8年4月1日の会議", name="20260401.md").words["date:2026-04-01"] == 1


@pytest.mark.django_db
def test_a_document_is_found_by_the_day_in_its_name_in_any_spelling() -> None:
    library = Library()
    for number, name in enumerate([name for names in DAY_IN_NAME.values() for name in names]):
        library.add(name, [f"出席者は{number}名である。"], title=f"定例会議 {number}")
    for day in ("20260402", "20250401", "20260410"):
        library.add(f"議事録_{day}.docx", [f"{day}の次第。"], title="定例会議")
    for asked in ("令和8年4月1日の会議", "2026/4/1 会議", "20260401 会議", "4月1日の会議"):
        query = SearchQuery(text=asked, mode=SearchMode.LEXICAL, limit=11)
        found = [hit.document_path for hit in search(local_operator(), query).hits]
        named = {name for names in DAY_IN_NAME.values() for name in names}
        expected = named | {"議事録_20250401.docx"} if asked.startswith("4月") else named
        assert set(found) <= expected, asked
        assert len(found) == len(named), asked
    best = search(local_operator(), SearchQuery(text="R8.4.1 議事録", mode=SearchMode.LEXICAL)).hits[0]
    assert best.document_path in named
