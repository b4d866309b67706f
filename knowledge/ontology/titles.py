"""Recognising a topic by a heading's wording."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from hub.core.folding import fold
from knowledge.types import Topic

_LEADING_NUMBER = re.compile(
    r"^\s*(?:第\s*[0-9一二三四五六七八九十]+\s*[章節項編部]|(?:付録|附録|別紙|別添|Appendix)?\s*[0-9A-Z]{0,3}(?:[.\-][0-9]+)*[.、):：](?![0-9])"
    r"|[0-9]+(?:[.\-][0-9]+)+(?![0-9])|[0-9]+(?=\s))\s*"
)
_BRACKETS = re.compile(r"[（(\[【〈<][^（()）\[\]【】〈〉<>]*[)）\]】〉>]")
_CONJUNCTION = re.compile(r"[・、,，／/&＆]|及び|および|並びに|ならびに|(?<=[^まひもほ])と(?![のしなり])")
# What may follow a topic's name in a heading that is about that topic: 性能 + 目標値, 機能要件 + 一覧.
_TAIL = re.compile(
    r"(?:(?:の|に関する|について(?:の)?)?(?:設計|要件|要求(?:事項)?|仕様書?|定義書?|方針|計画書?|概要|一覧|構成図?|事項|条件|考え方|対策"
    r"|管理方法|管理|体制図?|戦略|基準値?|目標値?|準備|方式|方法|項目|内容|説明|図|表|リスト|トレーサビリティ|マトリク?ス|編|書"
    r"|overview|list|plan|design|policy|requirements?))*(?:について)?"
)
_MIN_TAIL_SYNONYM = 3


def bare_title(title: str) -> str:
    """Return a heading's wording without its number and without what stands in brackets.

    >>> bare_title("第3章　機能要件（案）"), bare_title("1.2 目的"), bare_title("A. テストデータ準備")
    ('機能要件', '目的', 'テストデータ準備')
    """
    plain = unicodedata.normalize("NFKC", title).replace("*", "").replace("`", "").strip()
    without_number = _LEADING_NUMBER.sub("", plain).strip()
    return _BRACKETS.sub("", without_number).strip() or without_number or plain


def names_topic(title: str, topic: Topic) -> bool:
    """Tell whether a heading names the topic: as a whole, as the head of a compound, or as one of several named.

    A short synonym (目的, 役割) must be the whole name, since 各層の役割 is not about roles; a longer one may end it.
    """
    bare = bare_title(title)
    if any(re.search(pattern, bare) for pattern in topic.exclusions):
        return False
    names = _names(topic)
    return any(_is_named(part, name) for part in title_parts(bare) for name in names)


@lru_cache(maxsize=2048)
def title_parts(bare: str) -> tuple[str, ...]:
    """Return the folded heading and, where it joins several names (運用・保守要件), each of them."""
    parts = [fold(bare), *(fold(part) for part in _CONJUNCTION.split(bare) if part)]
    return tuple(dict.fromkeys(part for part in parts if part))


@lru_cache(maxsize=256)
def _names(topic: Topic) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fold(name) for name in (*topic.synonyms, topic.label_ja, topic.label_en)))


def _is_named(part: str, name: str) -> bool:
    if part == name:
        return True
    if part.startswith(name) and _TAIL.fullmatch(part, len(name)):
        return True
    return len(name) >= _MIN_TAIL_SYNONYM and part.endswith(name) and not name.isascii()
