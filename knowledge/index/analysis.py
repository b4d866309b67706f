"""Cut Japanese and English text into the terms that lexical search indexes and asks for.

Two fields complement each other: ``words`` are Sudachi's normalised forms (mode A), so that サーバ, サーバー and
Server are one term; ``bigrams`` are neighbouring CJK characters, which find what no dictionary knows. Codes such as
FR-001 stay whole in both, next to their parts, and so do articles (第3条) and captions (表4.2-1). English words
are stemmed in both. Dates get terms of their own in both, which all spellings of a day, a month or a year share.
Pure functions: no database, no framework.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add
from types import MappingProxyType

from knowledge.index.morphemes import (
    ENGLISH,
    ENGLISH_STOP_WORDS,
    HIRAGANA,
    passage_words,
    question_surfaces,
    question_words,
    stem,
)
from knowledge.text.codes import (
    ARTICLE,
    CAPTION,
    CODE,
    LETTERS_WITH_DIGITS,
    MAX_TERM_LENGTH,
    articles_in,
    codes_in,
    identifiers_in,
)
from knowledge.text.dates import DateMention, find_dates, find_dates_in_name, name_words
from knowledge.text.folding import fold_terms

# Raise it with every change of the terms that a chunk gets; chunks of older editions are then indexed again.
ANALYSIS_EDITION = 8
MAX_QUERY_TERMS = 256
# Of the month and the year that a day lies in, and of the day without a year: this alone is nearer than both of those.
WIDER_WEIGHT = 0.3
NO_YEAR_WEIGHT = 0.7
NO_SYNONYMS: Mapping[str, str] = MappingProxyType({})
# Of how a date is written, for it is asked for in any spelling; it helps where only a part is given. The number of a
# year often stands alone: (2026), 2026/27.
DAY_SPELLING_WEIGHT = 0.1
YEAR_SPELLING_WEIGHT = 0.3
_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK += "\uac00-\ud7a3\U00020000-\U0003ffff"
_NO_LETTERS = re.compile(r"[\W_]+")
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_CJK}]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTerms:
    words: Counter[str]
    bigrams: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherName:
    """Terms of one field that together may be in a chunk instead of some that the caller asks for.

    Instead of all of them where ``instead_of`` is empty: the question has no word of its own in this field.
    """

    name: str
    terms: tuple[str, ...]
    instead_of: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """What to ask for, by field: term → weight (1 for the caller's own words), and what may be there instead.

    ``codes`` are those of ``words`` that name one thing each: FR-001, GL-3.2.1, 第3条.
    """

    words: Mapping[str, float]
    bigrams: Mapping[str, float]
    other_words: tuple[OtherName, ...] = ()
    other_bigrams: tuple[OtherName, ...] = ()
    codes: tuple[str, ...] = ()
    is_cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.bigrams or self.other_words or self.other_bigrams)

    @property
    def own_words(self) -> int:
        return sum(weight == 1.0 for weight in self.words.values())


def analyse_passage(heading: str, text: str, *, name: str = "") -> PassageTerms:
    """Count the terms of a chunk together with its heading (title and section path).

    ``name`` is the path of its document's file: its dates, and the words of the file's own name, count once where
    neither heading nor text has them.

    >>> analyse_passage("", "ＦＲ－００１のサーバ").words
    Counter({'fr-001': 1, 'fr': 1, '001': 1, 'サーバー': 1})
    """
    folded = fold_terms(f"{heading}\n{text}")
    dates = [term for mention in find_dates(folded) for term in mention.terms]
    words = Counter([*codes_in(folded), *articles_in(folded), *passage_words(folded), *dates])
    bigrams = Counter([*_bigrams(folded), *dates])
    if name:
        for field, terms in zip((words, bigrams), _terms_of_file(name, heading.partition("\n")[0]), strict=True):
            field.update([term for term in terms if term not in field])
    return PassageTerms(words=words, bigrams=bigrams)


def analyse_query(text: str, *, synonyms: Mapping[str, str] = NO_SYNONYMS) -> QueryTerms:
    """Return what a question asks for; both fields are empty when it says nothing (particles or symbols only).

    ``synonyms`` are other names, each with the name of the same thing that is in the text. The month and the year
    that a day or a month lies in count ``WIDER_WEIGHT``, chunks that name the day without a year ``NO_YEAR_WEIGHT``;
    how dates are written counts ``DAY_SPELLING_WEIGHT`` or ``YEAR_SPELLING_WEIGHT``. Beyond ``MAX_QUERY_TERMS``
    distinct terms of a field the later ones are left out; ``is_cut`` says so.
    """
    folded = fold_terms(text)
    fields = _query_fields(folded)
    is_cut = max(map(len, fields)) > MAX_QUERY_TERMS
    words, bigrams = (dict(list(terms.items())[:MAX_QUERY_TERMS]) for terms in fields)
    codes = tuple(code for code in dict.fromkeys(identifiers_in(folded)) if words.get(code) == 1.0)
    others = _other_names(synonyms, (words, bigrams))
    return QueryTerms(
        words=words, bigrams=bigrams, other_words=others[0], other_bigrams=others[1], codes=codes, is_cut=is_cut
    )


def fingerprint(text: str) -> int:
    """Give a number (signed, 64 bits) that texts share which differ in spaces, punctuation, width and case at most."""
    letters = _NO_LETTERS.sub("", fold_terms(text))
    return int.from_bytes(hashlib.blake2b(letters.encode(), digest_size=8).digest(), signed=True)


def terms_inside(phrase: str) -> list[str]:
    """Give terms of the field ``bigrams`` that every chunk has in which the phrase occurs, as they follow each other.

    Words at either end may be parts of longer ones there, so they do not count.
    """
    folded = fold_terms(phrase)
    terms: list[str] = []
    for run in _RUN.finditer(folded):
        if run["cjk"] and len(run[0]) > 1:
            terms += map(add, run[0], run[0][1:])
        elif run.start() > 0 and run.end() < len(folded):
            terms.append(_whole_word(run[0]))
    return terms


def surfaces(text: str) -> list[str]:
    """Return the words of a question as they are written (folded), those that lexical search asks for; each once.

    Dates are left out: their digits alone say nothing.
    """
    folded = fold_terms(text)
    folded = _without(folded, find_dates(folded))
    found = [one[0] for one in CAPTION.finditer(folded)]
    folded = CAPTION.sub(" ", folded)
    found += [one[0] for names in (CODE, ARTICLE) for one in names.finditer(folded)]
    folded = CODE.sub(" ", folded)
    found += [one[0] for one in LETTERS_WITH_DIGITS.finditer(folded)]
    found += question_surfaces(LETTERS_WITH_DIGITS.sub(" ", folded))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=256)
def _terms_of_file(path: str, title: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the terms of a file's name in each field, each once; they come with every chunk of a document.

    Beside its words these are the dates of the whole path, and of the title read as a name.
    """
    mentions = [mention for name in (path, title) for mention in find_dates_in_name(fold_terms(name))]
    dates = [term for mention in mentions for term in mention.terms]
    stem = name_words(fold_terms(path.rpartition("/")[2]))
    words = [*codes_in(stem), *articles_in(stem), *passage_words(stem), *dates]
    return tuple(dict.fromkeys(words)), tuple(dict.fromkeys([*_bigrams(stem), *dates]))


def _query_fields(folded: str) -> tuple[dict[str, float], dict[str, float]]:
    mentions = find_dates(folded)
    asked = [mention.terms[0] for mention in mentions]
    words, bigrams = _fields_of(_without(folded, mentions))
    if not asked and not words:  # hiragana alone is then particles and endings
        bigrams = [term for term in bigrams if not HIRAGANA.fullmatch(term)]
    if not mentions:  # as of most questions
        return dict.fromkeys(words, 1.0), dict.fromkeys(bigrams, 1.0)
    days = _fields_of(_spelt(folded, [mention for mention in mentions if mention.month is not None]))
    years = _fields_of(_spelt(folded, [mention for mention in mentions if mention.month is None]))
    no_year = [mention.without_year for mention in mentions if mention.year is not None and mention.day is not None]
    wider = [term for mention in mentions for term in mention.wider]
    lesser = [
        ((NO_YEAR_WEIGHT, no_year), (WIDER_WEIGHT, wider), (YEAR_SPELLING_WEIGHT, year), (DAY_SPELLING_WEIGHT, day))
        for year, day in zip(years, days, strict=True)
    ]
    return _weighed([*asked, *words], lesser[0]), _weighed([*asked, *bigrams], lesser[1])


def _spelt(folded: str, mentions: Sequence[DateMention]) -> str:
    return " ".join(folded[mention.start : mention.end] for mention in mentions)


def _weighed(own: Sequence[str], lesser: Iterable[tuple[float, Sequence[str]]]) -> dict[str, float]:
    """Return terms their weights, the caller's own first; of several weights a term has the first."""
    weights = dict.fromkeys(own, 1.0)
    for weight, terms in lesser:
        weights |= {term: weight for term in terms if term not in weights}
    return weights


def _fields_of(folded: str) -> tuple[list[str], list[str]]:
    words = [*codes_in(folded), *articles_in(folded), *question_words(folded)]
    return words, [term for term in _bigrams(folded) if term not in ENGLISH_STOP_WORDS]


def _other_names(
    synonyms: Mapping[str, str], asked: tuple[Mapping[str, float], Mapping[str, float]]
) -> tuple[tuple[OtherName, ...], tuple[OtherName, ...]]:
    """Tell of each field what may stand instead of the names that the question's own terms make up.

    A name that is only a part of the question's words, as ログ of ログイン, is none of it.
    """
    found: tuple[list[OtherName], list[OtherName]] = ([], [])
    own = [{term for term, weight in terms.items() if weight == 1.0} for terms in asked]
    for other, name in synonyms.items():
        named = _terms_of_name(name)
        if named[0] and own[0] and own[0].isdisjoint(named[0]):
            continue
        for field, mine, of, terms in zip(found, own, named, _terms_of_name(other), strict=True):
            instead_of = tuple(term for term in of if term in mine)
            if not mine.issuperset(terms) and (instead_of or not mine):
                field.append(OtherName(name=other, terms=terms, instead_of=instead_of))
    return tuple(found[0]), tuple(found[1])


@lru_cache(maxsize=4096)
def _terms_of_name(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the terms of a name in each field, each once; the names of a concept come with every question about it."""
    words, bigrams = _fields_of(fold_terms(name))
    return tuple(dict.fromkeys(words)), tuple(dict.fromkeys(bigrams))


def _without(text: str, mentions: Sequence[DateMention]) -> str:
    ends = [0, *(mention.end for mention in mentions)]
    starts = [*(mention.start for mention in mentions), len(text)]
    return " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _bigrams(folded: str) -> Iterator[str]:
    yield from codes_in(folded)
    for run in _RUN.finditer(folded):
        if run["word"]:
            yield _whole_word(run[0])
        elif len(run[0]) == 1:
            yield run[0]
        else:
            yield from map(add, run[0], run[0][1:])


def _whole_word(word: str) -> str:
    # Not stemmed where a question's would be left out: "does" is no form of "doe".
    return (stem(word) if ENGLISH.fullmatch(word) and word not in ENGLISH_STOP_WORDS else word)[:MAX_TERM_LENGTH]
