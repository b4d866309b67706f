from __future__ import annotations

import re

import pytest

from knowledge.ontology.coverage import CoverageStatus, judge_topics
from knowledge.ontology.passages import has_substance
from knowledge.ontology.titles import names_topic
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.documents import BlockKind
from tests.shipped_topics import load_topics

DESIGN_CODES = [
    "purpose",
    "scope",
    "system_architecture",
    "functional_requirements",
    "nfr_performance",
    "nfr_availability",
    "nfr_security",
    "nfr_maintainability",
    "nfr_migration",
    "nfr_operation",
    "data_design",
    "interface_design",
    "glossary",
    "test_policy",
    "change_history",
]
PLAN_CODES = [
    "tp_purpose",
    "tp_scope",
    "tp_levels",
    "tp_environment",
    "tp_data",
    "tp_organisation",
    "tp_schedule",
    "tp_entry_criteria",
    "tp_exit_criteria",
    "tp_defect_management",
    "tp_risk",
    "tp_glossary",
    "tp_change_history",
    "tp_tools",
    "tp_references",
]


def topic(code: str):
    every = (*load_topics("basic_design"), *load_topics("test_plan"))
    return next(each for each in every if each.code == code)


def judge(text: str, code: str):
    blocks = markdown_blocks(text)
    topics = load_topics("test_plan" if code.startswith("tp_") else "basic_design")
    return next(j for j in judge_topics(text, build_sections(text, blocks), blocks, topics) if j.topic.code == code)


def status(text: str, code: str) -> str:
    return judge(text, code).status.value


def test_the_shipped_topics_are_those_of_the_contract_in_its_order():
    assert [each.code for each in load_topics("basic_design")] == DESIGN_CODES
    assert load_topics("requirements") == load_topics("detailed_design") == load_topics("basic_design")
    assert [each.code for each in load_topics("test_plan")] == PLAN_CODES
    assert all(each.code.startswith("gl_") for each in load_topics("guideline"))
    assert len(load_topics("guideline")) >= 10


@pytest.mark.parametrize("each", [*load_topics("basic_design"), *load_topics("test_plan")], ids=lambda each: each.code)
def test_every_topic_has_names_cues_and_an_example_in_both_styles(each):
    assert len(each.synonyms) >= 5
    assert each.cues
    assert all(re.compile(cue) for cue in each.cues)
    assert each.label_en
    assert each.elements_ja
    assert len(each.elements_ja) == len(each.elements_en)
    assert each.example
    assert each.example_polite
    assert each.expected_location
    assert each.severity in ("critical", "major", "minor")


@pytest.mark.parametrize(
    ("title", "code", "named"),
    [
        ("4.1 性能要件", "nfr_performance", True),
        ("第3章 非機能要件", "functional_requirements", False),
        ("機能要件トレーサビリティマトリクス", "functional_requirements", True),
        ("4.4 運用・保守要件", "nfr_maintainability", True),
        ("4.4 運用・保守要件", "nfr_operation", True),
        ("8. セキュリティ設計（案）", "nfr_security", True),
        ("FR-009: ユーザーインターフェース", "interface_design", False),
        ("FR-002: データ収集・整備機能", "data_design", False),
        ("1.2 各層の役割", "tp_organisation", False),
        ("体制と役割", "tp_organisation", True),
        ("A. テストデータ準備", "tp_data", True),
        ("更新メモ (2025-12-29)", "tp_change_history", False),
    ],
)
def test_headings_name_a_topic_as_a_whole_or_as_their_head(title, code, named):
    assert names_topic(title, topic(code)) is named


def test_a_heading_with_content_treats_its_topic():
    text = "# 設計書\n\n## 3. 性能\n\n応答は 3 秒以内とする。\n"

    judged = judge(text, "nfr_performance")

    assert judged.status is CoverageStatus.TREATED
    assert text[slice(*judged.span)] == "## 3. 性能"
    assert judged.section_path == ("設計書", "3. 性能")
    assert "3. 性能" in judged.reason_ja


@pytest.mark.parametrize(
    "body", ["", "TBD", "（後日記載予定）", "| 項目 | 値 |\n|---|---|\n| 応答時間 | - |", "- 未定"]
)
def test_a_heading_with_placeholders_only_is_empty(body):
    assert status(f"# 設計書\n\n## 3. 性能\n\n{body}\n\n## 4. 運用\n毎日見る。\n", "nfr_performance") == "empty"


