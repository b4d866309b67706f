from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input


def variants(text: str, **params):
    found = outcome_of("terminology.variant", rule_input(text, params=params)).findings
    return [finding.data["variants"] for finding in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("サーバを置く。サーバーを止める。サーバーを消す。", {"サーバー": 2, "サーバ": 1}),
        ("データベースサーバを使う。Webサーバーを使う。", {"サーバ": 1, "サーバー": 1}),
        ("オーケストレータを使う。オーケストレーターが動く。", {"オーケストレータ": 1, "オーケストレーター": 1}),
        ("登録できる。変更出来る。", {"できる": 1, "出来る": 1}),
        ("A及びB。AおよびC。", {"及び": 1, "および": 1}),
        ("入力してください。確認して下さい。", {"くださる": 1, "下さる": 1}),
        ("全ての項目。すべての結果。", {"全て": 1, "すべて": 1}),
        ("取り扱いに注意する。取扱いを定める。", {"取り扱い": 1, "取扱い": 1}),
        ("ＡＰＩを呼ぶ。APIの仕様。", {"ＡＰＩ": 1, "API": 1}),
        ("Webサイトを見る。webサイトを作る。", {"Web": 1, "web": 1}),
        ("E-mailを送る。Emailを受ける。", {"E-mail": 1, "Email": 1}),
        ("ソフトウェアを更新する。ソフトウエアを選ぶ。", {"ソフトウェア": 1, "ソフトウエア": 1}),
        ("結合テストを行う。統合テストが終わる。", {"結合テスト": 1, "統合テスト": 1}),
        ("軌道の表示切替。ラベル表示切り替え", {"切替": 1, "切り替え": 1}),
        ("氏名(カナ)を表示する。氏名（カナ）を入力する。", {"氏名(カナ)": 1, "氏名（カナ）": 1}),
        ("Googleカレンダーに書く。Google Calendarと連携する。", {"Googleカレンダー": 1, "Google Calendar": 1}),
        ("カートに入れる。cartの内容を見る。カートを空にする。", {"カート": 2, "cart": 1}),
        ("検索ボタンを押す。次に、Searchボタンを押す。検索ボタンで探す。", {"検索ボタン": 2, "Searchボタン": 1}),
        ("エクセルで表を作る。Excelで開く。エクセルに貼る。", {"エクセル": 2, "Excel": 1}),
        ("必須項目を入力する。必要項目が空である。", {"必須項目": 1, "必要項目": 1}),
        ("| 説明 | discription |\n| 種別の説明 | type_description |", {"discription": 1, "description": 1}),
    ],
)
def test_spellings_of_one_word_are_one_finding_with_counts(text, expected):
    assert variants(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "処理を行う。処理が行える。",
        "帳票を送る。窓口からも送れる。封筒を刷る。家でも刷れる。",
        "受入テスト (UAT) を行う。UATの前に控えを取る。受入テストの後に直す。",
        "申込書を出す。申し込みを受ける。",
        "また、変更する。A又はBとする。",
        "ユーザーの使いやすさ。ユーザビリティを測る。",
        "サーバーを使う。`サーバ` と書く。「サーバ」という項目。\n\n```\nサーバ\n```\n",
        "MCP Serverを使う。サーバーを置く。",
        "Tool Server と tool server list",
        "単体テスト（ユニットテスト）を行う。単体テストが終わる。",
        "[サーバー](http://example.com/サーバ)",
        "必要に応じて行う。条件に応じた値。",
        "氏名(カナ)を表示する。住所（カナ）を入力する。",
        "Googleカレンダーに書く。Google Driveに置く。GoogleカレンダーとGoogle マップ",
        "Backボタンで前に出る。ホームに戻るボタンを押す。記事検索ボタンと Searchボタン",
        "カートに入れる。cartテーブルに書く。shopping cartの表。`cart` の値。",
        "説明は description とし、type_description に置く。",
        "ユーザーを登録する。\n\n・パスワードの入力によりユーザ\n\nー認証を行う。",
        "苗字：佐藤\n\nみょうじ：さとう\n\n苗字で探す。",
        "| 読み | 仮名 |\n|---|---|\n| て | で |\n\n画面で見る。",
        "バリデーションエラーを示す。バリデーションエラーを記録する。\n\n## バリデーション・エラー処理\n",
        "| 名前 | 備考 |\n|---|---|\n| admin | Admin画面を開ける |\n\nadminで入る。",
    ],
)
def test_different_words_code_and_quotations_are_no_variants(text):
    assert variants(text) == []


