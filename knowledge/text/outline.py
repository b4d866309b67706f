"""The section tree: a heading without its number, the section an offset is in, and sections that are no body text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from knowledge.text.folding import normalise
from knowledge.text.numbering import ORDINAL
from knowledge.text.structure import is_table_of_contents, section_at
from knowledge.types.documents import Section

_CONTENTS_TITLE = re.compile(r"(目次|もくじ|table of contents|contents|図表一覧|図一覧|表一覧)", re.IGNORECASE)
_HISTORY_TITLE = re.compile(
    r"((変更|改訂|改定|改版|更新|修正|版数?|リリース|文書)(の)?(履歴|来歴|経緯|経過)|(更新|変更|改訂|改版)の?記録$|版歴|(revision|change|version)\s*(history|log)"
    r"|changelog)",
    re.IGNORECASE,
)
_CHAPTER_NUMBER = re.compile(rf"^\s*(?:{ORDINAL}|[0-9]+(?:[.．\-][0-9]+)*[.．、)]?)\s*")
_LIST_NUMBER = re.compile(
    rf"\s*+(?:{ORDINAL}"
    r"|(?:付録|附録|別紙|別添|別表|参考|Appendix|Annex)\s*[0-9A-Z]{0,3}(?:[.\-][0-9]+)*(?:[.、):：]|\s|$)"
    r"|[(（](?:[0-9]{1,2}|[ア-ンa-zA-Z]|[一二三四五六七八九十]{1,3}|[ivx]{1,4})[)）]"
    r"|[A-Z](?:[.\-][0-9]+)+[.)]?(?=\s)|[A-Zア-ン][.、)](?![0-9])|[アイウエオカキクケコ](?=\s)"
    r"|[0-9]+(?:[.\-][0-9]+)*[.、):：](?![0-9])|[0-9]+(?:[.\-][0-9]+)+(?![0-9])|[0-9]+(?=\s)"
    r"|[IVX]{1,4}[.、)\s]|[①-⑳❶-❿■□●○◆◇▼▲▶►◎§※・])\s*"
)
# ４機能要件 numbers a chapter; 3層構成, 2要素認証 and 5年計画 count something.
_JOINED_NUMBER = re.compile(
    r"^[0-9]{1,2}(?=[一-龯ァ-ヴ]{2})(?![年月日時分秒週件個人名回円万億次層段台点割倍階歳種社系面列行桁本枚号者番つ]|要素|文字|画面|ステップ|フェーズ|キロ|ミリ|メガ|ギガ)"
)
_CIRCLED = re.compile(r"^\s*[①-⑳❶-❿]\s*")
_MOST_NUMBERS = 3
_BRACKETS = re.compile(r"[（(\[【〈<][^（()）\[\]【】〈〉<>]*[)）\]】〉>]")


def unnumbered_title(title: str) -> str:
    """Return a heading's text without its chapter number and emphasis marks, for messages and patterns.

    >>> unnumbered_title("**第3章** 機能要件（案）"), unnumbered_title("1.2 目的"), unnumbered_title("A. 準備")
    ('機能要件(案)', '目的', 'A. 準備')
    """
    plain = _plain(title)
    return _CHAPTER_NUMBER.sub("", plain).strip() or plain


@lru_cache(maxsize=2048)
def bare_title(title: str) -> str:
    """Return what a heading names: its text without numbers, list marks and what is in brackets, for whole matches.

    `unnumbered_title` keeps brackets and letters, which a message shows and a pattern may look for.

    >>> bare_title("第3章　機能要件（案）"), bare_title("1.2 目的"), bare_title("A. テストデータ準備")
    ('機能要件', '目的', 'テストデータ準備')
    >>> bare_title("１－２．範囲"), bare_title("A-1. Objective"), bare_title("(ア) 対象"), bare_title("3D表示")
    ('範囲', 'Objective', '対象', '3D表示')
    >>> bare_title("４機能要件"), bare_title("3層構成"), bare_title("2要素認証")
    ('機能要件', '3層構成', '2要素認証')
    """
    plain = _plain(_CIRCLED.sub("", title))
    without_number = _JOINED_NUMBER.sub("", _without_numbers(plain))
    return _BRACKETS.sub("", without_number).strip() or without_number.strip("（）()[]【】〈〉<> ") or plain


def _without_numbers(plain: str) -> str:
    """Take numbers and bullets off the front; a part's number may be before a chapter's (第2編 第1章)."""
    for _ in range(_MOST_NUMBERS):
        number = _LIST_NUMBER.match(plain)
        shorter = plain[number.end() :].strip() if number else ""
        if not shorter:
            break
        plain = shorter
    return plain


def _plain(title: str) -> str:
    return normalise(title).replace("*", "").replace("`", "").strip()


@lru_cache(maxsize=4)
def contents_ids(text: str, sections: tuple[Section, ...]) -> frozenset[str]:
    """Return the ids of the sections that are a table of contents, or a list of figures and tables."""
    return frozenset(
        section.id
        for section in sections
        if _CONTENTS_TITLE.fullmatch(unnumbered_title(section.title).strip("【】[]〈〉 "))
        or is_table_of_contents(section, text)
    )


def is_history(section: Section) -> bool:
    return names_history(section.title)


def names_history(title: str) -> bool:
    return bool(_HISTORY_TITLE.search(unnumbered_title(title)))


def place(sections: tuple[Section, ...], offset: int) -> str:
    """Return the title of the section around ``offset`` for a message, or an empty string before the first one."""
    section = section_at(sections, offset)
    return section.title.strip() if section else ""


def apparatus(text: str, sections: tuple[Section, ...]) -> tuple[tuple[int, int], ...]:
    """Return the stretches that are no body text: table of contents and change history, subsections included."""
    contents = contents_ids(text, sections)
    listing = ((section.start, section.body_end) for section in sections if section.id in contents)
    history = ((section.start, section.end) for section in sections if is_history(section))
    return tuple(sorted({*listing, *history}))


def inside(stretches: Iterable[tuple[int, int]], offset: int) -> bool:
    return any(start <= offset < end for start, end in stretches)