def test_subsections_are_content_of_their_chapter():
    assert status("## 3. セキュリティ\n\n### 3.1 認証\n\n多要素認証とする。\n", "nfr_security") == "treated"


@pytest.mark.parametrize(
    ("passage", "code"),
    [
        ("検索の応答時間は 95 パーセンタイルで 3 秒以内とする。", "nfr_performance"),
        ("稼働率は月間 99.9% 以上とする。", "nfr_availability"),
        ("- **可用性**: 二つの系で動かし、片系で継続する", "nfr_availability"),
        (
            "| 品質特性 | 内容 |\n|---|---|\n| 保守性 | 変更は設定ファイルだけで行えるようにする |",
            "nfr_maintainability",
        ),
        ("現行システムのデータを一括移行する。", "nfr_migration"),
        ("| 用語 | 定義 |\n|---|---|\n| 申請者 | 申請する人 |", "glossary"),
    ],
)
def test_a_passage_that_states_something_treats_its_topic_without_a_heading(passage, code):
    text = f"# 設計書\n\n## 9. その他\n\n{passage}\n"

    judged = judge(text, code)

    assert judged.status is CoverageStatus.TREATED
    assert judged.section_path == ("設計書", "9. その他")


@pytest.mark.parametrize(
    "passage",
    [
        "性能や可用性に配慮する。",
        "例えば、応答時間は 3 秒以内とする、のように書く。",
        "```\n応答時間は 3 秒以内\n```",
        "│ 応答時間 3 秒 │",
        "## 目次\n\n1. [性能](#性能)\n2. [可用性](#可用性)",
        "## 変更履歴\n\n| 版 | 日付 | 内容 |\n|---|---|---|\n| 1.1 | 2026-01-06 | 応答時間を 3 秒以内に変更 |",
        "## 用語\n\n| 用語 | 定義 |\n|---|---|\n| 性能 | 応答時間 3 秒以内などの速さのこと |",
    ],
)
def test_named_in_passing_as_an_example_or_in_the_contents_is_not_treated(passage):
    assert status(f"# 設計書\n\n## 1. 概要\n\n文。\n\n{passage}\n", "nfr_performance") in ("mentioned", "missing")


def test_mentions_are_exact_places():
    text = "# 設計書\n\n## 1. 概要\n\n性能に配慮する。\n"

    judged = judge(text, "nfr_performance")

    assert judged.status is CoverageStatus.MENTIONED
    assert [text[slice(*place)] for place in judged.mentions] == ["性能"]


def test_the_purpose_of_one_test_level_is_not_the_plans():
    text = "# 計画書\n\n## 1. 単体テスト\n\n### 目的\n関数を確かめる。\n\n**目的**: 関数の確認\n"

    assert status(text, "tp_purpose") == "mentioned"
    assert status(text.replace("## 1. 単体テスト", "## 1. 概要"), "tp_purpose") == "treated"


