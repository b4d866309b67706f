from __future__ import annotations

from dataclasses import replace

import pytest

from review.types import RelatedDocument
from tests.review.markdown import document, outcome_of, rule_input, table

RULE = "consistency.conflicting_value"


def findings(*chapters: str):
    return outcome_of(RULE, rule_input(document(*chapters))).findings


@pytest.mark.parametrize(
    ("kind", "one", "other", "same"),
    [
        (
            "number",
            "操作ログは1年間保存する。",
            table("対象 | 保存期間", "操作ログ | 3年間", "申請 | 10年"),
            "- 操作ログの保管期間：12か月",
        ),
        (
            "number",
            "パスワードは8文字以上とする。",
            "パスワードの長さは12文字以上であること。",
            "パスワードは８文字以上であること。",
        ),
        (
            "date",
            "本番稼働日は2027年4月1日とする。",
            table("節目 | 期日", "本番稼働 | R9.5.6"),
            "令和9年4月に本番稼働を開始する。",
        ),
        (
            "clock",
            "夜間バッチは22時に開始する。",
            "- 夜間バッチの開始時刻：23:30",
            table("処理 | 開始時刻", "夜間バッチ | 午後10時"),
        ),
        (
            "clock",
            "窓口の受付時間は9:00～17:00とする。",
            table("項目 | 時間", "窓口の受付時間 | 8:30～17:15"),
            "- 窓口の受付時間：午前9時から午後5時まで",
        ),
        ("count", "本システムは24画面で構成する。", "- 画面数：28", "開発対象の画面は全２４画面である。"),
        (
            "name",
            "本システムの主管部署は情報政策課である。",
            "- 主管部署：市民課",
            table("項目 | 内容", "主管部署 | 企画部情報政策課"),
        ),
        (
            "name",
            "障害の一次切り分けは運用事業者が行う。",
            table("作業 | 担当", "障害の一次切り分け | ヘルプデスク"),
            "- 障害の一次切り分けの担当：運用事業者",
        ),
        (
            "classification",
            table("要件ID | 要件 | 優先度", "REQ-901 | 帳票の再発行 | 高", "REQ-902 | 取消 | 低"),
            "REQ-901の優先度は中とする。",
            table("ID | 優先度 | 対応章", "REQ-901 | 高 | 5章"),
        ),
        ("order", "申請は、受付、審査、決裁の順に処理する。", "流れ：受付→決裁→審査", "1. 受付\n2. 審査\n3. 決裁"),
    ],
)
def test_what_is_said_of_one_thing_in_two_ways_is_reported_and_other_notations_are_not(kind, one, other, same):
    (found,) = findings(one, other)

    assert found.data["kind"] == kind
    assert len(found.evidence) == 2
    assert findings(one, same) == ()


def test_a_sentence_said_again_with_another_amount_is_reported():
    said = "受託者は、会議の終了後{}以内に議事録を作成し、主管課の承認を得ること。"

    (found,) = findings(said.format("3 日"), "なお、" + said.format("5 日"))

    assert [span.end > span.start for span in found.evidence] == [True, True]
    assert findings(said.format("3 日"), said.format("３日")) == ()


def test_things_of_one_class_with_two_numbers_contradict():
    (found,) = findings("重大な不具合が0件であること。", "重大な不具合は2件までとする。")

    assert found.data["quantity"] == "重大な不具合"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("窓口の受付時間は平日9:00～17:00とする。", "窓口の受付時間は休日10:00～15:00とする。"),
        ("本番環境のWebサーバは4台とする。", "検証環境のWebサーバは1台とする。"),
        ("現行システムの台帳データの保存期間は3年である。", "次期システムの台帳データの保存期間は5年とする。"),
        ("処理対象データが0件の場合は終える。", "処理対象データが1件以上の場合は続ける。"),
        (table("項目 | 現行 | 次期", "帳票の種類数 | 8種類 | 12種類"), "次期の帳票の種類数は12種類である。"),
        ("- 優先度: 高", "- 優先度: 低"),
        ("重大な不具合が0件であること。", "残る軽微な不具合は5件以下とする。"),
        ("重大な不具合件数は0件以下とする。", "軽微な不具合件数は5件以下とする。"),
        ("小さい帳票は3種類とする。", "大きな帳票は2種類とする。"),
        ("検索画面の応答時間は平均2秒以内とする。", "検索画面の応答時間は最大5秒以内とする。"),
        ("例えば、通知メールの再送間隔は5分とする。", "通知メールの再送間隔は10分とする。"),
    ],
)
def test_other_conditions_records_and_examples_are_no_contradiction(one, other):
    assert findings(one, other) == ()


def test_captions_and_the_brackets_of_headings_are_read_and_their_numbers_are_not():
    text = document(
        "同時接続数は300人とする。",
        "表3 同時接続数（500人）の内訳\n\n" + table("区分 | 人数", "職員 | 10人", "住民 | 20人"),
        "### 3.1 操作ログの保存期間（5年）\n\n操作ログは3年間保存する。\n\n### 3.2 画面構成\n\n次に示す。",
        "### 4.2 画面構成\n\n次に示す。",
    )

    found = outcome_of(RULE, rule_input(text)).findings

    assert [each.data["quantity"] for each in found] == ["同時接続数", "操作ログの保存期間"]


def test_a_heading_of_results_is_a_condition():
    text = "# 計画書\n\n## 1. 現在の状況\n\n- 命令網羅率: 46%\n\n## 2. 目標\n\n" + table(
        "種別 | 目標値", "命令網羅率 | 85%"
    )

    assert outcome_of(RULE, rule_input(text)).findings == ()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("操作ログは1年間保存する。", "操作ログの保存期間は3年間とする。"),
        (
            table("画面ID | 画面名 | 概要", "SCR-901 | 申請入力 | 利用者"),
            table("画面ID | 画面名 | 概要", "SCR-901 | 審査 | 職員"),
        ),
        ("試験は、単体、結合、総合の順に行う。", "工程：単体→総合→結合"),
    ],
)
def test_a_related_document_that_says_otherwise_is_quoted(ours, theirs):
    other = rule_input(document(theirs), document_type="requirements")
    related = RelatedDocument(
        document_id="doc_r",
        title="要件定義書",
        document_type="requirements",
        text=other.text,
        sections=other.sections,
        blocks=other.blocks,
    )

    (found,) = outcome_of(RULE, replace(rule_input(document(ours)), related=(related,))).findings

    assert [span.document for span in found.evidence] == ["", "doc_r"]


def test_the_number_of_a_table_counts_nothing():
    assert findings("表 2.1 システム機能要件一覧", "表 2.2 システムで扱う情報") == ()
