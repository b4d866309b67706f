"""Find codes such as FR-001 and articles such as 第3条 in folded text, which stay whole as terms. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TERM_LENGTH = 100
# Possessive, and only from a word's start: otherwise a long run of letters takes quadratic time.
CODE = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-_./:@+#]++[a-z0-9]++)+")
ARTICLE = re.compile(
    r"第\s*(?P<number>[0-9]+|[〇一二三四五六七八九十百]+)\s*(?P<kind>[編部章節款項条号])"
    r"(?:の(?P<branch>[0-9]+|[二三四五六七八九十]+)(?![0-9二三四五六七八九十]))?"
)
# What names one thing: letters and digits joined by a sign. A mere number or two joined words are not.
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[a-z0-9]++(?:[-_.]++[a-z0-9]++)+")
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")}


def codes_in(folded: str) -> Iterator[str]:
    """Yield what signs join to one: fr-001, hub.core.errors, 3.2.1."""
    for code in CODE.finditer(folded):
        yield code[0][:MAX_TERM_LENGTH]


def identifiers_in(folded: str) -> Iterator[str]:
    """Yield the codes that name one thing each, and articles."""
    for code in CODE.finditer(folded):
        if _IDENTIFIER.fullmatch(code[0]):
            yield code[0][:MAX_TERM_LENGTH]
    yield from articles_in(folded)


def articles_in(folded: str) -> Iterator[str]:
    """Yield articles, chapters and the like, in one spelling: 第三条, 第 3 条 → 第3条."""
    for found in ARTICLE.finditer(folded):
        number = _in_digits(found["number"])
        branch = f"の{_in_digits(found['branch'])}" if found["branch"] else ""
        yield f"第{number}{found['kind']}{branch}"[:MAX_TERM_LENGTH]


def _in_digits(number: str) -> str:
    """Write a number up to 百九十九 and the like in digits; a row of digits is read as such."""
    if number.isdecimal():
        return number.lstrip("0") or "0"
    if not set("十百") & set(number):
        return "".join(str(_DIGITS[digit]) for digit in number).lstrip("0") or "0"
    total = pending = 0
    for character in number:
        if character in "十百":
            total, pending = total + (pending or 1) * (10 if character == "十" else 100), 0
        else:
            pending = _DIGITS[character]
    return str(total + pending)
