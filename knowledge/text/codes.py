"""Find codes (FR-001), articles (第3条) and captions (表4.2-1) in folded text, which stay whole as terms. Pure."""

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
# Signs that stand between two codes, or a code and its label, as well as in a code: 要件ID:FR-001, FR-001/FR-002.
_BETWEEN_CODES = re.compile(r"[/:@+#]+")
# What names one thing: letters and digits joined by a sign. A mere number or two joined words are not.
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[a-z0-9]++(?:[-_.]++[a-z0-9]++)+")


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
