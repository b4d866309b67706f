"""Each rule of style: what it points at, and the neighbour that it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.review.rules.style.support import corrected, found

POINTS_AT = [
    ("style.mixed_tone", "受付時に確認する。結果は通知しました。次に記録する。", ["ました"]),
    ("style.bracket_pair", "- 氏名（漢字\n- 住所\n", ["（"]),
    ("style.punctuation", "窓口で受け付け,結果を送る．次に記録する。", [",", "．"]),
    ("style.mixed_tone", "受付時に本人を確認します。結果は台帳に記録する。次に通知します。", ["する"]),
    ("style.mixed_tone", "# 概要です\n\n# 目的である\n", ["ある"]),
    ("style.mixed_tone", "- 台帳に書く。\n- 一覧を見る。\n- 結果はログに残ります。\n", ["ます"]),
    ("style.sentence_length", "申請者は、" + "様式に定める事項を記載した書面を添えて" * 6 + "提出する。", None),
    ("style.comma_count", "本書は、機能を、利用者が、迷わずに、使えるように書く。", ["、"]),
    ("style.doubled_conjunction", "まず申請する。また、写しを送る。確認を待つ。また、電話でも伝える。", ["また"]),
    ("style.doubled_conjunctive_ga", "予算は足りるが、人は足りないが、期限は守る。", ["が"]),
    ("style.doubled_particle", "窓口で書面で届け出る。", ["で"]),
    ("style.successive_word", "担当者がが確認する。", ["がが"]),
    ("style.tari", "資料を探したり、職員に尋ねる。", ["たり"]),
    ("style.sentence_end", "担当課が内容を確認します", ["す"]),
    ("style.ra_dropping", "画面から履歴を見れる。", ["見れる"]),
    ("style.ra_dropping", "朝は早く起きれない。", ["起きれ"]),
    ("style.ra_dropping", "手順を覚えれる。一度で覚えれます。", ["覚えれる", "覚えれ"]),
    ("style.i_dropping", "現在調査してます。まだ読んでない。", ["て", "でない"]),
    ("style.sa_insertion", "担当者に行かさせる。", ["行かさせる"]),
    ("style.double_negative", "対応できないこともない。", ["ないこともない"]),
    ("style.filler", "えーと、資料はこちらです。", ["えーと"]),
    ("style.redundant", "一覧から選択することができる。", ["することができる"]),
    ("style.redundant", "内容の確認を行う。", ["確認を行う"]),
    ("style.weak_phrase", "遅れるかもしれない。", ["かもしれない"]),
    ("style.misuse", "この表は読みずらい。", ["ずら"]),
    ("style.honorific", "資料をご覧になられる。", None),
    ("style.kana_preferred", "事前に申請して下さい。登録出来る。", ["下さ", "出来"]),
    ("style.official_conjunction", "氏名および住所を書く。", ["および"]),
    ("style.conjunction_levels", "氏名並びに住所を書く。", ["並びに"]),
    ("style.halfwidth_kana", "ｻｰﾊﾞｰを置く。", ["ｻｰﾊﾞｰ"]),
    ("style.fullwidth_alphanumeric", "定員は３０名、ＩＤは不要。", ["３０", "ＩＤ"]),
    ("style.uncommon_kanji", "罹災証明を出す。", ["罹"]),
    ("style.kanji_run", "情報通信技術利活用推進計画を定める。", ["情報通信技術利活用推進計画"]),
    ("style.stray_letter", "入力がtできない。", ["t"]),
    ("style.zero_width", "見え\u200bない。", ["\u200b"]),
    ("style.control_character", "制御\u0007文字。", ["\u0007"]),
    ("style.decomposed_kana", "ハ\u309aスワード", ["ハ\u309a"]),
    ("style.kanji_radical", "⽇付を書く。", ["⽇"]),
    ("style.squared_unit", "重さは3㎏。", ["㎏"]),
    ("style.mark_width", "始めますか?はい!", ["?", "!"]),
    ("style.exclamation_question", "ご注意ください！", ["！"]),
    ("style.exclamation_question", "これで足りるか？ 後で決める！", ["？", "！"]),
    ("style.discouraged_mark", "東京-大阪間; 片道", ["-", ";"]),
    ("style.punctuation", "氏名，住所を書く．", ["，", "．"]),
    ("style.fullwidth_point", "約785，105人", ["，"]),
    ("style.stop_in_brackets", "定員は30名です（予備を含む。）", ["。"]),
    ("style.bracket_pair", "「申請の受付を始める。", ["「"]),
    ("style.bracket_width", "利用者(市民)が使う。", ["(", ")"]),
    ("style.space_half_full", "これは Web の画面。", [" ", " "]),
    ("style.space_full_full", "申請 書を出す。", [" "]),
    ("style.space_brackets", "これは 「様式」 です。", [" ", " "]),
    ("style.space_after_mark", "本当ですか？ 次に進みます。", ["？ "]),
    ("style.space_code", "値は `x` とする。", [" ", " "]),
    ("style.space_link", "詳細は [手引](a.md) を見る。", [" ", " "]),
    ("style.katakana_separator", "データ　ベース", ["\u3000"]),
    ("style.numerals", "審査は三回行い、数10件を見る。", ["三", "10"]),
    ("style.counter_ka", "3ヶ月、5箇所", ["ヶ", "箇"]),
    ("style.number_separators", "縮尺は0,5とする。", ["0,5"]),
    ("style.unit_spacing", "容量は10GBとする。", None),
    ("style.katakana_long_vowel", "コンピュータを置く。", ["コンピュータ"]),
    ("style.heading_stop", "## 目的。", ["。"]),
    ("style.list_stop", "- 氏名を書く。\n- 住所を書く\n", ["く"]),
    ("style.noun_spelling", "サーバを止め、サーバーを替える。", ["サーバー"]),
    ("style.ascii_comma_count", "氏名,住所,電話,職業,年齢を書く。", [","]),
]
LEFT_ALONE = [
    ("style.exclamation_question", '貸出を取り消しますか？\n\n確認（"本当に消してもよいですか？"）を示す。\n'),
    ("style.exclamation_question", "- 一覧 list.html?page=1 を開く。\n- 備考 (string?) は空でよい。\n- 在庫 #REF!\n"),
    ("style.exclamation_question", "# らくらく貸出！\n\n## らくらく貸出！\n\n### らくらく貸出！\n"),
    ("style.exclamation_question", "確認画面に「備品「コード: 名称」を返却しますか？」と表示する。"),
    ("style.number_separators", "型は DECIMAL(7,2)、符号は ^[A-Z]{0,2}$ とする。"),
    ("style.bracket_pair", "割合は 0<x≤100、開始<終了。貸出日>返却日のときは誤りとする。"),
    ("style.punctuation", "1．貸出\n\n2．返却\n\n氏名,部署,備品\n\n貸出 花子,-,机,3\n"),
    (
        "style.sentence_length",
        "受付の処理\n\n#define limit 50\nint items[limit][limit]; // 備品の数\n" + "char name[limit];\n" * 20,
    ),
    ("style.sentence_length", "対象：" + "／".join(f"貸出の対象となる備品の種類{n}" for n in range(12)) + "。"),
    ("style.sentence_length", "1. 貸出の受付 " + "." * 120 + " 3\n2. 返却の受付 " + "." * 120 + " 4\n"),
    ("style.ra_dropping", "係員が渡してくれた。文字列をいれる。"),
    ("style.i_dropping", "| 読み | 仮名 |\n|---|---|\n| て | テ |\n"),
    ("style.stray_letter", "入力はcファイルに書く。"),
    ("style.mixed_tone", "貸出を登録する。\n\n貸出を登録しました\n\n返却日を入力してください\n\n名前が違います\n"),
    ("style.mixed_tone", "一覧に戻る。\n\n備品「{備品名}」は貸出中です。\n"),
    (
        "style.mixed_tone",
        "| 番号 | 文言 |\n|---|---|\n| E1 | 登録しました。 |\n| E2 | 氏名を入力してください。 |\n| E3 | 必須です。 |\n"
        "| E4 | 一覧に戻る。 |\n| E5 | 台帳に書く。 |\n",
    ),
    ("style.mixed_tone", "画面に注意を示す。\n" + "\n試験用の画面です。\n" * 4),
    ("style.list_stop", "- 主な確認先:\n- 窓口を見る。\n- 台帳を見る。\n"),
    ("style.number_separators", "FR-40〜42,45 と FR-20〜24,30〜34 を満たす。"),
    ("style.mixed_tone", "- 登録すると「登録しました」と示す。\n- 誤りなら 文言「名前が違います」\n- 一覧に戻る。\n"),
    ("style.bracket_pair", "目標は p95 < 500 ms とし、空きは <2 GB で知らせる。"),
    ("style.bracket_pair", '{\n\n"Host": "smtp.example.com"\n\n}\n'),
    ("style.bracket_pair", "| 周期 | （ | 毎日 | ） |\n|---|---|---|---|\n| 日次 | （ | 12時 | ） |\n"),
    (
        "style.punctuation",
        "区分は ENUM(日, 週, 月) とする。\n\n組織．上位組織ID = 部門\n\n画面（入力用）, ListView（一覧用）\n",
    ),
    ("style.mixed_tone", "受付時に本人を確認します。\n\n- 台帳に記録する。\n- 通知する。\n"),
    ("style.mixed_tone", "対象は市民である場合に限ります。次に進みます。"),
    ("style.sentence_length", "短い文である。" * 30),
    ("style.sentence_length", "![" + " / ".join(f"画面{n} → 一覧{n}の画面" for n in range(20)) + "](a.png)"),
    ("style.comma_count", "氏名、住所、電話番号、職業、年齢を書く。"),
    ("style.doubled_conjunction", "氏名を書く。又は印を押す。又は署名する。"),
    ("style.doubled_particle", "利用者の氏名の写しを送り、窓口で、書面で届ける。"),
    ("style.doubled_particle", "彼は「これは必要だ」と述べた。"),
    ("style.successive_word", "いろいろな値がドキドキするほど並ぶ。第111回。"),
    ("style.tari", "探したり尋ねたりする。逃げ出したりしない。"),
    ("style.sentence_end", "次の書類を用意する。\n\n- 申請書\n- 写し\n\n（以上）"),
    ("style.ra_dropping", "鍵を取れる。字が読める。食べられる。流れる。覚えれば足りる。"),
    ("style.kana_preferred", "資料を下さい。登録した時に通知する。"),
    ("style.i_dropping", "建てる。捨てる。見ている。"),
    ("style.double_negative", "提出しなければならない。誤りではないか。"),
    ("style.filler", "あの人の件。なにか変だ。何か月かかる。"),
    ("style.redundant", "利用できる。`することができる`という表現。テストを行う。"),
    ("style.weak_phrase", "思想を学び、かもめを見る。"),
    ("style.misuse", "日程を少しずらす。環境に適応する。可変長とする。"),
    ("style.kana_preferred", "大事な事業の様式を見る。上下させる。"),
    ("style.kana_preferred", "この通りに面した店。本を手に取って見る。持って行く。"),
    ("style.honorific", "いつになりますか。なお確認してください。ご意見を記してください。"),
    ("style.misuse", "それ以外と、東京以外と比べる。"),
    ("style.weak_phrase", "空気がする音。"),
    ("style.conjunction_levels", "甲及び乙並びに丙とする。"),
    ("style.fullwidth_alphanumeric", "定員は30名。"),
    ("style.stray_letter", "x軸の値をC言語で。n 個の点を比べる"),
    ("style.mark_width", "Is this OK? URL: http://example.com/?a=1"),
    ("style.exclamation_question", "確認画面に「返却しますか？」と表示する。"),
    ("style.discouraged_mark", "電話は03-1234-5678。Wi-Fiを使う。"),
    ("style.punctuation", "約1,000円、3.14、A, B, C。Node.jsを使う。"),
    ("style.bracket_pair", "1) 氏名。「『写し』を添える」。It's 1 < 2."),
    ("style.bracket_width", "これは (in English) です。foo() を呼ぶ。- [x] 済"),
    ("style.space_half_full", "# Web 版\n\nこれはWeb版。`x` とする。"),
    ("style.space_full_full", "ユーザー インターフェース。字下げの\n　段落。"),
    ("style.space_after_mark", "よいのか？という声。本当ですか？　次に進む。"),
    ("style.numerals", "世界一の四角い箱。一部の第三者。3回。二次関数。"),
    ("style.counter_ka", "霞ヶ関の箇所。3か月。"),
    ("style.number_separators", "1,000円と0.5倍、10,000,000人。"),
    ("style.katakana_long_vowel", "データをカメラで。セキュリティ。"),
    ("style.list_stop", "- 氏名\n- 住所\n\n本文。\n\n- 書く。\n- 送る。\n"),
    ("style.noun_spelling", "ブログとblog。"),
]


@pytest.mark.parametrize(("rule_id", "text", "pieces"), POINTS_AT)
def test_a_rule_points_at_the_place(rule_id, text, pieces):
    params: Any = {"space": "always"} if rule_id == "style.unit_spacing" else {}
    said = found(rule_id, text, **params)
    assert said if pieces is None else said == pieces


@pytest.mark.parametrize(("rule_id", "text"), LEFT_ALONE)
def test_a_rule_leaves_its_neighbours_alone(rule_id, text):
    assert found(rule_id, text) == []


@pytest.mark.parametrize(
    ("rule_id", "text", "right"),
    [
        ("style.ra_dropping", "画面で見れる。食べれない。", "画面で見られる。食べられない。"),
        ("style.i_dropping", "調査してます。", "調査しています。"),
        ("style.sa_insertion", "行かさせる。", "行かせる。"),
        ("style.redundant", "選択することができます。", "選択することができます。"),
        ("style.kana_preferred", "確認して下さい。", "確認してください。"),
        ("style.numerals", "二十三回、数10億円、世界1", "23回、数十億円、世界一"),
        ("style.punctuation", "氏名，住所を書く．", "氏名、住所を書く。"),
        ("style.space_after_mark", "何か！ 次へ", "何か！ 次へ"),
        ("style.katakana_long_vowel", "プリンタとコンピュータ", "プリンターとコンピューター"),
        ("style.list_stop", "- 書く。\n- 送る\n", "- 書く。\n- 送る。\n"),
        ("style.halfwidth_kana", "ﾊﾟｽﾜｰﾄﾞ", "パスワード"),
    ],
)
def test_mechanical_corrections_give_the_right_text(rule_id, text, right):
    text_right = right.replace("何か！ 次へ", "何か！\u3000次へ")
    assert corrected(rule_id, text) == text_right


def test_parameters_change_what_a_rule_accepts():
    assert found("style.sentence_length", "短い文である。", max=3) == ["短い文である。"]
    assert found("style.mixed_tone", "これは本である。", prefer="ですます") == ["ある"]
    assert found("style.kanji_run", "基本設計書作成要領", max=8, allow=("基本設計書",)) == []
    assert found("style.space_half_full", "最新のversionは1.2です。", space=["alphabets"]) != []
    assert found("style.katakana_long_vowel", "コンピューター", convention="omit") == ["コンピューター"]
    assert found("style.halfwidth_kana", "# ｶﾅ\n\nｶﾅ", kinds=("body",)) == ["ｶﾅ"]
    assert found("style.official_conjunction", "氏名および住所を書く。", only_mixed=True) == []
    assert found("style.official_conjunction", "氏名および住所、又は番号を書く。", only_mixed=True) == ["および"]
