"""Whether places that say one name in two ways are about two things: by what they stand below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from knowledge.text.outline import unnumbered_title
from knowledge.text.structure import section_at
from knowledge.types.documents import Section

_FORM_OF_MANY = 3
# 画面設計（SCR-003）登録 and 画面設計（SCR-004）検索 are records of one form.
_OWN = re.compile(r"[(（\[【].*|[A-Za-z]{2,8}[-_]?[0-9]{2,5}.*")
_SUB_ITEM = re.compile(r"[ \t　]*[-*+・‐–]")
_ITEM = re.compile(r"[ \t　]*(?:[(（]?[0-9０-９]{1,2}[)）.．]|[①-⑳])")
_LETTERED = re.compile(r"(?<![A-Za-z])[A-Z](?=[一-龯ァ-ヴ]{2})")
_REACH, _AROUND = 1000, 40


def are_apart(text: str, sections: tuple[Section, ...], starts: Sequence[int]) -> bool:
    """Tell whether the places are in sections of one form, or below items of their own: each is of another thing.

    A form is a title that three sections of the document have. A閾値 and B閾値 are two things, too.
    """
    letters = {_letters(text, start) for start in starts}
    if len(letters) > 1 and all(letters):
        return True
    homes = [section_at(sections, start) for start in starts]
    if len({home.id if home else "" for home in homes}) == 1:
        items = [_item_above(text, start) for start in starts]
        return all(items) and len(set(items)) > 1
    forms = [_form(home.title) if home else "" for home in homes]
    return len(set(forms)) == 1 and _forms(sections)[forms[0]] >= _FORM_OF_MANY


def _letters(text: str, start: int) -> tuple[str, ...]:
    """Return the single letters before nouns of the words around a place."""
    before = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
    behind = text[start : start + _AROUND].partition("\n")[0]
    return tuple(_LETTERED.findall(before + behind))


def _form(title: str) -> str:
    return _OWN.sub("", unnumbered_title(title)).strip()


@lru_cache(maxsize=4)
def _forms(sections: tuple[Section, ...]) -> Counter[str]:
    found = Counter(_form(section.title) for section in sections)
    found[""] = 0
    return found


def _item_above(text: str, start: int) -> str:
    """Return the numbered line that a bulleted one stands below; '' for any other, and where none is near."""
    lines = text[max(0, start - _REACH) : start].split("\n")
    if len(lines) == 1 or not _SUB_ITEM.match(lines.pop() + text[start : start + 1]):
        return ""
    for line in reversed(lines[1:]):
        if _ITEM.match(line):
            return line.strip()
        if not _SUB_ITEM.match(line):
            return ""
    return ""
