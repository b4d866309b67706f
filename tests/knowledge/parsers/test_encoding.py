from __future__ import annotations

import codecs

import pytest

from knowledge.parsers.encoding import decode_text, decoding_error
from knowledge.parsers.errors import ParseError

PROSE = "図書館の予約システムについて、要件を定義する。\nデータの移行は別途行う。\n"


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be"])
def test_japanese_prose_is_read_in_every_supported_encoding_without_a_mark(encoding: str) -> None:
    decoded = decode_text(PROSE.encode(encoding))

    assert decoded.text == PROSE
    assert decoded.encoding == encoding


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_byte_order_mark_decides_and_is_removed(mark: bytes, encoding: str) -> None:
    assert decode_text(mark + PROSE.encode(encoding)).text == PROSE


@pytest.mark.parametrize("text", ["表示①～⑩、㈱山田、髙橋", "ﾊﾟｽﾜｰﾄﾞの変更", "能表ソ十", "日本語", "住所\t東京都"])
def test_windows_characters_and_short_words_are_read_as_cp932(text: str) -> None:
    assert decode_text(text.encode("cp932")).text == text


@pytest.mark.parametrize("text", ["コード", "日本語の文字列", "表記の統一"])
def test_short_euc_texts_are_not_taken_for_half_width_katakana(text: str) -> None:
    assert decode_text(text.encode("euc_jp")).encoding == "euc_jp"


def test_newlines_become_line_feeds_and_nothing_is_normalised() -> None:
    assert decode_text("ＡＢＣ①\r\nｶﾞ\rか゚".encode()).text == "ＡＢＣ①\nｶﾞ\nか゚"


def test_a_declared_shift_jis_is_read_with_the_characters_of_windows() -> None:
    assert decode_text("①髙".encode("cp932"), declared="Shift_JIS").text == "①髙"


def test_an_unknown_declared_encoding_is_ignored() -> None:
    assert decode_text(PROSE.encode(), declared="x-unknown").text == PROSE


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"abc\x00def"])
def test_binary_data_are_not_text(data: bytes) -> None:
    assert decoding_error(data) is not None
    with pytest.raises(ParseError) as caught:
        decode_text(data)
    assert caught.value.code == "unknown_encoding"


@pytest.mark.parametrize("data", [b"", b" \r\n\t", codecs.BOM_UTF8, "　\n".encode()])
def test_a_file_without_a_visible_character_is_empty(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        decode_text(data)
    assert caught.value.code == "empty_file"


def test_text_in_half_width_katakana_is_read() -> None:
    text = "ﾖﾔｸｶﾝﾘｼｽﾃﾑﾉ ｶﾞｲﾖｳｦ ｼﾒｽ.\nｷｷ:ｻｰﾊﾞ\n"

    assert decode_text(text.encode("cp932")).text == text


def test_chinese_text_is_not_taken_for_rare_kanji() -> None:
    with pytest.raises(ParseError) as caught:
        decode_text("这是一个测试文件，内容是简体中文。".encode("gb18030"))
    assert caught.value.code == "unknown_encoding"


def test_names_in_kanji_alone_are_read() -> None:
    text = "氏名,住所\n山田太郎,北海道札幌市中央区\n佐藤次郎,東京都千代田区霞が関\n".replace("が", "")

    assert decode_text(text.encode("euc_jp")).text == text


def test_a_form_feed_parts_paragraphs() -> None:
    assert decode_text("範囲を示す。\f3. 体制".encode()).text == "範囲を示す。\n\n3. 体制"
