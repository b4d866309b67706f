"""Characters of PDF text as they were meant: writers take some kanji for the radical that looks the same."""

from __future__ import annotations

from knowledge.text.folding import normalise

# Source: Unicode's CJK Radicals Supplement (U+2E80 to U+2EFF), those that are drawn like a whole character.
_SUPPLEMENT = {
    "⺟": "母",
    "⺠": "民",
    "⻁": "虎",
    "⻄": "西",
    "⻆": "角",
    "⻉": "貝",
    "⻋": "車",
    "⻑": "長",
    "⻔": "門",
    "⻘": "青",
    "⻚": "頁",
    "⻛": "風",
    "⻝": "食",
    "⻢": "馬",
    "⻣": "骨",
    "⻤": "鬼",
    "⻥": "魚",
    "⻦": "鳥",
    "⻨": "麦",
    "⻩": "黄",
    "⻫": "斉",
    "⻭": "歯",
    "⻯": "竜",
    "⻲": "亀",
}
_KANGXI = {code: normalise(chr(code)) for code in range(0x2F00, 0x2FD6)}
_WHOLE = _KANGXI | {ord(radical): kanji for radical, kanji in _SUPPLEMENT.items()}


def with_whole_kanji(text: str) -> str:
    """Write kanji for radicals, which no search for a word finds.

    >>> with_whole_kanji("⼊⼒と住⺠の画⾯")
    '入力と住民の画面'
    """
    return text.translate(_WHOLE)
