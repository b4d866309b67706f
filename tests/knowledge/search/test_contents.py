"""Tables of contents are found, but behind the sections that they name."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.index.postings import keep_lexical_index, outdated_entries
from knowledge.models import LexicalEntry
from knowledge.search.hybrid import search
from knowledge.text.structure import is_contents_passage
from knowledge.types.search import SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library, Passage

DOTTED = "1 性能要件 ........ 3\n1.1 応答時間の目標 ........ 3\n1.2 帳票の応答時間 ……… 5\n2 障害時の復旧時間　　　 9"
LINKED = "\n".join(
    f"- [{n}. {title}](#{n}-{title})" for n, title in enumerate(("性能要件", "応答時間の目標", "復旧", "保守"), 1)
)
SECTION = "応答時間の目標は、通常時の検索で三秒以内とし、月次の締め処理と重なる時間帯でも五秒を超えないものとする。"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ((), DOTTED, True),
        ((), LINKED, True),
        ((), "# 目次\n\n" + LINKED, True),
        ((), "1. はじめに . . . . . . 1\n2. 目的 . . . . 2\n3. 範囲 . . . 3\n4. 用語 . . . . 4", True),
        (("設計書", "目　次"), "| 1 | 性能要件 |\n| 2 | 運用要件 |", True),
        (("設計書", "目次"), "目次は章ごとに作り、改訂のたびに作り直す。", False),
        (("FAQ", "目次"), LINKED.replace("復旧]", "復旧はいつですか。]"), True),
        (("Index",), "The index is rebuilt every night. Readers notice nothing.", False),
        (("Contents",), "1. Scope\n2. Terms", True),
        ((), SECTION, False),
        ((), "| 項目 | 値 |\n|---|---|\n| 応答時間 | 3 |\n| 復旧時間 | 4 |\n| 稼働率 | 99 |", False),
        ((), "応答時間  3\n復旧時間  4", False),
        ((), "応答時間は3\n稼働率は99\n復旧は4\n保守は5", False),
    ],
)
def test_a_passage_that_lists_headings_is_told_by_its_lines_or_its_own_heading(
    path: tuple[str, ...], text: str, *, expected: bool
) -> None:
    assert is_contents_passage(path, text) is expected


@pytest.mark.django_db
@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_section_comes_before_the_contents_that_name_it(mode: SearchMode) -> None:
    Library().add("設計.md", [Passage(text=DOTTED, section_path=("目次",)), LINKED, SECTION, "認証は多要素とする。"])
    hits = search(local_operator(), SearchQuery(text="応答時間の目標", mode=mode)).hits
    assert hits[0].content == SECTION
    assert {DOTTED, LINKED} <= {hit.content for hit in hits}


@pytest.mark.django_db
def test_who_asks_for_the_contents_gets_them_first() -> None:
    Library().add("設計.md", [Passage(text=DOTTED, section_path=("目次",)), SECTION])
    hits = search(local_operator(), SearchQuery(text="応答時間の目標がある目次", mode=SearchMode.LEXICAL)).hits
    assert hits[0].content == DOTTED


@pytest.mark.django_db
def test_passages_indexed_before_are_told_when_they_are_indexed_again() -> None:
    contents, section = Library().add("設計.md", [DOTTED, SECTION])
    LexicalEntry.objects.update(is_contents=False, analysis=2)
    assert outdated_entries(10)
    assert not keep_lexical_index(seconds=20)
    told = dict(LexicalEntry.objects.values_list("chunk_id", "is_contents"))
    assert told == {contents.pk: True, section.pk: False}
