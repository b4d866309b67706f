"""Cut Japanese and English text into the terms that lexical search indexes and asks for.

Two fields complement each other: ``words`` are Sudachi's normalised forms (mode A), so that サーバ, サーバー and
Server are one term; ``bigrams`` are neighbouring CJK characters, which find what no dictionary knows. Codes such as
FR-001 stay whole in both, next to their parts, and so do articles (第3条). English words are stemmed in both.
Dates get terms of their own in both, which all spellings of a day, a month or a year share.
Pure functions: no database, no framework.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add

from sudachipy import Morpheme, SplitMode

from knowledge.backends.dates import DateMention, find_dates
from knowledge.backends.embedders.text import normalise
from knowledge.backends.stemming import stem
from knowledge.backends.stop_words import ENGLISH_STOP_WORDS
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, dictionary, tokenizer

# Raise it with every change of the terms that a passage gets; passages of older editions are then indexed again.
ANALYSIS_EDITION = 3
MAX_TERM_LENGTH = 100
MAX_QUERY_TERMS = 256
SYNONYM_WEIGHT = 0.3
# Of how a day or a month is written, for it is asked for in any spelling; it helps where only a part is told: 4月1日.
SPELLING_WEIGHT = 0.1
_PIECE = re.compile(rf"(?s:.{{1,{MAX_INPUT_CHARACTERS}}}(?<=[。\n])|.{{1,{MAX_INPUT_CHARACTERS}}})")
_CELL_BORDER = re.compile(r"(?<=[ \n])\|(?=[ \n])")
# Longer lines hardly ever come a second time.
_LONGEST_KEPT = 300
_EMPTY_WORDS = frozenset({"助詞", "助動詞", "補助記号", "空白", "接続詞", "感動詞", "連体詞"})
# What a question asks with; in passages these words are rare and would weigh the most.
_QUESTION_WORDS = frozenset(
    {"何", "誰", "何処", "どこ", "何時", "いつ", "何故", "なぜ", "どれ", "どちら", "幾ら", "幾つ"}
)
# What a sentence needs and no subject is: する, いる, よい and their like, and such nouns as long as kana write them.
_AUXILIARY = "非自立可能"
_FORMAL_NOUNS = frozenset({"時", "方", "事", "こと", "物", "為", "所", "訳", "筈", "儘"})
_DASH = re.compile(r"(?<=[a-z0-9])[\u2010-\u2015\u2212\u30fc](?=[a-z0-9])")
# Possessive, and only from a word's start: otherwise a long run of letters takes quadratic time.
_CODE = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-_./:@+#]++[a-z0-9]++)+")
_ARTICLE = re.compile(
    r"第\s*(?P<number>[0-9]+|[〇一二三四五六七八九十百]+)\s*(?P<kind>[編部章節款項条号])"
    r"(?:の(?P<branch>[0-9]+|[二三四五六七八九十]+)(?![0-9二三四五六七八九十]))?"
)
# What names one thing: letters and digits joined by a sign. A mere number or two joined words are not.
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[a-z0-9]++(?:[-_.]++[a-z0-9]++)+")
_ENDINGS = (("ies", "y"), ("s", ""), ("es", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"))
_ENGLISH = re.compile("[a-z]{3,}")
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")}
_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK += "\uac00-\ud7a3\U00020000-\U0003ffff"
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_NO_LETTERS = re.compile(r"[\W_]+")
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_CJK}]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTerms:
    """How often each term occurs in a passage, by field."""

    words: Counter[str]
    bigrams: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """What to ask for, by field: term → weight (1 for the caller's own words, less for synonyms).

    ``codes`` are those of ``words`` that name one thing each: FR-001, GL-3.2.1, 第3条.
    """

    words: Mapping[str, float]
    bigrams: Mapping[str, float]
    codes: tuple[str, ...] = ()
    is_cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.bigrams)

    @property
    def own_words(self) -> int:
        """How many of the words are the caller's own."""
        return sum(weight == 1.0 for weight in self.words.values())


def analyse_passage(heading: str, text: str) -> PassageTerms:
    """Count the terms of a passage together with its heading (title and section path).

    >>> analyse_passage("", "ＦＲ－００１のサーバ").words
    Counter({'fr-001': 1, 'fr': 1, '001': 1, 'サーバー': 1})
    """
    folded = fold(f"{heading}\n{text}")
    dates = [term for mention in find_dates(folded) for term in mention.terms]
    words = Counter([*_passage_words(folded), *dates])
    return PassageTerms(words=words, bigrams=Counter([*_bigrams(folded), *dates]))


def analyse_query(text: str, *, synonyms: Sequence[str] = ()) -> QueryTerms:
    """Tell what a question asks for; both fields are empty when it says nothing (particles or symbols only).

    ``synonyms`` are other names for what the text mentions; their terms count ``SYNONYM_WEIGHT``, and so do the month
    and the year that a day or a month lies in. How those are written counts ``SPELLING_WEIGHT``. Beyond
    ``MAX_QUERY_TERMS`` distinct terms of a field the later ones are left out; ``is_cut`` when they are the text's own.
    """
    words, bigrams = _query_fields(text)
    is_cut = max(len(words), len(bigrams)) > MAX_QUERY_TERMS
    for alternative in synonyms:
        for terms, extra in zip((words, bigrams), _query_fields(alternative), strict=True):
            terms.update({term: SYNONYM_WEIGHT for term in extra if term not in terms})
    words, bigrams = _first(words), _first(bigrams)
    codes = tuple(code for code in dict.fromkeys(_codes(fold(text))) if words.get(code) == 1.0)
    return QueryTerms(words=words, bigrams=bigrams, codes=codes, is_cut=is_cut)


def fingerprint(text: str) -> int:
    """Give a number (signed, 64 bits) that texts share which differ in spaces, punctuation, width and case at most."""
    letters = _NO_LETTERS.sub("", fold(text))
    return int.from_bytes(hashlib.blake2b(letters.encode(), digest_size=8).digest(), signed=True)


def terms_inside(phrase: str) -> set[str]:
    """Give terms of the field ``bigrams`` that every passage has in which the phrase occurs.

    Words at either end may be parts of longer ones there, so they do not count.
    """
    folded = fold(phrase)
    terms: set[str] = set()
    for run in _RUN.finditer(folded):
        if run["cjk"] and len(run[0]) > 1:
            terms.update(run[0][i : i + 2] for i in range(len(run[0]) - 1))
        elif run.start() > 0 and run.end() < len(folded):
            terms.add(_whole_word(run[0]))
    return terms


def surfaces(text: str) -> list[str]:
    """Give the words of a question as they are written (folded), those that lexical search asks for; each once.

    Days and months are left out: their digits alone say nothing.
    """
    folded = fold(text)
    folded = _without(folded, [mention for mention in find_dates(folded) if mention.month is not None])
    found = [code[0] for code in _CODE.finditer(folded)] + [one[0] for one in _ARTICLE.finditer(folded)]
    for piece in _PIECE.findall(_CODE.sub(" ", folded)):
        for morpheme in tokenizer().tokenize(piece, SplitMode.A):
            surface = morpheme.surface()
            if not _only_asks(morpheme) and _says_something(surface, morpheme.part_of_speech()[0]):
                found.append(surface)
    return list(dict.fromkeys(found))


def fold(text: str) -> str:
    """Bring text to the one form in which terms are compared: NFKC, case folded, no NUL, one kind of dash in codes.

    >>> fold("ＧＬ‐３．２ Straße")
    'gl-3.2 strasse'
    """
    return _DASH.sub("-", normalise(text.replace("\0", "")).casefold())


def _query_fields(text: str) -> tuple[dict[str, float], dict[str, float]]:
    folded = fold(text)
    mentions = find_dates(folded)
    days = [mention for mention in mentions if mention.month is not None]
    asked = [mention.terms[0] for mention in days]
    words, bigrams = _fields_of(_without(folded, days))
    if not asked and not words:  # hiragana alone is then particles and endings
        bigrams = [term for term in bigrams if not _HIRAGANA.fullmatch(term)]
    wider = [term for mention in mentions for term in mention.terms]
    written = _fields_of(" ".join(folded[day.start : day.end] for day in days))
    return _weighed([*asked, *words], wider, written[0]), _weighed([*asked, *bigrams], wider, written[1])


def _weighed(own: Sequence[str], wider: Sequence[str], written: Sequence[str]) -> dict[str, float]:
    """Give terms their weights, the caller's own first; of several weights a term has the largest."""
    weights = dict.fromkeys(own, 1.0)
    for terms, weight in ((wider, SYNONYM_WEIGHT), (written, SPELLING_WEIGHT)):
        weights |= {term: weight for term in terms if term not in weights}
    return weights


def _fields_of(folded: str) -> tuple[list[str], list[str]]:
    words = list(_question_words(folded))
    return words, [term for term in _bigrams(folded) if term not in ENGLISH_STOP_WORDS]


def _without(text: str, mentions: Sequence[DateMention]) -> str:
    """Leave out what mentions dates."""
    ends = [0, *(mention.end for mention in mentions)]
    starts = [*(mention.start for mention in mentions), len(text)]
    return " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _first(terms: dict[str, float]) -> dict[str, float]:
    return dict(list(terms.items())[:MAX_QUERY_TERMS])


def _passage_words(folded: str) -> Iterator[str]:
    yield from _names(folded)
    for piece in _PIECE.findall(folded):
        for stretch in _stretches(piece):
            is_kept = len(stretch) <= _LONGEST_KEPT
            yield from _kept_terms(stretch) if is_kept else _terms(tokenizer().tokenize(stretch, SplitMode.A))


def _question_words(folded: str) -> Iterator[str]:
    yield from _names(folded)
    for piece in _PIECE.findall(folded):
        morphemes = tokenizer().tokenize(piece, SplitMode.A)
        yield from _terms(morpheme for morpheme in morphemes if not _only_asks(morpheme))


def _names(folded: str) -> Iterator[str]:
    for code in _CODE.finditer(folded):
        yield code[0][:MAX_TERM_LENGTH]
    yield from _articles(folded)


def _stretches(text: str) -> Iterator[str]:
    """Part lines and table cells, which are cut into the same morphemes alone as in the whole text.

    No word reaches over a line's end, or over a pipe between blanks, and nothing but a blank can stand there: so what
    is the best on one side does not depend on the other side. Each keeps the blank on either side, which its own
    first and last word depend on. Headings and cells come again and again, and are cut once.
    """
    for stretch in _CELL_BORDER.sub("\0", text).replace("\n", "\n\0\n").split("\0"):
        core = stretch.strip(" \n")
        if core:
            start = stretch.find(core)
            end = start + len(core)
            # Of several blanks, the first decides after a word; before one, a line's end and its indent are one blank.
            yield f"{stretch[: min(start, 1)]}{core}{stretch[end : end + 1]}"


@lru_cache(maxsize=8192)
def _kept_terms(stretch: str) -> tuple[str, ...]:
    return tuple(_terms(tokenizer().tokenize(stretch, SplitMode.A)))


def _terms(morphemes: Iterable[Morpheme]) -> Iterator[str]:
    says_nothing = _empty_words()
    for morpheme in morphemes:
        if not says_nothing(morpheme) and (term := _term(morpheme.surface(), morpheme.normalized_form())):
            yield term


@lru_cache(maxsize=1)
def _empty_words() -> Callable[[Morpheme], bool]:
    """Give what tells particles, signs and their like from words that say something; faster than asking for names."""
    matcher: Callable[[Morpheme], bool] = dictionary().pos_matcher(lambda parts: parts[0] in _EMPTY_WORDS)
    return matcher


def _codes(folded: str) -> Iterator[str]:
    for code in _CODE.finditer(folded):
        if _IDENTIFIER.fullmatch(code[0]):
            yield code[0][:MAX_TERM_LENGTH]
    yield from _articles(folded)


def _articles(folded: str) -> Iterator[str]:
    """Find articles, chapters and the like, in one spelling: 第三条, 第 3 条 → 第3条."""
    for found in _ARTICLE.finditer(folded):
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


@lru_cache(maxsize=50_000)
def _term(surface: str, normalized_form: str) -> str:
    """Give the term of a word, empty when it has no letters or digits; a text has each of them many times."""
    if not any(character.isalnum() for character in surface):
        return ""
    return _without_ending(normalized_form.casefold())[:MAX_TERM_LENGTH]


def _without_ending(word: str) -> str:
    """Stem an English word, or give the term of its base form when the dictionary knows that: servers → サーバー."""
    if not _ENGLISH.fullmatch(word):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            known = tokenizer().tokenize(word.removesuffix(ending) + instead, SplitMode.A)
            if len(known) == 1 and not (form := known[0].normalized_form()).isascii():
                return str(form).casefold()
    return stem(word)


def _says_something(surface: str, part_of_speech: str) -> bool:
    return part_of_speech not in _EMPTY_WORDS and any(character.isalnum() for character in surface)


def _only_asks(morpheme: Morpheme) -> bool:
    """Tell whether a word of a question belongs to the asking and not to what is asked for."""
    surface, form = morpheme.surface(), morpheme.normalized_form()
    if surface in ENGLISH_STOP_WORDS or form in _QUESTION_WORDS:
        return True
    return _HIRAGANA.fullmatch(surface) is not None and (
        form in _FORMAL_NOUNS or morpheme.part_of_speech()[1] == _AUXILIARY
    )


def _bigrams(folded: str) -> Iterator[str]:
    for code in _CODE.finditer(folded):
        yield code[0][:MAX_TERM_LENGTH]
    for run in _RUN.finditer(folded):
        if run["word"]:
            yield _whole_word(run[0])
        elif len(run[0]) == 1:
            yield run[0]
        else:
            yield from map(add, run[0], run[0][1:])


def _whole_word(word: str) -> str:
    # Not stemmed where a question's would be left out: "does" is no form of "doe".
    return (stem(word) if _ENGLISH.fullmatch(word) and word not in ENGLISH_STOP_WORDS else word)[:MAX_TERM_LENGTH]
