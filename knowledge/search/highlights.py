"""Where a question's words are in a passage. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sudachipy import SplitMode

from knowledge.index.analysis import QueryTerms, surfaces
from knowledge.index.morphemes import ENGLISH, ENGLISH_STOP_WORDS, JAPANESE, stem
from knowledge.text.dates import DateMention, find_dates
from knowledge.text.folding import fold_each, fold_terms, join_codes, one_variant
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer

MAX_WORDS = 80
MAX_SPANS = 200
_VOICE_MARKS = ("\u3099", "\u309a")
_KANJI = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]?"
_KATAKANA = re.compile("[\u30a1-\u30fa][\u30a1-\u30fa\u30fc]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What to mark for a question: a pattern for texts folded by `fold_characters`, words by normal form, dates by
    their terms.
    """

    pattern: re.Pattern[str] | None
    forms: frozenset[str]
    dates: frozenset[str]


def query_marks(text: str, terms: QueryTerms, *, also: Iterable[str] = ()) -> Marks:
    """Return what to mark for a question of these terms; those of synonyms don't count.

    Its words in any form of English, in Japanese in any spelling that the dictionary knows (問い合せ, 問合わせ), its
    dates in any calendar and spelling, and the texts of ``also`` (phrases, synonyms) as they are.
    """
    words = [*also, *surfaces(text)]
    folded = dict.fromkeys(fold_characters(word) for word in words if word.strip())
    patterns = [_pattern(word) for word in sorted(list(folded)[:MAX_WORDS], key=lambda word: (-len(word), word))]
    return Marks(
        pattern=re.compile("|".join(patterns)) if patterns else None,
        forms=frozenset(term for term, weight in terms.words.items() if weight == 1.0 and JAPANESE.search(term)),
        dates=frozenset(term for mention in find_dates(fold_terms(text)) for term in _found_by(mention)),
    )


def highlight_spans(content: str, marks: Marks) -> tuple[tuple[int, int], ...]:
    """Find the spans of ``content`` to mark, half-open, in order, without overlap; those that touch are one."""
    folded = fold_characters(content)
    found = [match.span() for match in marks.pattern.finditer(folded)] if marks.pattern else []
    spans: list[tuple[int, int]] = []
    for start, end in sorted([*found, *_spans_of_forms(folded, marks.forms), *_spans_of_dates(folded, marks.dates)]):
        if spans and start <= spans[-1][1]:
            first, last = spans.pop()
            spans.append((first, max(last, end)))
        elif len(spans) < MAX_SPANS:
            spans.append((start, end))
        else:
            break
    return tuple(spans)


def best_window(spans: Sequence[tuple[int, int]], *, length: int) -> int:
    """Return where a window of so many characters begins that has the most of the marked ones, the first of equals.

    >>> best_window([(3, 5), (300, 304), (310, 312)], length=100), best_window([], length=100)
    (300, 0)
    """

    def seen(begin: int) -> int:
        return sum(end - start for start, end in spans if begin <= start and end <= begin + length)

    return max((start for start, _end in spans), key=lambda begin: (seen(begin), -begin), default=0)


def _spans_of_forms(folded: str, forms: Collection[str]) -> Iterator[tuple[int, int]]:
    if not forms:
        return
    for start in range(0, len(folded), MAX_INPUT_CHARACTERS):
        for word in tokenizer().tokenize(folded[start : start + MAX_INPUT_CHARACTERS], SplitMode.A):
            if word.normalized_form() in forms and word.surface() not in ENGLISH_STOP_WORDS:
                yield start + word.begin(), start + word.end()


def _found_by(mention: DateMention) -> Iterator[str]:
    yield mention.terms[0]
    if mention.year is not None and mention.day is not None:
        yield mention.without_year


def _spans_of_dates(folded: str, dates: frozenset[str]) -> Iterator[tuple[int, int]]:
    if dates:
        for mention in find_dates(join_codes(folded)):
            if not dates.isdisjoint(mention.terms):
                yield mention.start, mention.end


def fold_characters(text: str) -> str:
    """Fold case, width and variants character by character, so that offsets stay those of the original.

    >>> fold_characters("ＦＲ－００１の髙橋")
    'fr-001の高橋'
    """
    return one_variant(fold_each(text))


def _pattern(word: str) -> str:
    if ENGLISH.fullmatch(word):
        root = stem(word)
        root = root[:-1] if root.endswith(("i", "e")) and len(root) > 3 else root
        return rf"(?<![a-z0-9]){re.escape(root)}[a-z]*" if word.startswith(root) else rf"(?<![a-z0-9]){word}"
    if _KATAKANA.fullmatch(word):
        return _as_written(word.rstrip("ー")) + "ー?"
    edge = "(?![a-z0-9])" if word[-1].isascii() and word[-1].isalnum() else ""
    return ("(?<![a-z0-9])" if word.isascii() and word[0].isalnum() else "") + _as_written(word) + edge


def _as_written(word: str) -> str:
    """Match a word also where a kana's voice mark is a character of its own (ﾊﾞ), or a kanji's variation selector."""
    return "".join(map(_as_one_or_two, word))


def _as_one_or_two(character: str) -> str:
    if _KANJI.match(character):
        return character + _SELECTOR
    apart = unicodedata.normalize("NFD", character)
    return f"(?:{character}|{apart})" if apart[1:] in _VOICE_MARKS else re.escape(character)
