"""Looking things up in the section tree: which section an offset is in, and which sections are no body text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from knowledge.text.folding import normalise
from knowledge.text.structure import is_table_of_contents, section_at
from knowledge.types.documents import Section

_CONTENTS_TITLE = re.compile(r"(目次|もくじ|table of contents|contents|図表一覧|図一覧|表一覧)", re.IGNORECASE)
_HISTORY_TITLE = re.compile(
    r"((変更|改訂|改定|改版|更新|修正|版数?|リリース|文書)(の)?(履歴|来歴|経緯|経過)|(更新|変更|改訂|改版)の?記録$|版歴|(revision|change|version)\s*(history|log)"
    r"|changelog)",
    re.IGNORECASE,
)
_LEADING_NUMBER = re.compile(
    r"^\s*(?:第\s*[0-9一二三四五六七八九十]+\s*[章節項編部]|[0-9]+(?:[.．\-][0-9]+)*[.．、)]?)\s*"
)


def bare_title(title: str) -> str:
    """Return a heading's text without its number and emphasis marks.

    >>> bare_title("**第3章** 機能要件"), bare_title("1.2 目的")
    ('機能要件', '目的')
    """
    plain = normalise(title).replace("*", "").replace("`", "").strip()
    return _LEADING_NUMBER.sub("", plain).strip() or plain


@lru_cache(maxsize=4)
def contents_ids(text: str, sections: tuple[Section, ...]) -> frozenset[str]:
    """Return the ids of the sections that are a table of contents, or a list of figures and tables."""
    return frozenset(
        section.id
        for section in sections
        if _CONTENTS_TITLE.fullmatch(bare_title(section.title).strip("【】[]〈〉 "))
        or is_table_of_contents(section, text)
    )


def is_history(section: Section) -> bool:
    return names_history(section.title)


def names_history(title: str) -> bool:
    return bool(_HISTORY_TITLE.search(bare_title(title)))


def place(sections: tuple[Section, ...], offset: int) -> str:
    """Return the title of the section around ``offset`` for a message, or an empty string before the first one."""
    section = section_at(sections, offset)
    return section.title.strip() if section else ""


def apparatus(text: str, sections: tuple[Section, ...]) -> tuple[tuple[int, int], ...]:
    """Return the stretches that are no body text: table of contents and change history, subsections included."""
    contents = contents_ids(text, sections)
    return tuple((section.start, section.end) for section in sections if section.id in contents or is_history(section))


def inside(stretches: Iterable[tuple[int, int]], offset: int) -> bool:
    return any(start <= offset < end for start, end in stretches)
