from __future__ import annotations

from dataclasses import replace

import pytest

from review.types import RelatedDocument, RuleInput
from tests.review.markdown import document, outcome_of, rule_input, table

RULE = "consistency.conflicting_value"


def related(*chapters: str) -> RelatedDocument:
    read = rule_input(document(*chapters))
    return RelatedDocument(
        document_id="doc_r",
        title="要件定義書",
        document_type="requirements",
        text=read.text,
        sections=read.sections,
        blocks=read.blocks,
    )


def across(design: str, other: RelatedDocument) -> list[list[str]]:
    """The quotes of what the design and the other document say of one thing, the other's last."""
    target: RuleInput = replace(rule_input(document("前の章。", design)), related=(other,))
    texts = {"": target.text, "doc_r": other.text}
    found = outcome_of(RULE, target).findings
    assert all(each.rests_on == ("doc_r",) and each.data["document_id"] == "doc_r" for each in found)
    return [[texts[span.document][span.start : span.end] for span in each.evidence] for each in found]


def contradictory(*chapters: str) -> list[list[str]]:
    found = outcome_of(RULE, rule_input(document(*chapters))).findings
    return [each.data["values"] for each in found]


TWO_VALUES = [
    (
        table("ID | 要件", "NFR-07 | 窓口での申請1件の入力から受付票の印刷までを5分以内に終える"),
        table("ID | 基準", "AC-02 | 窓口での申請1件の入力から受付票の印刷まで3分以内（確認の時間を含む）"),
        "窓口での申請1件の入力から受付票の印刷までを300秒以内に終える。",
    ),
    (
        "- 応答: 申請一覧画面（最初の画面）は2秒以内に表示する",
        table("項目 | 方針", "応答時間 | 申請一覧画面を4秒以内に表示する"),
        table("項目 | 方針", "応答時間 | 申請一覧画面を2秒以内に表示する"),
    ),
    (
        "委託契約書の別紙2に残る12件は、次の版で反映する。",
        "委託契約書の別紙2（保留）に残る11件については、協議のうえ決める。",
        "委託契約書の別紙2（保留）に残る12件については、協議のうえ決める。",
    ),
    (
        table("番号 | 画面", "4 | 空室照会（3通り）"),
        "- 空室照会（利用規程6条）：日付からと施設からの2通りとする",
        "- 空室照会（利用規程6条）：日付から、施設から、地図からの3通りとする",
    ),
    (
        "│ └─ 運用担当（2名）: 監視",
        table("役割 | 内容", "運用担当（3名） | 監視と一次対応"),
        table("役割 | 内容", "運用担当（2名） | 監視と一次対応"),
    ),
    (
        "処理中のまま30分のlock-timeoutを過ぎたものは戻す。",
        table("事象 | 対処", "処理が終わらない | lock-<br>timeout（既定60分）の後に戻る"),
        table("事象 | 対処", "処理が終わらない | lock-<br>timeout（既定30分）の後に戻る"),
    ),
    (
        table("時刻 | 命令 | 役割", "01:30 | send-notices | 督促状送付ジョブ", "03:00 | clean | 掃除"),
        "再起動の後は、送付ジョブ（納付書 01:00・督促状 02:00）が残りを送る。",
        "再起動の後は、送付ジョブ（納付書 01:00・督促状 01:30）が残りを送る。",
    ),
    (
        "- 証跡の保存期間: 7年間",
        "- 保存期間: 証跡と同じ5年間とする。",
        "- 保存期間: 証跡と同じ84か月とする。",
    ),
    (
        "業務データの複製は毎日取得する。",
        table("項目 | 内容", "業務データの複製 | 週1回、遠隔地に取得する"),
        table("項目 | 内容", "業務データの複製 | 日次、遠隔地に取得する"),
    ),
    (
        "進捗報告会は毎週月曜日に開く。",
        table("会議 | 開催", "進捗報告会 | 毎週水曜日"),
        table("会議 | 開催", "進捗報告会 | 毎週月曜日"),
    ),
    (
        "本庁の台帳サーバ（DB 名 daicho_main）に置く。",
        "本庁の台帳サーバ（DB 名 daicho2）から読む。",
        "本庁の台帳サーバ（DB 名 daicho_main）から読む。",
    ),
    (
        "管理画面はポート番号 8443 で待つ。",
        table("画面 | 待ち受け", "管理画面 | ポート 9443"),
        table("画面 | 待ち受け", "管理画面 | ポート 8443"),
    ),
    (
        "監視サーバの接続先は 192.168.10.21 とする。",
        table("機器 | 接続先", "監視サーバ | 192.168.10.22"),
        table("機器 | 接続先", "監視サーバ | 192.168.10.21"),
    ),
]


