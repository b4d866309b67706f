"""Whether the places that a sentence quotes bear out its words, its numbers and its yes or no; no model."""

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
    r"(?<![少危])ない(?!し)|ません|ず(?=[に、。]|\Z)|不可|禁止|対象外|\bno[tr]?\b|n't\b|\bnever\b|\bcannot\b"
)
_FORBIDDEN = re.compile(
    r"ては?(?:な[らり]|いけ)(?:ない|ません)|できない|認めない|不可|禁止|対象外|\b(?:must|may|shall) not\b|\bcannot\b"
)
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
    """Return whether quotes bear out the numbers of a sentence, in any spelling, and its yes or no, in any language.

    Numbers and dates must stand in the passages; a quantity with its unit in the quoted places, or over them: 3分 is
    not borne out by a chapter 3, nor by the sentence beside the quoted one. What it can't see is a sentence that turns
    what they say into its opposite, unless by a plain negation that the quotes do not have, or by leaving out that
    something is forbidden.
    """
    text = _passages_of(quotes)
    dates = {term for mention in find_dates(fold_terms(text)) for term in mention.terms}
    undated = _without_dates(sentence, dates)
    if not numbers_of(undated) <= numbers_of(text) | numbers_of(text.translate(_KANJI_DIGITS)):
        return False
    places = "\n".join(f"{one.around}\n{one.text}" for one in quotes)
    return _has_quantities(undated, places) and not _is_turned(sentence, quotes)


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


def _is_turned(sentence: str, quotes: Sequence[PlacedSentence]) -> bool:
    """Return whether a sentence says no where those that it rests on don't, or yes where they forbid it."""
    texts = [_OBLIGED.sub("", fold_terms(text)) for one in quotes for text in _sentences_in(one)]
    said = _OBLIGED.sub("", fold_terms(sentence))
    if _NEGATED.search(said):
        return not any(_NEGATED.search(one) for one in texts)
    return all(_FORBIDDEN.search(one) for one in texts)


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
