"""Every reader of dates reads a day alike, in whatever calendar, spelling and width."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.index.analysis import analyse_passage, analyse_query
from knowledge.parsers.ooxml.number_codes import parse_code
from knowledge.parsers.ooxml.number_formats import format_date
from knowledge.search.highlights import highlight_spans, query_marks
from knowledge.text.date_forms import ERAS, era_on
from knowledge.text.dates import find_days, first_day, read_day, without_days
from review.report.answer_file import read_answer_day
from review.rules.history.edition import read_edition
from tests.review.markdown import outcome_of, rule_input

CASES = {
    "2024/4/1": date(2024, 4, 1),
    "2024-04-01": date(2024, 4, 1),
    "２０２４年４月１日": date(2024, 4, 1),
    "2024年 4月 1日": date(2024, 4, 1),
    "2024.4.1": date(2024, 4, 1),
    "20240401": date(2024, 4, 1),
    "R6.4.1": date(2024, 4, 1),
    "Ｒ０６．０４．０１": date(2024, 4, 1),
    "令6.4.1": date(2024, 4, 1),
    "令和6年4月1日": date(2024, 4, 1),
    "令和六年四月一日": date(2024, 4, 1),
    "令和6年（2024年）4月1日": date(2024, 4, 1),
    "2024年（令和6年）4月1日": date(2024, 4, 1),
    "㋿6年4月1日": date(2024, 4, 1),
    "令和元年5月1日": date(2019, 5, 1),
    "平成31年4月30日": date(2019, 4, 30),
    "H31.4.30": date(2019, 4, 30),
    "S63.12.31": date(1988, 12, 31),
    "昭和64年1月7日": date(1989, 1, 7),
}
NO_DAYS = (
    "2024年2月30日",
    "令和6年4月",
    "令和8年度",
    "8年度",
    "2024-13-01",
    "昭和65年1月1日",
    "4月1日",
    "1.2.3",
    "未定",
)


def _in_history(written: str) -> date | None:
    target = rule_input(f"# 設計書\n\n- 最終更新日: {written}\n\n## 1. 目的\n\n本文。\n")
    return next((one.day for one in read_edition(target.text, target.sections, target.blocks).updated), None)


def _in_a_period(written: str) -> date | None:
    """The day before which an end is an error, by the rule: the day itself where the rule reads it."""
    day = CASES.get(written, date(2024, 4, 1))
    orders = []
    for end in (day, day - timedelta(days=1)):
        target = rule_input(f"# 設計書\n\n## 1. 期間\n\n期間は{written}から{end:%Y年%m月%d日}までとする。\n")
        orders.append(len(outcome_of("consistency.date_order", target).findings))
    return day if orders == [0, 1] else None


def _asked(written: str) -> date | None:
    """The day that a question names, where search finds a passage with it and marks it whole."""
    terms = analyse_query(f"{written}の議事録")
    named = [term for term in terms.words if term.startswith("date:")]
    spans = highlight_spans(f"施行は{written}。", query_marks(f"{written}の議事録", terms))
    if (
        not named
        or named[0] not in analyse_passage("", f"施行は{written}。").words
        or (3, 3 + len(written)) not in spans
    ):
        return None
    try:
        return date.fromisoformat(named[0].removeprefix("date:"))
    except ValueError:
        return None


READERS: dict[str, Callable[[str], date | None]] = {
    "a text": lambda written: next((found.day for found in find_days(f"施行は{written}とする。")), None),
    "a cell": read_day,
    "a cell with a note": lambda written: first_day(f"{written}（予定）"),
    "a history": _in_history,
    "a period": _in_a_period,
    "an answer": read_answer_day,
    "a question": _asked,
}


@pytest.mark.parametrize("written", CASES)
@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
def test_every_reader_reads_a_day_alike(written: str, reader: Callable[[str], date | None]) -> None:
    assert reader(written) == CASES[written]


@pytest.mark.parametrize("written", NO_DAYS)
@pytest.mark.parametrize("reader", [reader for name, reader in READERS.items() if name != "an answer"])
def test_what_is_no_day_of_a_known_year_is_none_for_every_reader(
    written: str, reader: Callable[[str], date | None]
) -> None:
    assert reader(written) is None


DAYS = st.dates(min_value=date(1926, 12, 25), max_value=date(2099, 12, 31))
FORMS = st.sampled_from(
    ("{y}年{m}月{d}日", "{y}/{m}/{d}", "{y}-{m:02}-{d:02}", "{y}.{m}.{d}", "{y}{m:02}{d:02}", "{era}{n}年{m}月{d}日")
)


@given(DAYS, FORMS, st.booleans())
def test_no_two_readers_read_a_day_differently(day: date, form: str, is_wide: bool) -> None:
    era = era_on(day)
    assert era is not None
    number = day.year - era.first_day.year + 1
    written = form.format(y=day.year, m=day.month, d=day.day, era=era.name, n="元" if number == 1 else number)
    if is_wide:
        written = written.translate({code: code + 0xFEE0 for code in range(ord("0"), ord("9") + 1)})
    quick = [reader for name, reader in READERS.items() if name not in ("a period", "a question")]
    assert {reader(written) for reader in quick} == {day}


def test_slips_of_typing_are_read_in_a_cell_alone() -> None:
    for written in ("2026年3月31", "2026/3-31", "令和8年 3月 31", "2026 / 3 / 31"):
        assert read_day(written) == read_answer_day(written) == date(2026, 3, 31), written
    assert read_day("第2章 2026年3月31件") is None


def test_a_text_without_its_days_keeps_the_rest() -> None:
    assert without_days("第1版 2026.1.6 / R8.2.1 初版") == "第1版  /  初版"


@pytest.mark.parametrize("era", ERAS)
def test_what_a_workbook_shows_of_an_era_is_read_back(era: object) -> None:
    for first in (one.first_day for one in ERAS if one is era):
        shown = format_date(datetime(first.year, first.month, first.day), 0.0, parse_code('ggge"年"m"月"d"日"')[0])  # noqa: DTZ001
        assert first_day(shown) == first
