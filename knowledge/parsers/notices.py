"""What people are told that a parser could not read, or left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from knowledge.types.documents import PageQuality
from knowledge.types.notices import Notice

_MAX_GARBLED_SHARE = 0.3
_CID = "(cid:"
# What UTF-8 bytes of Japanese text become when they are read as CP932, and as Latin-1.
_MISREAD = re.compile(r"[縺繧繝荳蜿譁逕縲]|[ãâåæäçèéï][^\x00-\x7f\u3000-\u9fff]{1,2}")
_MAX_MISREAD_SHARE = 0.15


def is_garbled(text: str) -> bool:
    """Tell whether a text layer has no meaning: private use, replacement or control characters, (cid:…), mojibake.

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
