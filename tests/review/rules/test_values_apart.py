"""Values under one name that are of two things: nothing contradicts, and where they are of one, it is reported."""

from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input

RULE = "consistency.conflicting_value"


def reported(text: str) -> list[str]:
    return [found.data["quantity"] for found in outcome_of(RULE, rule_input(f"# 設計書\n\n{text}\n")).findings]


def _screen(number: int, name: str, button: str, *, more: str = "") -> str:
    extra = f" {more} |" if more else ""
    return (
        f"## 画面設計（SCR-00{number}）{name}\n\n| 項目ID | 項目名 | 部品 | 規則 |{extra}\n"
        + f"|---|---|---|---|{'---|' if more else ''}\n"
        + "".join(
            f"| {code} | {label} | 入力欄 | なし |{extra}\n"
            for code, label in (("BTN001", button), ("TXT001", "備品名"), ("LBL001", "見出し"), ("LBL002", "案内"))
        )
        + "\n"
    )


APART = [
    "## 1. 設定\n\n手当月1:08\n\n手当月2:12\n",
    "## 1. 一覧\n\n| 番号 | 注文日 |\n|---|---|\n| ③ | 2024/03/27 |\n\n"
    "## 2. 詳細\n\n| 番号 | 注文日 | 数 |\n|---|---|---|\n| ③ | 2024/05/24 | 1 |\n",
    "## 1. 全体\n\n| 項目 | 手順 | 実施者 | 実施日 |\n|---|---|---|---|\n| 貸出画面 | 開く | 佐藤 | 7/26 |\n\n"
    "## 2. 貸出\n\n| 項目 | 手順 | 実施日 | 実施者 |\n|---|---|---|---|\n| 貸出画面 | 開く | 7/28 | 山田 |\n",
    "## 1. 流れ\n\n├─ stock_daily_sum 365日集計 → 分類\n\n└─ stock_daily_sum 180日一括取得 → 予測\n",
    "## 1. 分類\n\n累計比率がA閾値(70%)までを上位とする。\n\n累計比率がB閾値(90%)までを中位とする。\n",
    "## 1. 頁\n\n最大表示ページ数: 10ページ\n\n## 2. 移動\n\n- 現在の表示ページが2ページ以上の場合\n",
    "## 1. 検査\n\n1. 備品名を見る\n- 最大長チェック（10文字）\n2. 備考を見る\n- 最大長チェック（100文字）\n",
    '## 1. 項目\n\n助言の文: "備品名（最大10文字）"\n\n## 2. 検索\n\n助言の文: "備考（最大100文字）"\n',
    _screen(1, "登録", "登録する") + _screen(2, "編集", "更新する", more="備考") + _screen(3, "検索", "検索する"),
]


@pytest.mark.parametrize("text", APART)
def test_values_of_two_things_under_one_name_do_not_contradict(text: str):
    assert reported(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "## 1. 設定\n\n窓口の受付開始時刻: 8:30\n\n## 2. 運用\n\n窓口の受付開始時刻: 9:00\n",
        "## 1. 検査\n\n- 備品名の最大長（10文字）\n\n## 2. 入力\n\n備品名の最大長は100文字とする。\n",
        "## 1. 期日\n\n| 項目 | 期日 |\n|---|---|\n| 貸出画面の公開 | 7/26 |\n\n"
        "## 2. 計画\n\n| 項目 | 期日 | 担当 |\n|---|---|---|\n| 貸出画面の公開 | 7/28 | 係員 |\n",
    ],
)
def test_values_of_one_thing_contradict(text: str):
    assert reported(text)
