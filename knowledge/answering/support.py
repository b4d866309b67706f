"""Whether a cited passage bears a sentence out, without any model."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sudachipy import SplitMode

from knowledge.answering.sentences import PlacedSentence, sentences_of, whole_passage
from knowledge.index.analysis import analyse_passage
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.numerals import DIGITS, read_numeral
from knowledge.types.search import Hit

# Half of what a sentence says must be in the words of the passages: a paraphrase keeps its nouns, an invention
# does not. Tried on the sentences of tests/knowledge/answering/test_support.py.
LEAST_SHARE = 0.5
Terms = tuple[frozenset[str], frozenset[str]]
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


def shared_words(sentence: str, text: str) -> float:
    """The share of a sentence's terms that a text has too, from 0 to 1; words and neighbouring characters count alike.

    >>> shared_words("応答時間は3秒以内。", "検索の応答時間は3秒以内であること。")
    1.0
    """
    return share_of(terms_of(sentence), terms_of(text))


def terms_of(text: str) -> Terms:
    found = analyse_passage("", text)
    return frozenset(found.words), frozenset(found.bigrams)


def share_of(ours: Terms, *theirs: Terms) -> float:
    """The share of some terms that others have, together; the larger one of words and of neighbouring characters."""
    shares = [
        sum(1 for term in own if any(term in others[field] for others in theirs)) / len(own)
        for field, own in enumerate(ours)
        if own
    ]
    return max(shares, default=0.0)


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


def is_supported(sentence: str, passages: Sequence[Hit]) -> bool:
    """Tell whether the passages have the sentence's words, and every number in it; a date in any calendar and spelling.

    A quantity must stand there with its unit: 3分 is not borne out by a chapter 3. What it can't see is a sentence that
    turns what the passages say into its opposite, unless by a plain negation that the cited sentences do not have, or
    by leaving out that something is forbidden.
    """
    text = "\n".join(" ".join([hit.title, *hit.section_path, hit.context_prefix, hit.content]) for hit in passages)
    dates = {term for mention in find_dates(fold_terms(text)) for term in mention.terms}
    if not numbers_of(_without_dates(sentence, dates)) <= numbers_of(text) | numbers_of(text.translate(_KANJI_DIGITS)):
        return False
    if not _has_quantities(_without_dates(sentence, dates), text):
        return False
    return shared_words(sentence, text) >= LEAST_SHARE and not _is_turned(sentence, passages)


def _has_quantities(sentence: str, text: str) -> bool:
    """Return whether a text has the quantities of a sentence; the unit of a cell may stand in its table's header."""
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


def _is_turned(sentence: str, passages: Sequence[Hit]) -> bool:
    """Return whether a sentence says no where those that it rests on don't, or yes where they forbid it."""
    quotes = [_OBLIGED.sub("", fold_terms(best_quote(sentence, hit).text)) for hit in passages]
    said = _OBLIGED.sub("", fold_terms(sentence))
    if _NEGATED.search(said):
        return not any(_NEGATED.search(one) for one in quotes)
    return bool(quotes) and all(_FORBIDDEN.search(one) for one in quotes)


def _without_dates(sentence: str, known: Collection[str]) -> str:
    """Leave out the dates of a sentence that are known already."""
    folded = fold_terms(sentence)
    for mention in reversed(find_dates(folded)):
        if mention.terms[0] in known:
            folded = f"{folded[: mention.start]} {folded[mention.end :]}"
    return folded


def best_quote(sentence: str, hit: Hit) -> PlacedSentence:
    """The sentence of a passage that has the most words of ``sentence``; the first of equals."""
    candidates = list(sentences_of(hit)) or [whole_passage(hit)]
    return max(candidates, key=lambda one: (shared_words(sentence, one.text), -one.start))