def test_the_majority_is_proposed_and_an_inflected_word_keeps_its_ending():
    text = "検査を行います。記録を行う。報告を行なった。"

    (found,) = outcome_of("terminology.variant", rule_input(text)).findings

    assert found.data["proposed"] == "行う"
    assert found.data["share"] == pytest.approx(2 / 3, abs=1e-3)
    assert found.suggestion.example == "検査を行います。記録を行う。報告を行った。"


def test_the_example_of_a_word_in_a_table_is_its_cell_alone():
    row = "| F-001 | 予約の変更を行なう<br>取消しを行う | 窓口の担当者が受付の時間内に画面から登録する |"
    text = f"取消しを行う。\n\n| ID | 機能 | 備考 |\n|---|---|---|\n{row}\n"

    (found,) = outcome_of("terminology.variant", rule_input(text)).findings

    assert found.suggestion.example == "予約の変更を行う"


def test_the_example_of_a_word_in_a_long_sentence_says_that_it_is_a_part():
    text = f"記録を行う。報告を行う。\n\n{'利用者が画面から入力した' * 3}予約の登録を行なう。\n"

    (found,) = outcome_of("terminology.variant", rule_input(text)).findings

    assert found.suggestion.example.startswith("…")
    assert found.suggestion.example.endswith("予約の登録を行う。")


def test_a_role_with_a_japanese_and_an_english_name_is_told():
    text = "管理者が設定を変える。\n\nAdministrator は利用の記録を見る。administrators 表は対象外とする。"
    assert variants(text) == [{"管理者": 1, "Administrator": 1}]


def test_a_second_name_for_a_thing_takes_no_spelling_into_its_finding():
    text = "ユーザを登録する。ユーザを消す。ユーザーを探す。ユーザーを止める。利用者に知らせる。"
    found = outcome_of("terminology.variant", rule_input(text)).findings
    assert {"long_vowel", "synonym"} <= {each.data["kind"] for each in found}


def test_params_allow_forms_and_replace_the_synonyms():
    assert variants("サーバとサーバー。", ignore=["サーバ"]) == []
    assert variants("発注者が決める。委託者が払う。", synonyms=[["発注者", "委託者"]]) == [{"発注者": 1, "委託者": 1}]


def test_the_longer_words_that_differ_by_the_spelling_are_counted_too():
    (found,) = variants("受入テストは2月に行う。受入テストの担当は発注者。受け入れテストの期間は2週間。")

    assert found == {"受入": 2, "受け入れ": 1, "受入テスト": 2, "受け入れテスト": 1}


def test_a_polite_prefix_makes_no_other_word():
    (found,) = variants("問合せは画面から受け付ける。お問い合わせの窓口は市民課とする。")

    assert set(found) == {"問合せ", "問い合わせ"}


def test_the_front_of_a_compound_may_drop_the_last_okurigana():
    assert variants("電子申込みを受ける。申込番号を示す。") == []
    assert variants("表示切り替えを行う。切替処理を行う。") == [{"切り替え": 1, "切替": 1}]


def test_of_two_spellings_used_once_each_none_is_the_majority():
    (found,) = outcome_of("terminology.variant", rule_input("サーバに置く。サーバーを止める。")).findings

    assert "多数派の「" not in found.suggestion.content.ja
    assert "「サーバ」、「サーバー」" in found.suggestion.content.ja


def test_what_official_writing_has_is_proposed_even_where_it_is_rarer():
    (found,) = outcome_of(
        "terminology.variant", rule_input("検査を行なう。記録を行なう。報告を行なう。審査を行う。")
    ).findings

    assert found.data["proposed"] == "行う"
    assert "公用文" in found.suggestion.content.ja


def test_no_message_names_a_place_without_a_name():
    (found,) = outcome_of("terminology.variant", rule_input("サーバに置く。サーバーを止める。")).findings

    assert "「」" not in found.message.ja + found.suggestion.content.ja
    assert "“”" not in found.message.en + found.suggestion.content.en


def test_a_noun_made_from_a_verb_has_one_spelling_at_the_end_of_a_compound_and_alone():
    assert variants("レイヤー切替えを行う。背景図の切替を示す。") == [{"切替え": 1, "切替": 1}]
    assert variants("レイヤー切替えを行う。切替日を示す。") == []
