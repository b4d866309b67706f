"""Every reader of numbers reads a numeral alike, however it is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from knowledge.answering.quantities import numbers_of
from knowledge.guidelines.files import read_markdown
from knowledge.parsers.text import has_strong_number
from knowledge.search.scope import section_pattern
from knowledge.text.codes import articles_in
from knowledge.text.dates import find_dates
from knowledge.text.numbering import heading_number
from knowledge.text.numerals import MOST_WRITTEN, read_numeral, write_numeral
from knowledge.text.outline import bare_title, unnumbered_title
from knowledge.types.documents import Section
from review.triage.matching import title_key

CASES = {
    "3": 3,
    "１２": 12,
    "三": 3,
    "十": 10,
    "十二": 12,
    "二十": 20,
    "二〇": 20,
    "二三": 23,
    "百二十三": 123,
    "一二三": 123,
    "千二百": 1200,
    "三千": 3000,
    "二〇二六": 2026,
}
_NARROW = str.maketrans("０１２３４５６７８９", "0123456789")
READERS: dict[str, Callable[[str], str]] = {
    "a heading": lambda numeral: str(heading_number(f"第{numeral}条 委託")),
    "an article": lambda numeral: next(articles_in(f"第{numeral}条".translate(_NARROW)))[1:-1],
    "a quantity": lambda numeral: next(iter(numbers_of(f"{numeral}件"))),
}


@pytest.mark.parametrize("numeral", CASES)
@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
def test_every_reader_reads_a_numeral_alike(numeral: str, reader: Callable[[str], str]) -> None:
    assert reader(numeral) == str(CASES[numeral])


def _title_of_an_article(heading: str) -> str:
    (article,) = read_markdown(f"# 指針\n\n## {heading}\n\n定める。\n").articles
    return article.title


def _title_in_the_next_version(heading: str) -> str:
    section = Section(
        id="s1", title=heading, number=None, level=1, path=(heading,), start=0, body_start=0, body_end=0, end=0
    )
    return title_key(section)


TITLES: dict[str, Callable[[str], str]] = {
    "a message": unnumbered_title,
    "a name": bare_title,
    "an article of a guideline": _title_of_an_article,
    "a section of the next version": _title_in_the_next_version,
}


@pytest.mark.parametrize("unit", "編部章節款項条")
@pytest.mark.parametrize("numeral", CASES)
@pytest.mark.parametrize("reader", TITLES.values(), ids=list(TITLES))
def test_every_reader_takes_the_number_of_a_part_off_its_title(
    numeral: str, unit: str, reader: Callable[[str], str]
) -> None:
    heading = f"第{numeral}{unit} 委託"
    assert reader(heading) == "委託"
    assert has_strong_number(heading)


@pytest.mark.parametrize(("numeral", "day"), [(text, day) for text, day in CASES.items() if day <= 31])
def test_days_are_read_as_other_numbers_are(numeral: str, day: int) -> None:
    found = [mention.day for mention in find_dates(f"令和8年10月{numeral}日".translate(_NARROW))]
    assert found == ([day] if "〇" not in numeral else [None])


def test_what_is_written_is_read_back() -> None:
    assert [read_numeral(write_numeral(value)) for value in range(1, MOST_WRITTEN + 1)] == [*range(1, MOST_WRITTEN + 1)]


@pytest.mark.parametrize("text", ["", "数百", "元", "3.5", "-1", "十時", "０x"])
def test_what_is_no_numeral_has_no_value(text: str) -> None:
    assert read_numeral(text) is None


def test_a_filter_for_a_chapter_finds_it_in_both_spellings() -> None:
    import re

    pattern = section_pattern("12")
    assert re.search(pattern, "第十二章 設計")
    assert re.search(pattern, "12 設計")
    assert not re.search(pattern, "第百十二章 設計")
