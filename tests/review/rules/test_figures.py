from __future__ import annotations

import pytest

from review.rules import run_rule
from tests.review.markdown import rule_input


def outcome(rule: str, text: str):
    return run_rule(rule, rule_input(text))


def numbers(rule: str, text: str) -> list[list[str]]:
    return [finding.data["numbers"] for finding in outcome(rule, text).findings]


def document(*captions: str, text: str = "文。") -> str:
    return (
        "# 設計書\n\n## 1. 構成\n\n" + text + "\n\n" + "\n\n".join(f"{caption}\n\n文。" for caption in captions) + "\n"
    )


def test_captions_in_order_pass():
    text = document("図1 全体構成", "表1 機器一覧", "図2 接続", "表2 通信条件")

    assert outcome("figure.numbering", text).findings == ()
    assert outcome("figure.numbering", text).examined == 4


@pytest.mark.parametrize(
    ("captions", "broken"),
    [
        (("図1 構成", "図3 接続"), ["図3"]),
        (("図1 構成", "図２ 接続", "図2 配置"), ["図2"]),
        (("図1 構成", "図3 接続", "図2 配置"), ["図2"]),
        (("図3-1 構成", "図3-3 接続", "図4-1 配置"), ["図3-3"]),
    ],
)
def test_gaps_repeats_and_steps_back_are_named(captions, broken):
    assert numbers("figure.numbering", document(*captions)) == [broken]


def test_a_table_that_goes_on_keeps_its_number():
    assert outcome("figure.numbering", document("表1 一覧", "表1 一覧（続き）", "表2 条件")).findings == ()


def test_captions_that_no_text_names_are_one_finding():
    text = document("図1 構成", "図2 接続", "表1 一覧", text="構成を図１に示す。")

    assert numbers("figure.unreferenced", text) == [["図2", "表1"]]


def test_a_range_refers_to_all_in_it():
    text = document("図1 構成", "図2 接続", "図3 配置", text="画面遷移は図1〜図3のとおり。")

    assert outcome("figure.unreferenced", text).findings == ()


def test_a_reference_without_its_figure_is_named_with_the_place():
    text = document("図1 構成", text="構成を図1に、通信条件を表 4 に示す。")

    (found,) = outcome("figure.undefined_reference", text).findings

    assert found.data["numbers"] == ["表4"]
    assert [text[span.start : span.end] for span in found.evidence] == ["表 4"]
    assert "1. 構成" in found.message.ja


@pytest.mark.parametrize(
    "text",
    [
        "代表1名が出席し、発表2件を行う。",
        "別表1に定める。",
        "要件定義書の図3を参照する。標準ガイドライン 図2のとおり。",
        "図2次元で描く。",
        "`図9` はサンプルである。",
    ],
)
def test_words_and_other_documents_figures_are_no_references(text):
    assert outcome("figure.undefined_reference", document("図1 構成", text=text)).findings == ()


def test_a_list_of_figures_is_no_reference():
    text = "# 設計書\n\n## 図一覧\n\n- 図1 構成\n\n## 1. 構成\n\n図1 構成\n\n文。\n"

    assert numbers("figure.unreferenced", text) == [["図1"]]


def test_the_example_follows_the_documents_style():
    text = document("図1 構成", text="本書は設計を示します。対象は予約です。")

    (found,) = outcome("figure.unreferenced", text).findings

    assert found.suggestion.example == "…を図1に示します。"
