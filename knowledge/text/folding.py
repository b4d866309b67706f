"""The forms in which texts are compared; each says what it makes one, what it drops and what it keeps.

| function        | width and compatible forms  | case   | white space      | dashes | variants (髙) | offsets |
|-----------------|-----------------------------|--------|------------------|--------|---------------|---------|
| `narrow`        | of ASCII alone              | stays  | width alone      | one    | stay          | hold    |
| `fold_each`     | where one character is one  | folded | width alone      | stay   | stay          | hold    |
| `normalise`     | NFKC                        | stays  | width alone      | stay   | stay          | move    |
| `fold_case`     | NFKC                        | folded | width alone      | stay   | stay          | move    |
| `fold_compact`  | NFKC                        | folded | dropped          | stay   | stay          | move    |
| `fold_name`     | NFKC                        | folded | single, none outer | one  | stay          | move    |
| `fold_terms`    | NFKC, nothing without width | folded | width alone      | one between letters | one | move   |

Pure. What the database folds, it folds in SQL: `knowledge.search.phrase_sql`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from knowledge.text.variants import WITHOUT_WIDTH, one_variant

HYPHENS = "‐‑‒–−－"
"""Characters that are written for a hyphen; ー is none, and — and ― part sentences."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SEGMENT_LENGTH = 1024
# ASCII, kana and ideographs never compose with the character before them, so NFKC may stop there.
_SEGMENT = re.compile(
    rf"(?s:.{{1,{_SEGMENT_LENGTH}}}(?=[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]|\Z)"
    rf"|.{{1,{_SEGMENT_LENGTH}}})"
)
_TO_HYPHEN = str.maketrans(dict.fromkeys(HYPHENS, "-"))
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20} | _TO_HYPHEN
_DASH_IN_CODE = re.compile(r"(?<=[a-z0-9])[\u2010-\u2015\u2212\u30fc](?=[a-z0-9])")
# Japanese text has a few thousand different characters; a hostile one must not fill the memory.
_MOST_REMEMBERED = 16_384


@lru_cache(maxsize=8)
def narrow(text: str) -> str:
    """Return ``text`` with full-width ASCII, hyphens and blanks made half-width, one for one, so that offsets hold.

    >>> narrow("図１－２　構成")
    '図1-2 構成'
    """
    return text.translate(_NARROW)


@lru_cache(maxsize=8)
def fold_each(text: str) -> str:
    """Fold width and case of each character that one character folds to, so that offsets hold.

    >>> fold_each("ＦＲ－００１の㋿ｶﾞ")
    'fr-001の㋿カ゛'
    """
    return text.translate(_EACH)


def normalise(text: str) -> str:
    """Replace lone surrogates by U+FFFD and apply NFKC, so that ｶﾞ and ガ become the same.

    Works in segments: Python's NFKC needs quadratic time for a long run of combining marks (11 s for
    100,000). Equal to NFKC of the whole unless 1,024 characters follow each other without any ASCII, kana or
    ideograph among them.
    """
    if text.isascii():
        return text
    text = LONE_SURROGATE.sub("\ufffd", text)
    if len(text) <= _SEGMENT_LENGTH:
        return unicodedata.normalize("NFKC", text)
    return "".join(unicodedata.normalize("NFKC", segment) for segment in _SEGMENT.findall(text))


def fold_case(text: str) -> str:
    """Fold width and case, and keep white space.

    >>> fold_case("ＳＱＬ サーバー")
    'sql サーバー'
    """
    return normalise(text).casefold()


def fold_compact(text: str) -> str:
    """Fold width and case, and drop all white space.

    >>> fold_compact("ＳＱＬ サーバー")
    'sqlサーバー'
    """
    return "".join(fold_case(text).split())


def fold_name(name: str) -> str:
    """Fold width and case, make hyphens one and white space single. 長音 stays as written.

    >>> fold_name(" ＦＲ–００１　 案"), fold_name("サーバー"), fold_name("サーバ")
    ('fr-001 案', 'サーバー', 'サーバ')
    """
    return " ".join(normalise(name).translate(_TO_HYPHEN).split()).casefold()


def fold_terms(text: str) -> str:
    """Bring text to the one form in which the terms of search are compared.

    NFKC, case folded, variants of a character as one (髙橋), nothing without width, one kind of dash in codes.

    >>> fold_terms("ＧＬ‐３．２ Straße"), fold_terms("髙\ufe00橋の補塡")
    ('gl-3.2 strasse', '高橋の補填')
    """
    return join_codes(one_variant(fold_case(WITHOUT_WIDTH.sub("", text))))


def join_codes(folded: str) -> str:
    """Write one kind of dash between letters and digits; offsets stay."""
    return _DASH_IN_CODE.sub("-", folded)


class _Each(dict[int, str]):
    """What each code point is folded to, found out when it is first met."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        folded = unicodedata.normalize("NFKC", character).casefold()
        found = folded if len(folded) == 1 else character
        if len(self) < _MOST_REMEMBERED:
            self[code_point] = found
        return found


_EACH = _Each()
