"""Why a file could not be read, and what of it could not or was left out, in words for the person who uploaded it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from hub.core.texts import Text
from knowledge.types.documents import PageQuality
from knowledge.types.notices import Notice

_MESSAGES: dict[str, tuple[str, str]] = {
    "empty_file": (
        "ファイルが空です。内容のあるファイルを指定してください。",
        "The file is empty. Upload a file that has content.",
    ),
    "no_content": (
        "読み取れる内容がありません。白紙のページ、空または非表示のシートだけです。内容のあるファイルを指定してください。",
        "There is nothing to read in it: its pages or sheets are blank or hidden. Upload a file that has content.",
    ),
    "lock_file": (
        "Office が編集中に作る一時ファイル（~$）で、文書ではありません。元の文書を指定してください。",
        "This is the lock file (~$) that Office keeps while editing. Upload the document itself.",
    ),
    "encrypted": (
        "パスワードで保護されています。パスワードを外して保存し直してください。",
        "The file is protected by a password. Save it without a password and upload it again.",
    ),
    "corrupted": (
        "ファイルが壊れているか {format} として読めません（{detail}）。元のアプリで開いて保存し直してください。",
        "The file is damaged or no readable {format} ({detail}). Open and save it again in its application.",
    ),
    "unsupported_format": (
        "対応していない形式です（{detail}）。対応形式: {supported}",
        "This kind of file is not supported ({detail}). Supported: {supported}",
    ),
    "convert_first": (
        "{format} 形式は直接読めません。元のアプリか LibreOffice で {target} 形式に保存し直して登録してください。",
        "{format} files are not read directly. Open the file in its application or in LibreOffice, save it as "
        "{target}, and upload that.",
    ),
    "unknown_encoding": (
        "文字として読めません。文字コードを判別できないか、テキストではないデータです。UTF-8 で保存し直してください。",
        "This can't be read as text: the character encoding was not recognised, or it is no text. Save it as UTF-8.",
    ),
    "too_large": (
        "ファイルが大きすぎます（{size}、上限 {limit}）。分割してください。",
        "The file is too large ({size}, limit {limit}). Split it.",
    ),
    "too_many_pages": (
        "ページ数が多すぎます（{size} ページ、上限 {limit} ページ）。分割してください。",
        "The file has too many pages ({size}, limit {limit}). Split it.",
    ),
    "too_many_cells": (
        "セルが多すぎます（上限 {limit} 個）。シートを分けるか、CSV の必要な部分だけにしてください。",
        "The workbook has more than {limit} cells. Split it or keep only the part that matters.",
    ),
    "too_many_rows": (
        "行が多すぎます（シート「{sheet}」、上限 {limit} 行）。ファイルを分けてください。",
        "The sheet “{sheet}” has more than {limit} rows. Split the file.",
    ),
    "expanded_too_large": (
        "圧縮を展開すると大きくなりすぎます（{detail}）。圧縮爆弾の疑いがあるため開きませんでした。",
        "The file expands to too much data ({detail}). It was not opened, since it may be a zip bomb.",
    ),
    "unsafe_xml": (
        "XML に実体宣言（DTD）が含まれています（{detail}）。安全のため開きませんでした。",
        "The file's XML declares entities ({detail}). It was not opened for safety.",
    ),
    "too_complex": (
        "入れ子が深すぎて読めません。構造を簡単にしてください。",
        "The file is nested too deeply to be read. Simplify its structure.",
    ),
    "output_too_large": (
        "取り出した文章が大きすぎます（上限 {limit}）。文書を分割してください。",
        "The text of the file is too large (limit {limit}). Split the document.",
    ),
    "timeout": (
        "制限時間（{limit} 秒）以内に読み終わりませんでした。文書を分割するか、保存し直してください。",
        "Reading did not finish within {limit} seconds. Split the document or save it again.",
    ),
    "out_of_memory": (
        "読み込みに必要なメモリが上限（{limit}）を超えました。文書を分割してください。",
        "Reading needed more memory than allowed ({limit}). Split the document.",
    ),
    "reader_lost": (
        "読み込み処理が中断されました。もう一度お試しください。",
        "Reading was interrupted from outside. Try again.",
    ),
    "parser_crashed": (
        "読み込み処理が異常終了しました（{detail}）。元のアプリケーションで保存し直してください。",
        "The reader stopped unexpectedly ({detail}). Save the file again in its application.",
    ),
}


# What readers call the damage, for people. Names of exceptions come from the libraries that met it.
_NOT_A_ZIP = ("ZIP として展開できません。途中で切れている可能性があります", "it is no complete ZIP archive")
_BROKEN_XML = ("内部の XML が壊れています", "the XML inside is damaged")
_PART_MISSING = ("必要な部品がありません", "a part that it needs is missing")
_DETAILS: dict[str, tuple[str, str]] = {
    "zip": _NOT_A_ZIP,
    "BadZipFile": _NOT_A_ZIP,
    "PackageNotFoundError": _NOT_A_ZIP,
    "XMLSyntaxError": _BROKEN_XML,
    "ValueError": ("内部の値が正しくありません", "a value inside is not valid"),
    "KeyError": _PART_MISSING,
    "IndexError": _PART_MISSING,
    "no body": _PART_MISSING,
    "no document part": _PART_MISSING,
    "zip without the expected parts": _PART_MISSING,
    "unexpected content": ("中身が別の形式です", "the content is of another kind"),
    "PDFium": ("PDF の構造を読み取れません", "the structure of the PDF can't be read"),
}


class ParseError(Exception):
    """A file that can't be read. ``code`` is stable; ``text`` names the cause and what to do."""

    def __init__(self, code: str, *, ja: str, en: str) -> None:
        super().__init__(f"{code}: {en}")
        self.code = code
        self.text = Text(ja=ja, en=en)


