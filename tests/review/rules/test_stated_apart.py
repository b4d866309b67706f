"""Contradictions of test cases, of lists with tables of marks, and of decisions that can't both hold."""

from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input, table

RULE = "consistency.conflicting_value"


def kinds(text: str) -> list[tuple[str, str]]:
    found = outcome_of(RULE, rule_input(f"# 文書\n\n{text}\n")).findings
    assert all(len(each.evidence) == 2 for each in found)
    return [(each.data["kind"], each.data["quantity"]) for each in found]


HEADS = "区分 | 確認項目 | 手順 | 期待結果"
WRONG = "「現在の暗証番号が間違っています」と表示される"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("送信 | 確認画面で、OKボタンを押すと送信される | 1. Enterキーを押下する | 送信される", [("case", "OK")]),
        ("送信 | 確認画面で、OKボタンを押すと送信される | 1. 「OK」ボタンを押下する | 送信される", []),
        ("送信 | 確認画面の表示 | 1. Enterキーを押下する | 送信される", []),
        (f"変更 | 誤り | 現在の暗証番号に正しい値を入力し、確認用を空にする | {WRONG}", [("case", "現在の暗証番号")]),
        (f"変更 | 誤り | 現在の暗証番号に誤った値を、確認用に正しい値を入力する | {WRONG}", []),
    ],
)
def test_a_case_does_what_its_item_says_and_expects_what_its_steps_allow(row, expected):
    assert kinds(table(HEADS, row)) == expected


STEPS = "誤った暗証番号を入力して予約ボタンを押下する。その後、予約の画面で入れ直す。"


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (("予約", "利用者の登録"), [("copied", "利用者の登録")]),
        (("予約", "予約の取消し"), []),
        (("申請", "利用者の登録"), []),
        (("予約", "予約"), []),
    ],
)
def test_steps_that_speak_of_another_group_of_cases_were_copied(groups, expected):
    assert kinds(table(HEADS, *(f"{group} | 誤り | {STEPS} | 予約される" for group in groups))) == expected


RISKS = table(
    "ID | リスク | 対策",
    "R1 | 漏えい | 暗号化、監視",
    "R2 | 改ざん | 署名、監視",
    "R3 | 停止 | 二重化、監視、訓練",
)


def measures(*rows: str) -> str:
    return RISKS + "\n\n" + table("分類 | 対策 | R1 | R2 | R3", *rows)


def test_what_a_list_has_and_the_marks_have_not_is_told_where_the_others_agree():
    rows = (
        "技術 | 暗号化：鍵で守る。 | ○ | | ",
        "技術 | 署名 / 監視：残す。 | ○ | ○ | ",
        "技術 | 二重化 | | | ○",
    )

    assert kinds(measures(*rows)) == [("matrix", "R3と署名 / 監視の対応")]
    assert kinds(measures(rows[0], "技術 | 署名 / 監視 | ○ | ○ | ○", rows[2])) == []
    assert kinds(measures("技術 | 暗号化 | | | ○", "技術 | 署名 / 監視 | | | ○", "技術 | 二重化 | ○ | | ")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("APIはステートレスとする。\n\nログイン情報はサーバー側のセッションに置く。", ["状態の保持"]),
        ("APIはステートレスとする。\n\nサーバー側のセッションは外部の Redis に置き、セッションを Redis が持つ。", []),
        ("APIはステートレスとする。\n\n現行のシステムはサーバー側のセッションに頼る。", []),
        ("簡易な受け口で、GETのみ対応する。\n\n- POST /api/auth で照合する。", ["使える HTTP メソッド"]),
        ("データの物理削除は行わない。\n\n一年を過ぎた添付は物理削除する。", ["物理削除"]),
        ("JWTによるステートレス認証とする。\n\n- POST /api/logout を呼ぶ。", ["ステートレスな認証とログアウト"]),
        ("JWTによるステートレス認証とする。\n\n- POST /api/logout で失効させる。", []),
    ],
)
def test_decisions_of_which_only_one_can_hold_are_told_together(text, expected):
    assert [name for _, name in kinds(text)] == expected


@pytest.mark.parametrize(("said", "expected"), [("審査の記録", []), ("審査の中止", [("row", "b-coreの責務")])])
def test_a_row_that_two_tables_give_in_other_words_is_one(said, expected):
    one = table("部品 | 責務 | 言語", "a-core | 受付 | Go", f"b-core | {said} | Go", "c-core | 通知 | Go")
    other = table("部品 | 責務 | 主管", "a-core | 受付 | 甲", "b-core | 審査記録 | 乙", "c-core | 通知 | 甲")

    assert kinds(f"## 1. 構成\n\n{one}\n\n## 2. 分担\n\n{other}") == expected