def test_code_counts_as_content_and_an_empty_fence_does_not():
    assert has_substance("```python\nassert True\n```", BlockKind.CODE)
    assert not has_substance("```\n\n```", BlockKind.CODE)


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("１－１．更改の背景とねらい", "purpose"),
        ("A-2. In scope / Out of scope", "tp_scope"),
        ("(ア) 対象業務と除外事項", "scope"),
        ("第2編 第1章 システムの構成", "system_architecture"),
        ("③ 他システム連携", "interface_design"),
        ("ウ　現行データの引継ぎ", "nfr_migration"),
        ("４．１　着手の条件", "tp_entry_criteria"),
        ("４．２　完了の条件", "tp_exit_criteria"),
        ("４．３　バグの扱い", "tp_defect_management"),
        ("■ 実施環境", "tp_environment"),
        ("J. 想定される問題と対策", "tp_risk"),
        ("更新の記録", "change_history"),
        ("言葉の使い方", "glossary"),
        ("7. 起動手順", "nfr_operation"),
        ("権限とロール（案）", "nfr_security"),
        ("テーブルのスキーママイグレーション", "nfr_migration"),
        ("3 画面仕様（職員用）", "functional_requirements"),
        ("5.2 CSVフォーマット", "data_design"),
        ("エンドポイント一覧", "interface_design"),
        ("今回やらないこと", "scope"),
        ("障害時の対応ルール", "nfr_availability"),
        ("使用技術", "system_architecture"),
        ("不具合報告プロセス", "tp_defect_management"),
        ("事前準備", "tp_entry_criteria"),
        ("モックデータ", "tp_data"),
        ("E2Eテスト", "tp_levels"),
        ("７運用についての想定", "nfr_operation"),
        ("13. 検証戦略と保守観点", "nfr_maintainability"),
        ("1.3 システム形態", "system_architecture"),
        ("6. 外部依存サービス", "interface_design"),
        ("5. データ流れ", "data_design"),
        ("3.3 JSON仕様", "data_design"),
        ("機能スコープ", "functional_requirements"),
        ("7. 例外設計", "nfr_availability"),
    ],
)
def test_headings_name_topics_under_other_numbers_and_other_words(title, code):
    assert names_topic(title, topic(code))


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("6.3 セキュリティインシデント処理", "tp_defect_management"),
        ("FR-009: ユーザーインターフェース", "interface_design"),
        ("４．機能以外の要件", "functional_requirements"),
        ("各層の役割", "tp_organisation"),
        ("環境変数", "tp_environment"),
        ("データの保存期間", "data_design"),
        ("5.4 前提条件", "tp_entry_criteria"),
        ("4. カバレッジ目標", "tp_exit_criteria"),
        ("7.3 デプロイメント構成", "nfr_operation"),
        ("3.4 UI/UX機能", "interface_design"),
        ("FR-014: 申請の振り分け", "interface_design"),
    ],
)
def test_headings_about_something_else_name_no_topic(title, code):
    assert not names_topic(title, topic(code))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("業務処理のサーバーは2台で冗長化し、1台が止まっても受付を続けられるようにします。", "nfr_availability"),
        ("画面の表示は2秒以内、集計の出力は30秒以内とします。", "nfr_performance"),
        ("既存のデータベースにある過去5年分の申請を、変換ツールで取り込みます。", "nfr_migration"),
        ("| 番号 | 区分 | 要件 |\n|---|---|---|\n| NFR.3 | 情報セキュリティ | 所属単位で閲覧を制限 |", "nfr_security"),
        ("| 機器 | 数量 | 用途 |\n|---|---|---|\n| 業務機 | 1 | 処理の実行 |", "system_architecture"),
    ],
)
def test_passages_under_unusual_headings_state_a_topic(text, code):
    assert status(f"# 設計書\n\n## その他\n\n{text}\n", code) == "treated"


@pytest.mark.parametrize(
    "content", ["別途協議", "要検討", "（調整中）", "記載予定", "テストについては別途作成するテスト計画書による。"]
)
def test_more_words_that_only_hold_a_place_are_no_content(content):
    assert status(f"# 設計書\n\n## 保守性\n\n{content}\n", "nfr_maintainability") == "empty"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("１　趣旨\n\n本稼働の前に職員の目で確かめる。", "tp_purpose"),
        ("４　日程\n\n| 月日 | 内容 |\n|---|---|\n| 3月3日 | 内部テスト |", "tp_schedule"),
        ("８　始める前に満たすべきこと\n\n報告書が提出されていること。", "tp_entry_criteria"),
        ("10　不具合が見つかったとき\n\n連絡票に記入する。", "tp_defect_management"),
        ("【データモデル】\n\n受付と審査の二つの表を持つ。", "data_design"),
        ("改版履歴\n\n| 版数 | 改版日 | 改版者 |\n|---|---|---|\n| 2.0 | 2024年5月10日 | 開発一課 |", "change_history"),
    ],
)
def test_a_short_line_over_content_heads_it_as_a_heading_does(text, code):
    assert status(f"計画について\n\n{text}\n", code) == "treated"


