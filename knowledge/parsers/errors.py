"""Why a file could not be read, and what of it could not or was left out, in words for the person who uploaded it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from hub.core.texts import Text
from knowledge.types.documents import PageQuality
from knowledge.types.notices import Notice, find_text, notice_of, text_of


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
    text = text_of("unreadable", code, **details)
    return ParseError(code, ja=text.ja, en=text.en)


def corrupted(format_name: str, detail: str) -> ParseError:
    """Build the error of a damaged file; ``detail`` is what its reader calls the damage: an exception's name."""
    return parse_error("corrupted", format=format_name, detail=find_text("damage", detail) or detail)


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


def counted(count: int, name: str, *, code: str = "", **words: object) -> tuple[Notice, ...]:
    """Say what was left out ``count`` times, under its name or a ``code`` of several; nothing for 0."""
    return (notice_of("left_out", name, code=code, count=count, **words),) if count else ()


def ocr_notices(pages: Sequence[PageQuality]) -> tuple[Notice, ...]:
    """Name the pages whose text could not be read, and those that OCR read without being sure; empty without any."""
    found = []
    for code, numbers in (
        ("needs_ocr", [page.number for page in pages if page.needs_ocr]),
        ("ocr_uncertain", [page.number for page in pages if page.uncertain and not page.needs_ocr]),
    ):
        if numbers:
            shown = ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")
            found.append(notice_of("left_out", code, pages=shown))
    read = sum(1 for page in pages if page.confidence is not None and not page.needs_ocr)
    return (*found, *counted(read, "read_by_ocr"))