@pytest.mark.parametrize(("one", "other", "same"), TWO_VALUES)
def test_two_values_beside_the_same_words_contradict_whatever_names_them(one: str, other: str, same: str) -> None:
    assert len(contradictory(one, "間の章。", other)) == 1
    assert contradictory(one, "間の章。", same) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("申請一覧画面は2秒以内に表示する。", "帳票の一覧画面は10秒以内に表示する。"),
        ("平日は運用担当（2名）を置く。", "休日は運用担当（1名）を置く。"),
        ("本番環境の監視サーバは 192.168.10.21 とする。", "検証環境の監視サーバは 192.168.20.21 とする。"),
        ("相談の受付は9時から行う。", "- 相談の受付: 9:00〜17:00"),
        ("進捗報告会は毎週月曜日に開く。", "課題検討会は毎週水曜日に開く。"),
        (
            table("項目 | 値", "用紙の大きさ | 210 × 297"),
            table("項目 | 値", "用紙の大きさ | 297 × 420"),
        ),
        (
            "表記の統一ルール（総務省 2020年12月18日）",
            "活用の手引き（総務省 2019年5月21日）",
        ),
    ],
)
def test_values_of_other_things_conditions_and_records_do_not_contradict(one: str, other: str) -> None:
    assert contradictory(one, "間の章。", other) == []


def test_limits_of_sections_side_by_side_are_their_own() -> None:
    text = "# 計画\n\n## 1. 完了基準\n\n### 1.1 結合テスト\n\n- Pass率 100%\n\n### 1.2 総合テスト\n\n- Pass率 95%以上\n"
    assert outcome_of(RULE, rule_input(text)).findings == ()


def test_a_value_that_four_places_give_four_ways_is_a_property_of_many_things() -> None:
    assert contradictory(*(f"巡回点検の拠点（{count}か所）を回る。" for count in (3, 5, 8, 9))) == []


@pytest.mark.parametrize(("one", "other", "same"), TWO_VALUES)
def test_a_related_document_that_gives_another_value_is_quoted_beside_this_one(one: str, other: str, same: str) -> None:
    (quotes,) = across(one, related(other))

    assert quotes[0] in document("前の章。", one)
    assert quotes[1] in document(other)
    assert across(one, related(same)) == []


@pytest.mark.parametrize(
    ("one", "others"),
    [
        ("申請一覧画面は2秒以内に表示する。", ["帳票の一覧画面は10秒以内に表示する。"]),
        ("平日は運用担当（2名）を置く。", ["休日は運用担当（1名）を置く。"]),
        (
            "運用担当（2名）が監視する。",
            ["運用担当（3名）が監視する。", "運用担当（2名）が監視し、記録する。"],
        ),
        (
            table("書類の項目 | 内容", "文書管理の最終更新日 | 2026年5月1日"),
            [table("書類の事項 | 記載", "文書管理の最終更新日 | 2026年6月3日")],
        ),
    ],
)
def test_other_things_what_is_told_in_two_ways_and_days_of_writing_do_not_contradict_a_related_document(
    one: str, others: list[str]
) -> None:
    assert across(one, related(*others)) == []


def test_what_two_places_say_alike_contradicts_a_related_document_once() -> None:
    assert (
        len(
            across(
                "運用担当（2名）が監視する。\n\n運用担当（2名）が一次対応をする。",
                related("運用担当（3名）が監視する。"),
            )
        )
        == 1
    )
