from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input


def findings(text: str, **params):
    return outcome_of("wording.ambiguous", rule_input(text, params=params)).findings


def by_class(text: str, **params):
    return {finding.data["class"]: finding.data["expressions"] for finding in findings(text, **params)}


def test_vague_words_in_a_requirement_are_one_finding_per_class():
    text = """## 4.3 可用性要件

| ID | 要件 | 説明 |
|---|---|---|
| NFR-007 | 冗長性 | 十分な冗長性 |
| NFR-008 | 復旧 | 円滑な切替え |
"""

    (found,) = findings(text)

    assert found.data["expressions"] == {"十分な": 1, "円滑な": 1}
    assert [text[span.start : span.end] for span in found.evidence] == ["十分な", "円滑な"]
    assert "十分な冗長性" in found.suggestion.content.ja


def test_a_sentence_that_obliges_is_a_requirement_wherever_it_stands():
    assert by_class("障害時は必要に応じて通知するものとする。") == {"discretion": {"必要に応じ": 1}}
    assert by_class("画面は適宜見直した。" + "操作の説明を続ける。" * 300) == {}


def test_the_row_of_a_risk_is_no_requirement():
    rows = "| R1 | 情報漏えい | 設定等の誤りで、大量の通信が起きる。 |\n| R2 | 停止 | 復旧に手間取る。 |\n"

    assert by_class(f"## 想定リスク\n\n| ID | リスク | 説明 |\n|---|---|---|\n{rows}") == {}


def test_words_that_only_look_vague_are_left_alone():
    text = "## 要件\n\n- 均等に配ること。同等の等級であること。値が等しいこと。\n- 十分条件、適切性を記録すること。\n"

    assert findings(text) == ()


def test_a_name_that_is_being_defined_and_quotations_are_left_alone():
    text = "## 要件\n\n申請者等という。以下「利用者等」という。対象は「書類等」とすること。\n"

    assert findings(text) == ()


def test_lists_without_an_end_count_when_dense():
    dense = "画面、帳票等を作る。電話、通知など使う。" * 5

    assert by_class(dense)["open_list"] == {"等": 5, "など": 5}
    assert by_class(dense, density_per_1000=10_000) == {}


def test_the_density_in_the_message_is_that_of_the_places_it_counts():
    text = "画面、帳票等を作る。" * 5 + "電話等を使うこと。"
    (dense,) = findings(text)
    (obliging,) = findings(text, density_per_1000=10_000)

    assert (dense.data["in_requirements"], sum(dense.data["expressions"].values())) == (1, 6)
    assert (obliging.data["in_requirements"], sum(obliging.data["expressions"].values())) == (1, 1)
    assert obliging.data["density_per_1000"] == pytest.approx(dense.data["density_per_1000"] / 6, abs=0.01)


def test_the_example_follows_the_documents_style():
    plain = findings("## 要件\n\n十分な容量とする。記録を残す。\n")[0].suggestion.example
    polite = findings("## 要件\n\n十分な容量とします。記録を残します。\n")[0].suggestion.example

    assert plain.endswith("とする。")
    assert polite.endswith("とします。")


def test_params_narrow_classes_and_allow_expressions():
    text = "## 要件\n\n- 適切に記録し、十分な容量を持つこと。\n"

    assert by_class(text, classes=["degree"]) == {"degree": {"十分な": 1}}
    assert by_class(text, ignore=["適切に"]) == {"degree": {"十分な": 1}}


def test_in_a_design_a_plain_statement_that_leaves_it_to_the_reader_is_vague():
    rule, text = "wording.ambiguous", "# 書\n\n## 画面遷移\n\n入力の誤りがあれば、適宜、エラーを表示する。\n"
    said = {kind: outcome_of(rule, rule_input(text, document_type=kind)) for kind in ("basic_design", "test_plan")}

    assert [list(found.data["expressions"]) for found in said["basic_design"].findings] == [["適宜"]]
    assert said["test_plan"].findings == ()


def test_a_time_without_a_figure_is_vague_in_a_requirement_unless_the_sentence_gives_one():
    assert by_class("ログは定期的に確認するものとする。") == {"vague_time": {"定期的": 1}}
    assert by_class("ログは定期的に（毎週月曜）確認するものとする。") == {}
    assert by_class("ログは早急に、3営業日以内に確認すること。") == {}


def test_an_expected_result_has_to_say_what_is_seen():
    table = "| No | テスト項目 | 期待結果 |\n|---|---|---|\n"
    vague = rule_input(
        table + "| 1 | 集計 | 正しく表示される |\n| 2 | 集計 | 想定どおり動く |\n", document_type="test_plan"
    )
    told = rule_input(
        table + "| 1 | 集計 | 正しく「3 件」と出る |\n| 2 | 値が正しくない場合 | 警告 |\n", document_type="test_plan"
    )

    (found,) = outcome_of("wording.ambiguous", vague).findings
    assert found.data["expressions"] == {"正しく": 1, "想定どおり": 1}
    assert outcome_of("wording.ambiguous", told).findings == ()
    assert by_class(table + "| 1 | 集計 | 正しく表示される |\n") == {}


def test_what_another_cell_of_the_row_expects_decides_a_test():
    table = "# テスト仕様書\n\n| 番号 | 確認内容 | 期待結果 | 判定 |\n|---|---|---|---|\n"

    rows = "| 1 | 貸出数が正しく読める | 12 | OK |\n| 2 | 返却日が正しく消える |  | OK |\n"
    last = "| 3 | 返却日 | 5月2日として正しく出る | |\n"
    (found,) = outcome_of("wording.ambiguous", rule_input(table + rows + last, document_type="test_plan")).findings

    assert found.data["expressions"] == {"正しく": 1}


def test_a_value_of_that_name_and_a_compound_are_not_vague():
    text = "# 設計書\n\n## 1. 機能要件\n\n貸出＝適正、返却＝要確認とすること。その他備品の一覧を開けること。\n"

    assert findings(text) == ()
    assert findings(text.replace("その他備品", "その他必要な備品"))


def test_an_expected_result_that_leaves_two_answers_open_decides_no_test():
    text = "# 試験\n\n#### 1: 権限\n\n**手順**:\n\n1. または、開く。\n\n**期待結果**:\n\n- 拒まれる\n- または、戻る\n"
    rows = "| 項目 | 期待結果 |\n|---|---|\n| 削除 | 204/200が返る |\n| 取得 | 200 が返る |\n"

    said = [
        [
            each.data["expressions"]
            for each in outcome_of("wording.ambiguous", rule_input(one, document_type="test_plan")).findings
        ]
        for one in (text, rows)
    ]

    assert said == [[{"または、": 1}], [{"204/200": 1}]]
