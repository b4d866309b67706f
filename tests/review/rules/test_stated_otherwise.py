"""Versions, acts, members of a name, methods of endpoints and shares that a document states in two ways."""

from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input, table

RULE = "consistency.conflicting_value"


def kinds(*chapters: str) -> list[str]:
    text = "# 設計書\n\n" + "\n\n".join(
        f"## {number}. 章{number}\n\n{text}\n" for number, text in enumerate(chapters, 1)
    )
    return [found.data.get("kind", "") for found in outcome_of(RULE, rule_input(text)).findings]


API = "| メソッド | パス |\n|---|---|\n| POST | /tickets |\n| GET | /waiting |"


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("version", "サーバーは Python 3.9 で動かす。", "| 部品 | 版 |\n|---|---|\n| 言語 | Python 3.11 |"),
        ("version", "PostgreSQL 15 を使う。", "- データベース: PostgreSQL 13.4"),
        ("version", "Node.js 20以上を前提とする。", "実行環境は Node.js 18.2 である。"),
        ("act", "利用者ごとのアクセスログは保存しない。", "障害の調査のため、アクセスログを保存する。"),
        ("act", "端末の位置情報は使用しない。", "最寄りの窓口を示すため、端末の位置情報を利用する。"),
        ("members", "関係部署とは、市民課、税務課、福祉課のことをいう。", "- 関係部署：市民課、税務課、会計課"),
        ("method", API, "画面は `GET /tickets` を呼び、札を出す。"),
        (
            "copied",
            "| 機能名 | 概要 |\n|---|---|\n| 取消機能 | 受け付けた札を取り消して待ちから外す |",
            "| 機能名 | 概要 |\n|---|---|\n| 集計機能 | 受け付けた札を取り消して待ちから外す |",
        ),
        (
            "row",
            "| 環境 | サーバー | 台数 |\n|---|---|---|\n| 本番 | 受付サーバー | 2 |\n| 検証 | 試験サーバー | 1 |",
            "| 環境 | サーバー | 版 |\n|---|---|---|\n| 本番 | 共用サーバー | 2012 |\n| 検証 | 試験サーバー | 2012 |",
        ),
        ("share", "年に一度だけ止まる。稼働率は0.995（99.9%）である。", "文。"),
    ],
)
def test_what_two_places_state_otherwise_is_reported(kind, one, other):
    assert kinds(one, other) == [kind]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("サーバーは Python 3.11 で動かす。", "- 言語: Python 3.11.4"),
        ("Python 3.9以上で動く。", "本番では Python 3.11 を使う。"),
        ("Python 3.9、Python 3.11 で確かめる。", "配布物は Python 3.11 で作る。"),
        ("現行は PostgreSQL 11 である。", "PostgreSQL 11 から PostgreSQL 15 へ移行する。"),
        ("閲覧のみの利用者についてはアクセスログを保存しない。", "障害の調査のため、アクセスログを保存する。"),
        ("監視の通知は行わない。", "利用者への通知を行う。"),
        ("関係部署とは、市民課、税務課などをいう。", "- 関係部署：市民課、会計課"),
        ("関係部署とは、市民課、税務課をいう。", "- 関係部署：税務課、市民課"),
        (API, "画面は `POST /tickets` を呼び、`DELETE /drafts` は呼ばない。"),
        (
            "| 名称 | 場所 | 広さ |\n|---|---|---|\n| 受付 | 一階 | 20 |\n| 倉庫 | 二階 | 30 |",
            "| 名称 | 場所 | 広さ |\n|---|---|---|\n| 受付 | 三階 | 20 |\n| 倉庫 | 二階 | 30 |",
        ),
        ("稼働率は0.997（約99.7%）である。", "歩留まりは0.5（50%）である。"),
        (
            "| 機能名 | 概要 |\n|---|---|\n| 札の取り消し | 受け付けた札を取り消して待ちから外す |",
            "| 機能名 | 概要 |\n|---|---|\n| 札取消機能 | 受け付けた札を取り消して待ちから外す |",
        ),
        (
            "| 機能名 | 概要 |\n|---|---|\n| ユーザー登録 | 窓口を使う者の氏名と所属を登録する |",
            "| 機能名 | 概要 |\n|---|---|\n| 利用者登録 | 窓口を使う者の氏名と所属を登録する |",
        ),
    ],
)
def test_what_agrees_or_is_said_of_something_else_passes(one, other):
    assert kinds(one, other) == []


def findings(rule: str, text: str):
    return outcome_of(rule, rule_input(text)).findings


