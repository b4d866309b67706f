"""What is masked, what is left alone, and that masking can be undone."""

from __future__ import annotations

import doctest

import pytest

from hub.core import masking
from hub.core.masking import Masking, mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("連絡先は taro.yamada+hub@example.co.jp です", "連絡先は [EMAIL-1] です"),
        ("連絡先：ｘ＠例 ではなくtaro＠example.jpへ", "連絡先：ｘ＠例 ではなく[EMAIL-1]へ"),
        ("電話 03-1234-5678（代表）", "電話 [PHONE-1]（代表）"),
        ("電話 ０３－１２３４－５６７８", "電話 [PHONE-1]"),
        ("携帯は09012345678。", "携帯は[PHONE-1]。"),
        ("TEL 0466(12)3456", "TEL [PHONE-1]"),
        ("+81-3-1234-5678", "[PHONE-1]"),
        ("個人番号 1234 5678 9018 を記載", "個人番号 [MY_NUMBER-1] を記載"),
        ("個人番号：１２３４５６７８９０１８", "個人番号：[MY_NUMBER-1]"),
        ("カード 4111-1111-1111-1111 で決済", "カード [CARD-1] で決済"),
        ("みずほ銀行 丸の内支店 普通 1234567 ヤマダタロウ", "みずほ銀行 丸の内支店 普通 [BANK_ACCOUNT-1] ヤマダタロウ"),
        ("口座番号：７６５４３２１", "口座番号：[BANK_ACCOUNT-1]"),
        ("〒100-8926 東京都千代田区霞が関2-1-2 合同庁舎", "[ADDRESS-1] [ADDRESS-2] 合同庁舎"),
    ],
)
def test_personal_data_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "要件 FR-001 から NFR-1234 までを対象とする。",
        "応答時間は3秒以内、同時利用者数は1,000人とする。",
        "版数 1.2.3、日付 2026-11-22、時刻 10:20:30",
        "個人番号ではない12桁 123456789017",
        "注文番号 4111-1111-1111-1112",
        "普通に 1234 件を処理する",
        "IPアドレス 192.168.10.200 と ポート 8000",
        "容量は 0.123456789 以上、型番 0120A-12-3456B",
        "東京都の公用文の例では、区市町村が定める",
    ],
)
def test_other_numbers_and_words_stay(text: str) -> None:
    assert mask(text) == text


def test_the_same_value_has_one_name_across_texts_and_comes_back() -> None:
    masking = Masking()
    texts = ["a@example.jp と b@example.jp", "返信は b@example.jp へ。電話 03-1234-5678"]
    masked = [masking.mask(text) for text in texts]
    assert masked == ["[EMAIL-1] と [EMAIL-2]", "返信は [EMAIL-2] へ。電話 [PHONE-1]"]
    assert [masking.restore(text) for text in masked] == texts
    assert masking.counts == {"EMAIL": 2, "PHONE": 1}
    assert masking.restore("[EMAIL-9] と [表-1]") == "[EMAIL-9] と [表-1]"


@pytest.mark.parametrize("text", ["a" * 200_000, "0-" * 100_000, "1 " * 100_000, "東京都" * 50_000, "a." * 100_000])
@pytest.mark.timeout(20)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    assert len(mask(text)) == len(text)


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(masking).failed == 0