@pytest.mark.parametrize(
    "text",
    ["データ移行\n", "データ移行\n\n# 次の章\n\n文。\n", "データ移行は省く。\n\n文。\n", "データ移行\n\n（調整中）\n"],
)
def test_a_line_over_nothing_or_a_sentence_heads_nothing(text):
    assert status(f"設計について\n\n{text}", "nfr_migration") != "treated"


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("Revision log", "change_history"),
        ("3. Features", "functional_requirements"),
        ("6.5 Observability", "nfr_operation"),
        ("What's in / what's out", "scope"),
    ],
)
def test_english_headings_of_mixed_documents_name_topics(title, code):
    assert names_topic(title, topic(code))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("nfr_security", "# 4 非機能要件\n\n- 帳票は夜間に作る。\n- 窓口端末では職員の認証は行わない。\n"),
        ("nfr_availability", "# 6 機器\n\n予備機は置かず、サーバーの二台による冗長構成は採らない。\n"),
        ("nfr_operation", "# 3 前提条件\n\n- 休日の監視は保守業者が受け持つ。\n"),
        ("nfr_maintainability", "# 3 前提条件\n\n- ソースは庁内のリポジトリで版管理を行う。\n"),
        ("system_architecture", "# 2 前提\n\n- 開発言語はJavaを採用する。\n"),
        ("system_architecture", "# 2 前提\n\n- 読取機は窓口のサーバーに直接接続する。\n"),
        ("data_design", "# 3 機能\n\n- 貸出履歴（職員番号、貸出日、返却日）を保存する。\n"),
        ("interface_design", "# 3 機能\n\n- シリアル接続の秤により重さを読み取るものとし、値は画面で確認すること。\n"),
        ("interface_design", "# 3 機能\n\n- 他のサービスと夜間に連携する。\n"),
        ("tp_schedule", "# 1 概要\n\n**対象**: 台帳\n**試験環境**: 検証機\n**実施期間**: 10月第2週から第3週まで\n"),
        ("tp_schedule", "# 2 段階\n\n| 段階 | 実施時期 |\n|---|---|\n| 単体 | 第2週 |\n| 結合 | 第3週 |\n"),
        (
            "nfr_security",
            "# 2 一覧\n\n| No | 大分類 | 中分類 | 内容 |\n|---|---|---|---|\n| 1 | 共通 | 認証 | 職員の鍵で開ける |\n",
        ),
        (
            "nfr_performance",
            "# 2\n\n| 背景 | 窓口の待ちが長い日が続いている |\n|---|---|\n| 性能 | 札は三秒までに出ること |\n",
        ),
        ("purpose", "# 1 企画の概要\n\n- **目的**：\n  1. 待ち時間を短くする\n  2. 札を減らす\n"),
        ("purpose", "# 1 概要\n\n- 名称: 札\n- 目的: 窓口で待つ人を減らす\n"),
        ("nfr_security", "# 2 前提\n\n- IP制限: 許可リストを基本とする\n"),
        ("functional_requirements", "# 4 受付\n\n**処理フロー:**\n\n1. 番号を採る\n2. 札を出す\n"),
        ("nfr_security", "# 2 設定\n\n| 項目 | 値 |\n|---|---|\n| CORS | 指定なし。庁内の画面のみ許可 |\n"),
        ("nfr_security", "# 2 設定\n\n接続の秘密鍵は環境変数で渡し、リポジトリには含めない。\n"),
        ("nfr_maintainability", "# 2 構造\n\n帳票の様式は差し替えが容易な定義として切り出す。\n"),
        ("scope", "# 1 概要\n\n- **対象外**: 国民健康保険の窓口\n"),
        (
            "tp_entry_criteria",
            "# 3 計画\n\n| 工程 | 期間 | 前提条件 |\n|---|---|---|\n| 結合 | 2週 | 単体が済んでいる |\n",
        ),
        (
            "tp_organisation",
            "# 3 区分\n\n| 区分 | 内容 | 担当チーム |\n|---|---|---|\n| 画面 | 遷移の確認 | 受付班 |\n",
        ),
        ("tp_data", "# 3 準備\n\nダミーデータを投入して件数をそろえる。\n"),
        ("tp_scope", "# 2 受付\n\n受付のテスト（対象: ReceptionController）\n"),
        ("scope", "# 3 帳票\n\nMVPでは画面と一覧のみとする。\n"),
        ("system_architecture", "# 1 概要\n\n社内のWebアプリとして再構築する。\n"),
        ("nfr_performance", "# 6 接続\n\n| 項目 | 値 |\n|---|---|\n| 打ち切り | 10秒（回答速度の要件による） |\n"),
        ("nfr_security", "# 2 利用\n\n職員はログインしなければ台帳を見ることができない。\n"),
        ("nfr_operation", "# 2 連携\n\n毎営業日6時に作成される札の一覧を読む。\n"),
        ("nfr_operation", "# 2 手段\n\n| 区分 | 手段 |\n|---|---|\n| 監視 | 庁内の表示盤 |\n"),
        ("purpose", "# 1 概要\n\n台帳の二重入力を解消するため、受付の画面を再構築する。\n"),
        ("test_policy", "# 2 開発\n\n取り込みの前に試験の通過が必須である。\n"),
        ("tp_tools", "# 5 性能\n\n| 対象 | 手段 |\n|---|---|\n| メモリ | OS付属のリソースモニター |\n"),
    ],
)
def test_a_topic_is_treated_by_a_statement_without_a_heading(code, text):
    judged = judge(text, code)
    assert judged.status is CoverageStatus.TREATED
    assert judged.span
    assert not judged.by_heading