def test_a_plain_number_that_identifies_two_things_is_found_and_one_that_groups_is_not():
    rows = "".join(
        f"| {number} | {name} |\n" for number, name in [(11, "受入"), (12, "払出"), (13, "照会"), (14, "印刷")]
    )
    listed = "# 機能\n\n| 機能ID | 機能名 |\n|---|---|\n" + rows

    found = findings("traceability.duplicate_definition", listed + "| 13 | 集計 |\n")

    assert [each.data["identifiers"] for each in found] == [["機能ID 13"]]
    assert not findings("traceability.duplicate_definition", listed)
    assert not findings("traceability.duplicate_definition", listed + rows)


def test_a_number_in_parts_that_stands_twice_where_one_is_left_out_is_found():
    rows = ["3-1|起動", "3-2|登録", "3-2|取消", "3-4|終了", "4-1|印刷"]

    (found,) = findings("traceability.duplicate_definition", f"# 試験\n\n{table('ケースNo|操作', *rows)}\n")

    assert found.data["identifiers"] == ["3-2"]
    assert not findings(
        "traceability.duplicate_definition", f"# 試験\n\n{table('ケースNo|操作', *rows[:2], *rows[3:])}\n"
    )
    # The rows of one case may have its number each.
    goes_on = table("ケースNo|操作", *rows[:3], "3-3|終了", "4-1|印刷")
    assert not findings("traceability.duplicate_definition", f"# 試験\n\n{goes_on}\n")


def test_an_identifier_beside_two_names_is_found_and_one_that_groups_is_not():
    rows = ["氏名|userName", "電話1|userPhone1", "電話2|userPhone1", "住所|userAddress", "性別|userSex", "備考|note"]
    groups = ["一覧|listScreen", "一覧|listScreen", "登録|editScreen", "確認|viewScreen", "完了|doneScreen"]

    (found,) = findings("traceability.duplicate_definition", f"# 項目\n\n{table('項目名|項目ID', *rows)}\n")

    assert found.data["identifiers"] == ["userPhone1"]
    assert not findings("traceability.duplicate_definition", f"# 画面\n\n{table('画面名|画面ID', *groups)}\n")


def test_the_head_of_a_form_defines_its_identifier():
    forms = "".join(
        f"| ユースケースID<br>名前 | UC-00{number}<br>{name} |\n|---|---|\n| 事後条件 | {name}が済む |\n\n"
        for number, name in [(1, "受付"), (2, "取消"), (2, "照会")]
    )

    (found,) = findings("traceability.duplicate_definition", f"# ユースケース\n\n{forms}")

    assert found.data["identifiers"] == ["UC-002"]
    assert not findings("traceability.undefined_reference", f"# ユースケース\n\n{forms}")


def test_a_link_to_a_file_is_a_reference_and_one_that_leads_nowhere_is_found():
    assert outcome_of("traceability.dangling_reference", rule_input("# 章\n\n[要件](要件.md)を参照。\n")).examined == 1
    (found,) = findings("traceability.dangling_reference", "# 章\n\n[要件](TBD)を参照。[構成](構成.md)も。\n")
    assert found.data["references"] == ["[要件](TBD)"]


def test_an_edition_that_an_empty_history_does_not_record_is_a_mismatch():
    table = "変更履歴\n\n| No | 変更内容 | 変更日 |\n|---|---|---|\n"

    (found,) = findings("document.version_mismatch", f"# 要件定義書\n\n第3.0版\n\n{table}\n\n## 1. 目的\n\n文。\n")

    assert found.data["field"] == "version"
    assert not findings("document.version_mismatch", f"# 要件定義書\n\n第1.0版\n\n{table}\n\n## 1. 目的\n\n文。\n")


@pytest.mark.parametrize(("days", "count"), [("6月9日～5月30日", 1), ("5月9日～5月30日", 0), ("12月20日～1月10日", 0)])
def test_a_period_without_a_year_ends_after_it_begins(days, count):
    assert len(findings("consistency.date_order", f"# 日程\n\n設計書の作成: {days}\n")) == count


def test_labels_of_a_cover_without_a_value_are_found():
    cover = (
        "| 文書 | 作成者 | 佐藤 | 作成日 | 2024/4/1 |\n|---|---|---|---|---|\n|  | システム名称 | 承認者 | 田中 |  |\n"
    )

    (found,) = findings("coverage.empty_section", f"{cover}\n# 概要\n\n文。\n")

    assert found.data["section"] == "システム名称"
    stamps = "| 作成者 | 承認者 | 作成日 |\n|---|---|---|\n| 佐藤 | 田中 | 4/1 |\n"
    assert not findings("coverage.empty_section", f"{stamps}\n# 概要\n\n文。\n")


