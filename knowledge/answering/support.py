"""Whether the places that a sentence quotes bear out its words, numbers, bounds, and its yes or no; no model."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from knowledge.answering.quantities import NUMBER, in_digits, numbers_of, quantities_of
from knowledge.answering.sentences import PlacedSentence, sentences_at, shared_words
from knowledge.index.morphemes import HIRAGANA
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.text.numerals import DIGITS
from knowledge.text.quoting import place_of_quote
from knowledge.types.search import Hit

# Half of what a sentence says must be in the words of the passages: a paraphrase keeps its nouns, an invention
# does not. Tried on the sentences of tests/knowledge/answering/test_support.py.
LEAST_SHARE = 0.5
_OBLIGED = re.compile(
    r"な(?:けれ|くて)ば?は?(?:な[らり]|いけ)(?:ない|ません)|ねばな[らり](?:ない|ません)|だけでな[いく]"
    r"|に(?:限ら|かかわら)ず|not only"
)
_NEGATED = re.compile(
    r"(?<![少危])な(?:い(?!し)|く|けれ|かっ|し(?=[にで、。]|\Z))|ません|ず(?=[に、。]|\Z)|禁[止じ]|対象外|拒否"
    r"|不[可要]|無[効し]|[非未](?!常|来|満)|\bno[tr]?\b|n't\b|\bnever\b|\bcannot\b|\bwithout\b"
    r"|\b(?:disabled|disallowed|prohibited|forbidden|denied|rejected|refused|invalid|unsupported|unavailable)\b"
)
# What bounds a quantity or a date, by what it says: the words of one row say the same.
_BOUNDS = (
    (
        "以内",
        "以下",
        "以前",
        "まで",
        "最大",
        "最長",
        "at most",
        "no more than",
        "up to",
        "within",
        "or less",
        "or fewer",
    ),
    ("未満", "less than", "fewer than", "under", "below", "before"),
    ("以上", "最低", "少なくとも", "at least", "no less than", "or more"),
    ("超", "more than", "over", "above", "exceed", "after"),
    ("以降", "以後", "から", "from", "since"),
)
_BOUND_NAMES = {word: words[0] for words in _BOUNDS for word in words}
_ANY_BOUND = "|".join(sorted(_BOUND_NAMES, key=lambda word: -len(word)))
_BOUND_BEFORE = re.compile(rf"({_ANY_BOUND}) ?\Z")
_BOUND_AFTER = re.compile(rf" ?[^\s\d、。]{{0,8}}? ?({_ANY_BOUND})")
_LONGEST_BOUND = 16
# Addresses, names of files, versions and codes: written in letters and digits, or with what joins their parts.
_NAME = re.compile(r"[a-z0-9][a-z0-9_.:/@%+?=&#~-]*[a-z0-9]")
_PART_OF_NAME = re.compile(r"[0-9_@]|://|[a-z]\.[a-z]")
# Behind a verb, and not behind what belongs to the next one: 個人情報を送ることは、認めない.
_NEXT_CLAUSE = re.compile(r"(?<=[しきりえけせびみちずれ])、|(?<=[るいたすくうむぬん]が)、")
_MOST_CLAUSES = 6
_NEXT_SENTENCE = re.compile(r"[。！？!?](?=\s*[^\s」』）)。！？!?])|(?<!\b[A-Z])(?<!\b[DJMS]r)\.\s+(?=[A-Z])|\n")
_KANJI_DIGITS = str.maketrans(DIGITS, "0123456789")


def sentences_with(quote: str, hit: Hit) -> PlacedSentence | None:
    """The whole sentences of a passage that a quote is of, as one place; None when the quote doesn't stand there."""
    place = place_of_quote(hit.content, quote)
    if place is None:
        return None
    start, end = place
    over = sentences_at(PlacedSentence(hit=hit, text=hit.content[start:end], start=start, end=end))
    first = over[0]
    start, end = min(start, first.start), max([end, *(one.end for one in over)])
    return replace(first, text=hit.content[start:end], start=start, end=end)


