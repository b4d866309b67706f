"""Spellings that a reader takes for the same: variants of characters, what has no width, codes beside a label."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.index.analysis import analyse_passage, analyse_query
from knowledge.search.fusion import GOOD_EVIDENCE
from knowledge.search.highlights import highlight_spans, query_marks
from knowledge.search.hybrid import search
from knowledge.text.folding import VARIANTS, fold_terms
from knowledge.types.search import SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library


def ask(text: str) -> SearchResult:
    return search(local_operator(), SearchQuery(text=text))


def marked(text: str, question: str) -> list[str]:
    return [text[start:end] for start, end in highlight_spans(text, query_marks(question, analyse_query(question)))]


@pytest.mark.parametrize("asked", ["FR-0011", "要件ID：FR-0011", "ＦＲ－００１１", "FR-0011/FR-0012", "FR-\u200b0011"])
@pytest.mark.django_db
def test_a_code_is_found_behind_its_label_and_beside_another_one(asked: str) -> None:
    right = "要件ID：FR-0011\n\nスマートメーターの指針値を収集する。"
    Library().add("基本設計書.md", ["要件ID：FR-001\n\n検針の計画を立てる。", right, "対応要件：FR-001/FR-00110"])
    result = ask(asked)
    assert result.hits[0].content == right
    assert (result.hits[0].score or 0) >= GOOD_EVIDENCE
    assert not any("FR-0011 " in notice.en for notice in result.notices if notice.code == "code_not_found")


def test_what_stands_between_codes_is_part_of_a_code_only_in_the_whole() -> None:
    words = set(analyse_passage("", "参照先：FR-001/NFR-002:GL-3.2.1、http://example.jp/a_b、12:30").words)
    assert {"fr-001", "nfr-002", "gl-3.2.1", "fr-001/nfr-002:gl-3.2.1", "http://example.jp/a_b"} <= words
    assert analyse_query("要件ID:FR-001").codes == ("fr-001",)


@pytest.mark.parametrize("asked", ["表4.2-1", "表 ４．２－１", "表4.2‐1の項目"])
@pytest.mark.django_db
def test_a_table_is_found_by_its_number_and_not_its_neighbour(asked: str) -> None:
    tables = [f"表4.{number}-1 画面の項目一覧\n\n| 項目名 | 桁数 |" for number in (1, 2, 20, 24)]
    Library().add("画面設計.md", tables)
    result = ask(asked)
    assert result.hits[0].content == tables[1]
    assert analyse_query(asked).codes == ("表4.2-1",)


@pytest.mark.django_db
def test_a_table_that_no_passage_names_is_told() -> None:
    Library().add("画面設計.md", ["表4.2-1 画面の項目一覧"])
    result = ask("表9.9-9 の項目")
    assert {"code_not_found", "no_good_evidence"} <= {notice.code for notice in result.notices}


@pytest.mark.parametrize("text", ["代表2名が出席する。", "発表3回", "地図5枚", "公表1件"])
def test_a_word_that_ends_like_a_caption_numbers_nothing(text: str) -> None:
    assert analyse_query(text).codes == ()


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("担当は髙橋、検査は山﨑が行う。", "高橋"),
        ("担当は髙橋、検査は山﨑が行う。", "山崎"),
        ("承認者は渡邊部長とする。", "渡辺"),
        ("承認者は渡辺部長とする。", "渡邉"),
        ("申請者の𠮷田主任が立ち会う。", "吉田"),
        ("葛\U000e0100城広域水道企業団が管理する。", "葛城広域水道企業団"),
        ("葛城広域水道企業団が管理する。", "葛\U000e0101城広域水道企業団"),
        ("漏水による減収を補塡する。", "補填"),
        ("舊市街の澤田橋を架け替える。", "旧市街の沢田橋"),
    ],
)
@pytest.mark.django_db
def test_a_name_is_found_by_any_shape_of_its_characters(written: str, asked: str) -> None:
    Library().add("議事録.md", ["移行の計画を説明した。", written, "外字の印字を確かめた。"])
    result = ask(asked)
    assert result.hits[0].content == written
    assert (result.hits[0].score or 0) >= GOOD_EVIDENCE
    assert marked(written, asked)


@pytest.mark.parametrize("written", ["葛\U000e0100城広域", "葛城\u200b広域", "葛\u00ad城広域"])
@pytest.mark.django_db
def test_a_phrase_is_compared_without_what_has_no_width(written: str) -> None:
    Library().add("議事録.md", [f"{written}水道企業団が管理する。", "葛西広域水道企業団"])
    assert [hit.content[-10:] for hit in ask("「葛城広域水道」").hits] == ["道企業団が管理する。"]


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("髙橋と葛\U000e0100城市", "高橋と葛城市", ["髙橋", "葛\U000e0100城市"]),
        ("JB032とJB0321、30GBと130GB", "JB032の30GB", ["JB032", "30GB"]),
        ("表4.2-1と表4.2-10", "表4.2-1", ["表4.2-1", "表"]),
    ],
)
def test_variants_are_marked_as_they_stand(text: str, question: str, expected: list[str]) -> None:
    assert marked(text, question) == expected


def test_no_common_shape_is_itself_another_ones_variant() -> None:
    assert not {ord(common) for common in VARIANTS.values()} & VARIANTS.keys()
    assert fold_terms("船舶と舟") == "船舶と舟"