@pytest.mark.parametrize(
    ("code", "text"),
    [
        # Open, wished for, or reported of what is there today.
        ("nfr_security", "# 4 非機能要件\n\n- 職員の認証は今後検討する。\n"),
        ("nfr_availability", "# 1 現状の課題\n\n現在の冗長構成は古く、片系しか動かない。\n"),
        ("nfr_operation", "# 4 要件\n\n例えば、夜間の監視は行わない。\n"),
        # Deliverables, named and not treated.
        ("tp_defect_management", "# 6 報告\n\n- 不具合管理表（随時更新）\n- 最終報告書\n"),
        # A sentence that says where the list is kept, the sample of an interface, a filter on what is shown.
        ("change_history", "# 1 概要\n\n変更履歴は版管理の記録を正とする。\n"),
        ("nfr_performance", '# 3 API\n\n**レスポンス:** `{"ok": true}`\n'),
        ("nfr_performance", '# 3 API\n\n**レスポンス（JSON）:**\n\n```json\n{"ok": true}\n```\n'),
        ("nfr_performance", "# 3 表示\n\n呼び出しの表示は60秒以内のみとする。\n"),
        # What a document is about is no statement of its scope, and the purpose of a part is not the document's.
        ("tp_scope", "# 1 概要\n\n- 対象システム: 札の発行と呼び出し\n"),
        ("purpose", "# 4 受付の画面\n\n- 目的: 札の番号を大きく出す\n"),
        # What one test case presupposes is not the plan's.
        ("tp_entry_criteria", "# 4\n\n## TC-01 受付\n\n**事前準備**: 利用者を一人登録しておくこと\n"),
        ("tp_purpose", "# 4 単体テスト\n\n**目的:**\n\n部品の動きを確かめる。\n"),
        # A column of cases says nothing of the plan.
        ("tp_exit_criteria", "# 4 ケース\n\n| ID | 手順 | 判定基準 |\n|---|---|---|\n| A-1 | 開く | 一覧が出る |\n"),
        ("tp_schedule", "# 2 段階\n\n| 段階 | 実施時期 |\n|---|---|\n| 単体 | 未定 |\n"),
        # A product says nothing on the data, and a cover's edition is no history.
        ("data_design", "# 2 構成\n\n- データベース：Amazon DynamoDB\n"),
        (
            "change_history",
            "# 表紙\n\n| 文書名 | 版数 | 作成日 | 作成者 |\n|---|---|---|---|\n| 仕様書 | 1.0 | 4/1 | 佐藤 |\n",
        ),
    ],
)
def test_a_topic_is_not_treated_by_a_passage_that_settles_nothing(code, text):
    assert judge(text, code).status in (CoverageStatus.MENTIONED, CoverageStatus.MISSING)


def test_the_title_of_the_document_is_no_chapter_of_another_topic():
    text = "# 監視・障害対応設計書\n\n## 1. {0}\n\n### 1.1 スコープ\n\n| 対象 | 内容 |\n|---|---|\n| 窓口 | 受付 |\n"

    assert judge(text.format("位置づけ"), "scope").status is CoverageStatus.TREATED
    assert judge(text.format("監視"), "scope").status is not CoverageStatus.TREATED


@pytest.mark.parametrize(
    "text",
    [
        "# 受付システム 移行の手引き\n\n目的: 窓口の台帳を新しい仕組みへ移す手順を示す。\n\n## 手順\n\n順に行う。\n",
        "# 受付システム 画面設計書\n\n| 版 | 1.1（2026-07-03） |\n| --- | --- |\n"
        "| 目的 | 各画面の項目と遷移を定める |\n\n"
        "# 1. 共通事項\n\n上に見出しを置く。\n",
        "## 表紙\n\n受付システム\n\n## 要件定義書\n\n"
        "| 項目 | 内容 |\n| --- | --- |\n| システムの目的 | 窓口の待ち時間を短くする |\n",
    ],
)
def test_a_label_right_below_the_first_heading_is_of_the_whole_document(text):
    assert status(text, "purpose") == "treated"


def test_a_label_below_a_later_chapter_is_of_that_chapter():
    text = "# 受付システム 画面設計書\n\n# 1. 共通事項\n\n目的: 上に見出しを置いて迷わせないこと。\n"

    assert status(text, "purpose") != "treated"