def has_words_of(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether the passages of quotes have the sentence's words."""
    return shared_words(sentence, _passages_of(quotes)) >= LEAST_SHARE


def is_in_another_language(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether only one of a sentence and its quotes is Japanese: then their words can't be compared."""
    return bool(HIRAGANA.search(sentence)) is not any(HIRAGANA.search(one.text) for one in quotes)


def has_facts_of(sentence: str, quotes: Sequence[PlacedSentence], *, question: str = "") -> bool:
    """Return whether quotes bear out the numbers and dates of a sentence, in any spelling and language.

    They must stand in the quoted places, or over them; a quantity with its unit: 3分 is not borne out by a chapter 3,
    nor by the sentence beside the quoted one. Those of a ``question`` may stand in the sentence, too.
    """
    text = f"{_places_of(quotes)}\n{question}"
    dates = {term for mention in find_dates(fold_terms(text)) for term in mention.terms}
    undated = _without_dates(sentence, dates)
    if not numbers_of(undated) <= numbers_of(text) | numbers_of(text.translate(_KANJI_DIGITS)):
        return False
    return _has_quantities(undated, text)


def says_no_more_than(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether a sentence is one, with the yes or no, the bounds and the names of what it quotes.

    False is no proof of an invention (three seconds at most, and no longer than three): it says that words can't tell.
    What it can't see is what is turned by other words; whether it is of the same thing, `attribution` sees.
    """
    if _NEXT_SENTENCE.search(sentence.strip()):
        return False
    places = _places_of(quotes)
    return (
        _has_names(sentence, places)
        and _bounds_of(sentence, widely=False) <= _bounds_of(places, widely=True)
        and _has_yes_or_no(sentence, quotes)
    )


def _places_of(quotes: Sequence[PlacedSentence]) -> str:
    return "\n".join(f"{one.around}\n{one.text}" for one in quotes)


def _passages_of(quotes: Sequence[PlacedSentence]) -> str:
    hits = [one.hit for one in quotes]
    return "\n".join(" ".join([hit.title, *hit.section_path, hit.context_prefix, hit.content]) for hit in hits)


def _has_quantities(sentence: str, text: str) -> bool:
    """Return whether a text has the quantities of a sentence; the unit of a cell may be in its table's header."""
    wanted = {one for one in quantities_of(sentence) if one[1]}
    if not wanted:
        return True
    rows = (line for line in text.splitlines() if line.lstrip().startswith("|"))
    cells = {number for row in rows for number, unit in quantities_of(row) if not unit}
    return all(number in cells for number, _unit in wanted - set(quantities_of(text)))


def _has_yes_or_no(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether a sentence is negated as often as the quoted clauses with most of its words; of some, as all."""
    nearest = [_nearest_clauses(sentence, part.text) for one in quotes for part in sentences_at(one)]
    most = max(share for share, _clauses in nearest)
    return all(_negations(clauses) == _negations(sentence) for share, clauses in nearest if share == most)


def _nearest_clauses(sentence: str, text: str) -> tuple[float, str]:
    """The shortest run of a text's clauses that has most of a sentence's words, after the share that it has."""
    clauses = _NEXT_CLAUSE.split(text, maxsplit=_MOST_CLAUSES - 1)
    ends = range(1, len(clauses) + 1)
    runs = ["、".join(clauses[start:end]) for end in ends for start in range(end)]
    return max(((shared_words(sentence, run), run) for run in runs), key=lambda rated: (rated[0], -len(rated[1])))


def _negations(text: str) -> int:
    return len(_NEGATED.findall(_OBLIGED.sub("", fold_terms(text))))


def _bounds_of(text: str, *, widely: bool) -> set[tuple[str, str]]:
    """The numbers and dates of a text that are bounded, with what bounds them; dates as the wider ones, too, if asked.

    >>> sorted(_bounds_of("2026年4月1日以降、3秒以内", widely=False))
    [('3', '以内'), ('date:2026-04-01', '以降')]
    """
    folded = fold_terms(text)
    bounds, undated, end = set(), "", 0
    for mention in find_dates(folded):
        terms = mention.terms if widely else mention.terms[:1]
        bounds |= {(term, name) for name in _bounds_at(folded, mention.start, mention.end) for term in terms}
        undated += f"{folded[end : mention.start]}\n"
        end = mention.end
    digits = in_digits(undated + folded[end:])
    for match in NUMBER.finditer(digits):
        bounds |= {(match[0].replace(",", ""), name) for name in _bounds_at(digits, match.start(), match.end())}
    return bounds


def _bounds_at(text: str, start: int, end: int) -> list[str]:
    before = _BOUND_BEFORE.search(text[max(0, start - _LONGEST_BOUND) : start])
    return [_BOUND_NAMES[found[1]] for found in (before, _BOUND_AFTER.match(text, end)) if found]


def _has_names(sentence: str, places: str) -> bool:
    """Return whether the addresses, names of files and codes of a sentence stand in a text; spaces don't matter."""
    folded = fold_terms(places)
    text = re.sub(r"\s+", "", folded)
    known = {term for mention in find_dates(folded) for term in mention.terms}
    names = _NAME.findall(_without_dates(sentence, known))
    return all(name in text for name in names if re.search("[a-z]", name) and _PART_OF_NAME.search(name))


def _without_dates(sentence: str, known: Collection[str]) -> str:
    """Leave out the dates of a sentence that are known already."""
    folded = fold_terms(sentence)
    for mention in reversed(find_dates(folded)):
        if mention.terms[0] in known:
            folded = f"{folded[: mention.start]} {folded[mention.end :]}"
    return folded