def parse_error(code: str, **details: object) -> ParseError:
    """Build the ParseError of a known ``code``, its messages filled with ``details``.

    :raises KeyError: when the code is unknown or a detail that its message needs is missing.
    """
    ja, en = _MESSAGES[code]
    return ParseError(code, ja=ja.format(**details), en=en.format(**details))


def corrupted(format_name: str, detail: str) -> ParseError:
    ja, en = _MESSAGES["corrupted"]
    detail_ja, detail_en = _DETAILS.get(detail, (detail, detail))
    return ParseError(
        "corrupted",
        ja=ja.format(format=format_name, detail=detail_ja),
        en=en.format(format=format_name, detail=detail_en),
    )


def readable_size(size_bytes: int) -> str:
    """Write a byte count for people.

    >>> readable_size(1536), readable_size(2 * 1024**3)
    ('2 KB', '2.0 GB')
    """
    if size_bytes >= 1024**3:
        return f"{size_bytes / 1024**3:.1f} GB"
    if size_bytes >= 1024**2:
        return f"{size_bytes / 1024**2:.0f} MB"
    return f"{size_bytes / 1024:.0f} KB"


_MAX_GARBLED_SHARE = 0.3
_CID = "(cid:"
# What UTF-8 bytes of Japanese text become when they are read as CP932, and as Latin-1.
_MISREAD = re.compile(r"[縺繧繝荳蜿譁逕縲]|[ãâåæäçèéï][^\x00-\x7f\u3000-\u9fff]{1,2}")
_MAX_MISREAD_SHARE = 0.15


def is_garbled(text: str) -> bool:
    """Return whether a text layer has no meaning: private use, replacement or control characters, (cid:…), mojibake.

    >>> is_garbled("(cid:12)(cid:7)(cid:99)"), is_garbled("譁\u2573蟄怜喧縺代※縺\u2584ｋ"), is_garbled("議事録です。")
    (True, True, False)
    """
    visible = [char for char in text if not char.isspace()]
    if not visible:
        return False
    codes = text.count(_CID) * 8
    bad = sum(1 for char in visible if char == "\ufffd" or unicodedata.category(char) in ("Cc", "Co", "Cn", "Cs"))
    misread = len(_MISREAD.findall(text))
    return bad + codes > _MAX_GARBLED_SHARE * len(visible) or misread > _MAX_MISREAD_SHARE * len(visible)


def counted(count: int, code: str, *, ja: str, en: str) -> tuple[Notice, ...]:
    """Say that something is left out ``count`` times, which stands for ``{}`` in both texts; nothing for 0."""
    return (Notice(code=code, ja=ja.format(count), en=en.format(count)),) if count else ()


def ocr_notices(pages: Sequence[PageQuality]) -> tuple[Notice, ...]:
    """Name the pages whose text could not be read; empty when there are none."""
    numbers = [page.number for page in pages if page.needs_ocr]
    if not numbers:
        return ()
    shown = ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")
    return (
        Notice(
            code="needs_ocr",
            ja=f"文字を読み取れないページがあります（{shown}）。OCR が必要です。",
            en=f"Pages without readable text: {shown}. They need OCR.",
        ),
    )