def test_a_chapter_whose_title_is_body_text_fills_the_hole_in_the_numbers():
    text = "# 要件\n\n## 1.1 目的\n\n文。\n\n2. 計画\n\n文。\n\n## 2.1 日程\n\n文。\n\n## 3.5秒\n\n文。\n"

    assert not findings("structure.number_order", text)


def test_a_name_with_and_without_a_middle_dot_is_one_name_in_two_spellings():
    (found,) = findings("terminology.variant", "# 帳票\n\n入庫・残高リストを出す。\n\n入庫残高リストは毎月出す。\n")

    assert set(found.data["variants"]) == {"入庫・残高リスト", "入庫残高リスト"}
    assert not findings("terminology.variant", "# 体制\n\n設計・開発を委託する。\n\n設計開発の体制を置く。\n")


def test_a_contents_list_holds_no_chapters_whatever_their_level():
    text = "# 要件\n\n## 目次\n\n１ 概要 … 2\n２ 日程 … 3\n\n### １概要\n\n順番が6月9日～5月30日の日程で決まる。\n"

    assert len(findings("consistency.date_order", text)) == 1


def test_rows_that_count_up_hold_each_number_once():
    rows = "".join(f"| {number} | 画面を開く{name} |\n" for name, number in enumerate("１２３３４５６７８"))

    (found,) = findings("traceability.duplicate_definition", f"# 試験\n\n| No. | 操作 |\n|---|---|\n{rows}")

    assert found.data["identifiers"] == ["No. 3"]
    restarted = "".join(f"| {number} | 操作{number} |\n" for number in (*range(1, 9), *range(1, 3)))
    assert not findings("traceability.duplicate_definition", f"# 試験\n\n| No. | 操作 |\n|---|---|\n{restarted}")


def test_a_history_without_editions_or_out_of_order_is_found():
    head = "# 更新履歴\n\n| 日付 | 版 | 内容 |\n|---|---|---|\n"
    days = ["2024/4/1", "2024/5/1", "2024/6/1", "2024/5/20", "2024/7/1"]
    mixed = head + "".join(f"|{day} | | 追記 |\n" for day in days)

    assert [found.evidence for found in findings("document.missing_history", mixed)]
    assert len(findings("consistency.date_order", mixed)) == 1
    told = head + "|2024/4/1 | 1.0 | 新規作成 |\n|  |  |  |\n"
    assert not findings("document.missing_history", told)
    assert outcome_of("consistency.date_order", rule_input(told)).examined == 1


def test_marks_of_what_is_still_to_be_written_are_found():
    (found,) = findings("coverage.empty_section", "# 日程\n\n//TODO: 確認\n\n月次で開く（〇曜日）。\n")

    assert len(found.evidence) == 2
    assert not findings("coverage.empty_section", "# 一覧\n\nTODO アプリの画面を示す。\n")


def test_a_long_name_with_a_letter_left_out_is_found():
    slip = "ReservationConfirmation を呼ぶ。ReservationConfirmation は札を出す。ReservationConfirmation を待つ。"

    (found,) = findings("terminology.variant", f"# 部品\n\n{slip}\n\nReservationConfimation を止める。\n")

    assert "ReservationConfimation" in found.data["variants"]
    assert not findings("terminology.variant", f"# 部品\n\n{slip}\n\nReservationConfirmations を止める。\n")


def test_the_parts_of_an_annex_are_no_identifiers():
    annex = "# 設計\n\n## 付録\n\n### A.1 構成図\n\n文。\n\n### A.2 配置図\n\n文。\n"

    assert not findings("traceability.unreferenced_definition", annex)


def test_a_first_edition_without_a_history_agrees_with_itself():
    cover = "# 試験設計書\n\n| 文書名 | 札 |\n|---|---|\n| バージョン | {0} |\n\n## 1. 方針\n\n文。\n"

    assert outcome_of("document.version_mismatch", rule_input(cover.format("1.0"))).examined == 1
    assert outcome_of("document.version_mismatch", rule_input(cover.format("2.3"))).skip_reason


def test_a_test_design_does_not_name_its_upstream_by_its_own_name():
    target = rule_input("# 札のテスト設計書\n\n本テスト設計書は観点を示す。\n", document_type="test_plan")

    assert outcome_of("traceability.no_upstream_reference", target).findings
