"""Numbers in headings and captions, as Japanese documents write them."""

from __future__ import annotations

import re
import unicodedata

from knowledge.text.folding import normalise
from knowledge.text.numerals import NUMERAL, read_numeral

ORDINAL = rf"第\s*+(?:[0-9０-９]++|{NUMERAL}++)\s*+[編部章節款項条]"
"""A regular expression for the number of a part of a text: 第3章, 第十二条. What follows is for the caller to ask."""

_UNIT_LEVELS = {"編": 1, "部": 1, "章": 1, "節": 2, "条": 3}
_ARABIC_OR_KANJI = rf"(?P<n>[0-9]+|{NUMERAL}+)"
_UNIT = re.compile(
    rf"第\s*{_ARABIC_OR_KANJI}\s*(?P<unit>[編部章節款項条])(?:の(?P<branch>[0-9]+))?(?=\s|$|\W|の|[^\W\d])"
)
_APPENDIX = re.compile(r"(?:附属書|付属書|附録|付録|Appendix|Annex)\s*(?P<letter>[A-Z])(?![A-Za-z])", re.I)
_APPENDED = re.compile(r"(?P<word>附録|付録|別紙|別添|別表|別記|様式|資料)\s*(?P<n>[0-9]+(?:[-.][0-9]+)*)")
_LETTERED = re.compile(r"(?P<n>[A-Z](?:\.[0-9]+)+)\.?(?=\s|$)")
_DOTTED = re.compile(r"(?P<n>[0-9]{1,3}(?:[.\-][0-9]{1,3})+(?:[A-Za-z](?=[.\s]))?)(?:[.)])?(?=\s|$|[^\W\d_]|[「『(【])")
_SINGLE = re.compile(r"(?P<n>[0-9]{1,3})(?:[.、]\s*|\s+)(?=\S)")
_PARENTHESISED = re.compile(r"\(?(?P<n>[0-9]{1,3})\)")
_ROMAN = re.compile(r"(?P<n>[IVX]{1,5})[.\s]")
_CAPTION = re.compile(
    r"\s*(?:図表|図|表|写真|Figure|Fig\.?|Table|リスト|Listing)\s*+(?::\s*+)?[A-Z]?[0-9]+(?:[-.][0-9]+)*(?![0-9A-Za-z])",
    re.I,
)
_FIGURE_CAPTION = re.compile(r"\s*(?:図|写真|Fig)", re.I)
_COUNTED = re.compile(
    r"[0-9]+\s*(?:年|月|日|時|分|秒|件|個|つ|人|名|回|円|万|億|%|種|社|台|点|割|倍|歳|階|ページ)"
    r"|[0-9]+\.[0-9]+(?:ミリ秒|秒|分|時間|日|年|か月|ヶ月|%|倍|円|件|[KMGT]i?B|[KMG]bps|[MG]Hz|m?s|[cm]?m|k?g|px)(?![一-龯ァ-ヴーA-Za-z])"
)
_MAX_CAPTION = 120


def heading_number(title: str) -> str | None:
    """Normalise the number that a heading starts with, or return None when it has no clear one.

    >>> [heading_number(t) for t in ("第３章 設計", "1．２ 範囲", "第十二条 委託", "(2) 性能", "附属書A 様式")]
    ['3', '1.2', '12', '(2)', 'A']
    >>> heading_number("2024年度の計画"), heading_number("3つの要件"), heading_number("はじめに")
    (None, None, None)
    >>> heading_number("3.0秒"), heading_number("2.1分析")
    (None, '2.1')
    >>> heading_number("9.3A 検索の方針"), heading_number("2.1 B案")
    ('9.3A', '2.1')
    """
    text = normalise(title).strip()
    if match := _UNIT.match(text):
        number = str(read_numeral(match["n"]))
        return f"{number}-{match['branch']}" if match["branch"] else number
    if match := _APPENDIX.match(text):
        return match["letter"].upper()
    if match := _APPENDED.match(text):
        return match["word"] + match["n"]
    if match := _LETTERED.match(text):
        return match["n"]
    return _plain_number(text, title.strip())


def _plain_number(text: str, written: str) -> str | None:
    if _COUNTED.match(text):
        return None
    if match := _DOTTED.match(text):
        return match["n"].replace("-", ".")
    if match := _PARENTHESISED.match(text):
        return f"({match['n']})"
    starts_circled = bool(written) and unicodedata.decomposition(written[0]).startswith("<circle>")
    if not starts_circled and (match := _SINGLE.match(text)):
        return match["n"]
    if written[:1] >= "Ⅰ" and written[:1] <= "ⅿ" and (match := _ROMAN.match(text)):
        return match["n"]
    return None


def numbered_level(text: str) -> int | None:
    """Guess the heading level (1 to 6) that a number at the start of a line implies, or None.

    >>> [numbered_level(t) for t in ("第2章 方式", "1.2 範囲", "1.2.3 詳細", "3. 体制", "本文です")]
    [1, 2, 3, 1, None]
    """
    normal = normalise(text).strip()
    if match := _UNIT.match(normal):
        return _UNIT_LEVELS.get(match["unit"])
    if _COUNTED.match(normal):
        return None
    if match := _DOTTED.match(normal):
        return min(len(re.split(r"[.\-]", match["n"])), 6)
    if re.match(r"[0-9]{1,2}\.?\s", normal) or re.match(r"[0-9]{1,2}[.．]\s*\S", normal):
        return 1
    return None


def is_caption(text: str) -> bool:
    """Return whether a paragraph reads as the caption of a figure or table: 図1 …, 表 2-1：…, Figure 3 …."""
    normal = normalise(text)
    if len(normal) > _MAX_CAPTION or normal.rstrip().endswith("。"):
        return False
    match = _CAPTION.match(normal)
    return match is not None and not re.match(r"\s*(?:[はがをにのもとで]|から|より|参照)", normal[match.end() :])


def is_figure_caption(text: str) -> bool:
    """Return whether a caption belongs to a picture rather than to a table."""
    return _FIGURE_CAPTION.match(text) is not None and not text.lstrip().startswith("図表")
