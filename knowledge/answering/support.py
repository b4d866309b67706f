"""Whether the places that a sentence quotes bear out its words, numbers, bounds, and its yes or no; no model."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from sudachipy import SplitMode

from knowledge.answering.sentences import PlacedSentence, sentences_of, shared_words
from knowledge.index.morphemes import HIRAGANA
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.numerals import DIGITS, read_numeral
from knowledge.text.quoting import place_of_quote
from knowledge.types.search import Hit

# Half of what a sentence says must be in the words of the passages: a paraphrase keeps its nouns, an invention
# does not. Tried on the sentences of tests/knowledge/answering/test_support.py.
LEAST_SHARE = 0.5
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
# Units, with what else they are called; the first spelling names them.
_UNITS = (
    ("時間", "hours", "hour"),
    ("分間", "分", "minutes", "minute"),
    ("秒間", "秒", "seconds", "second"),
    ("か月", "ヶ月", "カ月", "ケ月", "箇月", "月間", "months", "month"),
    ("日間", "日", "days", "day"),
    ("年間", "か年", "年", "years", "year"),
    ("人", "名"),
    ("%", "パーセント", "percent"),
    ("か所", "ヶ所", "カ所", "箇所"),
    *((unit,) for unit in ("円", "件", "回", "台", "部", "個", "世代", "文字", "週間", "営業日", "時", "月")),
)
_UNIT_NAMES = {spelling: names[0] for names in _UNITS for spelling in names}
_QUANTITY = re.compile(
    rf"(\d+(?:[.,]\d+)*)\s*({'|'.join(sorted(map(re.escape, _UNIT_NAMES), key=lambda name: -len(name)))})?"
)
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
_NEXT_SENTENCE = re.compile(r"[。！？!?](?=\s*[^\s」』）)。！？!?])|\.\s+(?=[A-Z])|\n")
_KANJI_DIGITS = str.maketrans(DIGITS, "0123456789")


def sentences_with(quote: str, hit: Hit) -> PlacedSentence | None:
    """The whole sentences of a passage that a quote is of, as one place; None when the quote doesn't stand there."""
    place = place_of_quote(hit.content, quote)
    if place is None:
        return None
    start, end = place
    over = _overlapping(hit, start, end)
    first = over[0] if over else PlacedSentence(hit=hit, text="", start=start, end=end)
    start, end = min(start, first.start), max([end, *(one.end for one in over)])
    return replace(first, text=hit.content[start:end], start=start, end=end)


def has_words_of(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether the passages of quotes have the sentence's words."""
    return shared_words(sentence, _passages_of(quotes)) >= LEAST_SHARE


def is_in_another_language(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether only one of a sentence and its quotes is Japanese: then their words can't be compared."""
    return bool(HIRAGANA.search(sentence)) is not any(HIRAGANA.search(one.text) for one in quotes)


def numbers_of(text: str) -> set[str]:
    """The numbers of a text, without separators of thousands: 1,000, １０００, 千 and 一〇〇〇 are the same.

    >>> sorted(numbers_of("三秒、百二十件、3万5千円、一般の一部")), numbers_of("1,000人") == numbers_of("千人")
    (['120', '3', '35000'], True)
    """
    return {match[0].replace(",", "") for match in _NUMBER.finditer(_in_digits(fold_terms(text)))}


def _in_digits(text: str) -> str:
    """Write numerals in digits; characters that are part of a word, as in 一般, stay."""
    pieces = (text[at : at + MAX_INPUT_CHARACTERS] for at in range(0, len(text), MAX_INPUT_CHARACTERS))
    words = (word for piece in pieces for word in tokenizer().tokenize(piece, SplitMode.A))
    return "".join(_value(word.surface()) if word.part_of_speech()[1] == "数詞" else word.surface() for word in words)


def _value(numeral: str) -> str:
    """Write 三, 百二十, 二〇二六 or 3万5千 in digits; what is no such number (数百, 1,000), or is digits, stays."""
    value = None if numeral.isdecimal() else read_numeral(numeral)
    return numeral if value is None else str(value)


def has_facts_of(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether quotes bear out the numbers and dates of a sentence, in any spelling and language.

    They must stand in the quoted places, or over them; a quantity with its unit: 3分 is not borne out by a chapter 3,
    nor by the sentence beside the quoted one.
    """
    text = _places_of(quotes)
    dates = {term for mention in find_dates(fold_terms(text)) for term in mention.terms}
    undated = _without_dates(sentence, dates)
    if not numbers_of(undated) <= numbers_of(text) | numbers_of(text.translate(_KANJI_DIGITS)):
        return False
    return _has_quantities(undated, text)


def says_no_more_than(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether a sentence is one, with the yes or no, the bounds and the names of what it quotes.

    False is no proof of an invention (three seconds at most, and no longer than three): it says that words can't tell.
    What it can't see is what is turned by other words, or a value of another thing in the same sentence.
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
    wanted = {one for one in _quantities(sentence) if one[1]}
    if not wanted:
        return True
    rows = (line for line in text.splitlines() if line.lstrip().startswith("|"))
    cells = {number for row in rows for number, unit in _quantities(row) if not unit}
    return all(number in cells for number, _unit in wanted - set(_quantities(text)))


def _quantities(text: str) -> list[tuple[str, str]]:
    """The numbers of a text with their units, empty where there is none that is known."""
    found = _QUANTITY.findall(_in_digits(fold_terms(text)))
    return [(number.replace(",", ""), _UNIT_NAMES.get(unit, "")) for number, unit in found]


def _has_yes_or_no(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether a sentence is negated as often as the quoted clauses with most of its words; of some, as all."""
    nearest = [_nearest_clauses(sentence, text) for one in quotes for text in _sentences_in(one)]
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
    digits = _in_digits(undated + folded[end:])
    for match in _NUMBER.finditer(digits):
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


def _sentences_in(place: PlacedSentence) -> list[str]:
    return [one.text for one in _overlapping(place.hit, place.start, place.end)] or [place.text]


def _overlapping(hit: Hit, start: int, end: int) -> list[PlacedSentence]:
    return [one for one in sentences_of(hit) if one.start < end and start < one.end]


def _without_dates(sentence: str, known: Collection[str]) -> str:
    """Leave out the dates of a sentence that are known already."""
    folded = fold_terms(sentence)
    for mention in reversed(find_dates(folded)):
        if mention.terms[0] in known:
            folded = f"{folded[: mention.start]} {folded[mention.end :]}"
    return folded
