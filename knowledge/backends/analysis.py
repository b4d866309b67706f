"""Cut Japanese and English text into the terms that lexical search indexes and asks for.

Two fields complement each other: ``words`` are Sudachi's normalised forms (mode A), so that サーバ, サーバー and
Server are one term; ``bigrams`` are neighbouring CJK characters, which find what no dictionary knows. Codes such as
FR-001 stay whole in both, next to their parts. Pure functions: no database, no framework.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sudachipy import Morpheme, SplitMode

from knowledge.backends.embedders.text import normalise
from knowledge.morphology import MAX_INPUT_CHARACTERS, tokenizer

MAX_TERM_LENGTH = 100
MAX_QUERY_TERMS = 256
SYNONYM_WEIGHT = 0.3
_PIECE = re.compile(rf"(?s:.{{1,{MAX_INPUT_CHARACTERS}}}(?<=[。\n])|.{{1,{MAX_INPUT_CHARACTERS}}})")
_EMPTY_WORDS = frozenset({"助詞", "助動詞", "補助記号", "空白", "接続詞", "感動詞", "連体詞"})
# What a question asks with; in passages these words are rare and would weigh the most.
_QUESTION_WORDS = frozenset(
    {"何", "誰", "何処", "どこ", "何時", "いつ", "何故", "なぜ", "どれ", "どちら", "幾ら", "幾つ"}
)
_DASH = re.compile(r"(?<=[a-z0-9])[\u2010-\u2015\u2212\u30fc](?=[a-z0-9])")
# Possessive, and only from a word's start: otherwise a long run of letters takes quadratic time.
_CODE = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-_./:@+#]++[a-z0-9]++)+")
_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK += "\uac00-\ud7a3\U00020000-\U0003ffff"
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_CJK}]+)")

Expand = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTerms:
    """How often each term occurs in a passage, by field."""

    words: Counter[str]
    bigrams: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """What to ask for, by field: term → weight (1 for the caller's own words, less for synonyms)."""

    words: Mapping[str, float]
    bigrams: Mapping[str, float]
    is_cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.bigrams)


def analyse_passage(heading: str, text: str) -> PassageTerms:
    """Count the terms of a passage together with its heading (title and section path).

    >>> analyse_passage("", "ＦＲ－００１のサーバ").words
    Counter({'fr-001': 1, 'fr': 1, '001': 1, 'サーバー': 1})
    """
    folded = fold(f"{heading}\n{text}")
    return PassageTerms(words=Counter(_words(folded)), bigrams=Counter(_bigrams(folded)))


def analyse_query(text: str, *, expand: Expand | None = None) -> QueryTerms:
    """Tell what a question asks for; both fields are empty when it says nothing (particles or symbols only).

    ``expand`` gives other names for what the text mentions; their terms count ``SYNONYM_WEIGHT``. Beyond
    ``MAX_QUERY_TERMS`` distinct terms of a field the later ones are left out and ``is_cut`` is set.
    """
    words, bigrams = _query_fields(text)
    for alternative in expand(text) if expand else ():
        for terms, extra in zip((words, bigrams), _query_fields(alternative), strict=True):
            terms.update({term: SYNONYM_WEIGHT for term in extra if term not in terms})
    is_cut = max(len(words), len(bigrams)) > MAX_QUERY_TERMS
    return QueryTerms(words=_first(words), bigrams=_first(bigrams), is_cut=is_cut)


def fold(text: str) -> str:
    """Bring text to the one form in which terms are compared: NFKC, case folded, no NUL, one kind of dash in codes.

    >>> fold("ＧＬ‐３．２ Straße")
    'gl-3.2 strasse'
    """
    return _DASH.sub("-", normalise(text.replace("\0", "")).casefold())


def _query_fields(text: str) -> tuple[dict[str, float], dict[str, float]]:
    folded = fold(text)
    words = [word for word in _words(folded) if word not in _QUESTION_WORDS]
    bigrams = list(_bigrams(folded))
    if not words:  # hiragana alone is then particles and endings
        bigrams = [term for term in bigrams if not _HIRAGANA.fullmatch(term)]
    return dict.fromkeys(words, 1.0), dict.fromkeys(bigrams, 1.0)


def _first(terms: dict[str, float]) -> dict[str, float]:
    return dict(list(terms.items())[:MAX_QUERY_TERMS])


def _words(folded: str) -> Iterator[str]:
    for code in _CODE.finditer(folded):
        yield code[0][:MAX_TERM_LENGTH]
    for piece in _PIECE.findall(folded):
        for morpheme in tokenizer().tokenize(piece, SplitMode.A):
            if _says_something(morpheme):
                yield morpheme.normalized_form().casefold()[:MAX_TERM_LENGTH]


def _says_something(morpheme: Morpheme) -> bool:
    if morpheme.part_of_speech()[0] in _EMPTY_WORDS:
        return False
    return any(character.isalnum() for character in morpheme.surface())


def _bigrams(folded: str) -> Iterator[str]:
    for code in _CODE.finditer(folded):
        yield code[0][:MAX_TERM_LENGTH]
    for run in _RUN.finditer(folded):
        if run["word"]:
            yield run[0][:MAX_TERM_LENGTH]
        elif len(run[0]) == 1:
            yield run[0]
        else:
            yield from (run[0][i : i + 2] for i in range(len(run[0]) - 1))
