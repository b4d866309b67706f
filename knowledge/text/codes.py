"""Codes in folded text (`fold_terms`): what joins letters and digits to one name, by itself or by signs. Pure.

``CODE`` is all that signs join (FR-001, hub.core.errors, 3.2.1), a term of search. What of that has letters and digits
is an identifier, which names one thing; so does a name without a sign (JB032), which `names_in` yields with them.
Articles (第3条) and captions (表4.2-1) stay whole as codes do. Which identifiers a document defines, by schemes of its
own, is read in `knowledge.text.identifiers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.text.numerals import NUMERAL, read_numeral

MAX_TERM_LENGTH = 100
# Possessive, and only from a word's start: otherwise a long run of letters takes quadratic time.
CODE = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-_./:@+#]++[a-z0-9]++)+")
ARTICLE = re.compile(
    rf"第\s*(?P<number>[0-9]+|{NUMERAL}+)\s*(?P<kind>[編部章節款項条号])"
    r"(?:の(?P<branch>[0-9]+|[二三四五六七八九十]+)(?![0-9二三四五六七八九十]))?"
)
# Tables, figures and the like by their numbers: 表4.2-1, 図3, 別紙2, 様式第1号. Not 代表2名.
CAPTION = re.compile(
    r"(?<![\u4e00-\u9fff])(?P<kind>図表|[図表]|別[紙表添図]|様式|付[録表図])\s*+第?+\s*+"
    r"(?P<number>[0-9]++(?:[-.][0-9]++)*+)(?![a-z0-9])"
)
# JB032: the dictionary cuts it in two, neither of which is a word of the text.
LETTERS_WITH_DIGITS = re.compile(r"(?<![a-z0-9])(?:[a-z]++[0-9]|[0-9]++[a-z])[a-z0-9]*+")
# Signs that are between two codes, or a code and its label, as well as in a code: 要件ID:FR-001, FR-001/FR-002.
_BETWEEN_CODES = re.compile(r"[/:@+#]+")
# What names one thing: letters and digits joined by a sign. A mere number or two joined words are not.
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[a-z0-9]++(?:[-_.]++[a-z0-9]++)+")


# Letters first, then digits: JB032, FR-001, T-12a. The first digit is looked for so far only, since looking to the end
# from each part would take the square of the length.
_NAME = re.compile(
    r"(?<![a-z0-9])(?=[a-z]{1,100}+(?:[-_.][a-z]{1,100}+){0,9}+[-_.]?[0-9])[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*(?![a-z0-9])"
)
_KIND = re.compile(r"[^0-9]+")


def names_in(folded: str) -> Iterator[str]:
    """Yield what letters and digits name, with signs or without: fr-001, jb032, t-12a.

    >>> list(names_in("jb032とfr-001、第3条、3.2.1、a.b"))
    ['jb032', 'fr-001']
    """
    return (found[0] for found in _NAME.finditer(folded))


def is_name(folded: str) -> bool:
    return _NAME.fullmatch(folded) is not None


def kind_of(name: str) -> str:
    """Return what names of one kind have in common: what is before their first digit.

    >>> kind_of("fr-001"), kind_of("jb032")
    ('fr-', 'jb')
    """
    begin = _KIND.match(name)
    return begin[0] if begin else ""


def codes_in(folded: str) -> Iterator[str]:
    """Yield what signs join to one: fr-001, hub.core.errors, 3.2.1; and the codes in it: ``id:fr-001`` has fr-001."""
    for joined in CODE.finditer(folded):
        yield joined[0][:MAX_TERM_LENGTH]
        parts = _BETWEEN_CODES.split(joined[0])
        if len(parts) > 1:
            yield from (part[:MAX_TERM_LENGTH] for part in parts if _IDENTIFIER.fullmatch(part))


def identifiers_in(folded: str) -> Iterator[str]:
    """Yield the codes that name one thing each, articles and captions."""
    yield from (term for term in codes_in(folded) if _IDENTIFIER.fullmatch(term))
    yield from articles_in(folded)


def articles_in(folded: str) -> Iterator[str]:
    """Yield articles, chapters, tables and the like, in one spelling: 第三条, 第 3 条 → 第3条; 表 4.2-1 → 表4.2-1."""
    for found in ARTICLE.finditer(folded):
        number = read_numeral(found["number"])
        branch = f"の{read_numeral(found['branch'])}" if found["branch"] else ""
        yield f"第{number}{found['kind']}{branch}"[:MAX_TERM_LENGTH]
    for caption in CAPTION.finditer(folded):
        yield f"{caption['kind']}{caption['number']}"[:MAX_TERM_LENGTH]
