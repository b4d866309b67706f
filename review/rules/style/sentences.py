"""Sentences: their length, their commas, words that come back too soon, polite and plain style in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.text.sentences import CLOSING, OPENING
from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.markup import ADDRESS, PLACEHOLDER
from review.rules.style.reading import Sentence, Token, Unit, UnitKind

# A drawing's arrows, A → B / B → C, names parted by strokes, a line of the table of contents are no sentence.
_LISTED = re.compile(r"→[^→]*→|(?:(?:／| / )(?:(?!／| / )[^\n])*+){4}|[.…・‥]{8}")
_NOMINAL = frozenset({"名詞", "代名詞", "接尾辞", "接頭辞", "記号"})
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")
_KANA_OR_KANJI = re.compile("[\u3041-\u3096\u4e00-\u9fff]")
_COMMA_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d{3})")
# Conjunctions that join words, not sentences.
_WORD_JOINING = frozenset({"及び", "並びに", "又は", "若しくは", "且つ"})
_SHORTEST_MASK = 4


@unit_rule("style.sentence_length", defaults={"max": 100})
def sentence_length(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark sentences with more than ``max`` characters, lists of names and drawings in a line apart."""
    for sentence in unit.short_sentences:
        length = sentence.end - sentence.start
        is_listed = _LISTED.search(unit.plain, sentence.start, sentence.end)
        if length > params["max"] and unit.is_japanese and not is_listed:
            yield Mark(sentence.start, sentence.end, values={"length": length, "limit": params["max"]})


@unit_rule("style.comma_count", defaults={"max": 3, "mark": "、", "count_lists": False})
def comma_count(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark the first comma beyond ``max``. ``count_lists``: count the commas between nouns too."""
    for sentence in unit.short_sentences:
        commas = [i for i, token in enumerate(sentence.tokens) if token.surface == params["mark"]]
        if not params["count_lists"]:
            commas = [i for i in commas if not _joins_nouns(sentence.tokens, i)]
        if len(commas) > params["max"]:
            over = sentence.tokens[commas[params["max"]]]
            values = {"mark": params["mark"], "count": len(commas), "limit": params["max"]}
            yield Mark(over.start, over.end, values=values)


@unit_rule("style.ascii_comma_count", defaults={"max": 3}, by_default=False)
def ascii_comma_count(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark the first comma beyond ``max``."""
    for sentence in unit.sentences:
        text = _COMMA_BETWEEN_DIGITS.sub("0", unit.plain[sentence.start : sentence.end])
        commas = [sentence.start + match.start() for match in re.finditer("[,，]", text)]
        if len(commas) > params["max"]:
            at = commas[params["max"]]
            yield Mark(at, at + 1, values={"count": len(commas), "limit": params["max"]})


@unit_rule("style.doubled_conjunction")
def doubled_conjunction(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a sentence's first word when it is the conjunction that was used last in the same paragraph."""
    previous = ""
    for sentence in unit.short_sentences:
        conjunction = _conjunction(sentence)
        if conjunction is None:
            continue
        if conjunction.normal == previous:
            yield Mark(conjunction.start, conjunction.end)
        previous = conjunction.normal


@unit_rule("style.doubled_conjunctive_ga")
def doubled_conjunctive_ga(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark the second and later conjunctive が of a sentence."""
    for sentence in unit.short_sentences:
        found = [token for token in sentence.tokens if token.surface == "が" and token.is_a("助詞", "接続助詞")]
        yield from (Mark(token.start, token.end) for token in found[1:])


@unit_rule("style.successive_word", defaults={"allow": ()})
def successive_word(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a word that follows itself, however often. ``allow``: words that may."""
    run_start = -1
    for index, token in enumerate(unit.tokens):
        following = unit.tokens[index + 1] if index + 1 < len(unit.tokens) else None
        if following is not None and _repeats(token, following) and token.surface not in params["allow"]:
            run_start = token.start if run_start < 0 else run_start
        elif run_start >= 0:
            if not _is_mask(unit.plain[run_start : token.end]):
                yield Mark(run_start, token.end)
            run_start = -1


@unit_rule("style.tari")
def tari(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark the only たり of a sentence when neither する nor など follows it."""
    for sentence in unit.sentences:
        places = [i for i, token in enumerate(sentence.tokens) if _is_tari(sentence, i)]
        if len(places) == 1 and not _closes_tari(sentence, places[0]):
            token = sentence.tokens[places[0]]
            yield Mark(token.start, token.end)


@unit_rule("style.sentence_end", defaults={"mark": "。", "predicates_only": True}, kinds=(UnitKind.BODY,))
def sentence_end(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a paragraph's last character. ``predicates_only``: only after a verb, an adjective or だ, です."""
    text = unit.plain.rstrip()
    if not text or not unit.is_japanese or unit.is_named(len(text) - 1, len(text)):
        return
    last = text[-1]
    ends_well = last == params["mark"] or last in CLOSING + "！？!?\"'…" + PLACEHOLDER + ADDRESS or _is_symbol(last)
    if ends_well or (params["predicates_only"] and not _ends_in_predicate(unit)):
        return
    yield Mark(len(text) - 1, len(text), values={"to": params["mark"]})


def _conjunction(sentence: Sentence) -> Token | None:
    """Return the conjunction that a sentence begins with; 又は and its like join words and are none."""
    words = sentence.words
    if not words or words[0].pos[0] != "接続詞" or words[0].normal in _WORD_JOINING:
        return None
    is_matawa = len(words) > 1 and words[0].normal == "又" and words[1].surface == "は"
    return None if is_matawa else words[0]


def _is_mask(run: str) -> bool:
    """One character four times or more (いいいい) hides a name."""
    return len(run) >= _SHORTEST_MASK and len(set(run)) == 1


def _repeats(token: Token, following: Token) -> bool:
    is_word = bool(_KANA_OR_KANJI.search(token.surface)) and not token.is_a("名詞", "数詞")
    return is_word and token.surface == following.surface and token.end == following.start


def _joins_nouns(tokens: tuple[Token, ...], index: int) -> bool:
    before, after = _nearest(tokens, index, -1), _nearest(tokens, index, 1)
    return before is not None and after is not None and _is_nominal(before) and _is_nominal(after)


def _nearest(tokens: tuple[Token, ...], index: int, step: int) -> Token | None:
    index += step
    while 0 <= index < len(tokens) and (
        tokens[index].surface in OPENING + CLOSING or not tokens[index].surface.strip()
    ):
        index += step
    return tokens[index] if 0 <= index < len(tokens) else None


def _is_nominal(token: Token) -> bool:
    return token.pos[0] in _NOMINAL or bool(_ASCII_WORD.match(token.surface))


def _is_tari(sentence: Sentence, index: int) -> bool:
    token = sentence.tokens[index]
    return token.surface in ("たり", "だり") and token.is_a("助詞", "副助詞")


def _closes_tari(sentence: Sentence, index: int) -> bool:
    following = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
    return following is not None and (
        following.lemma in ("する", "為る", "できる", "致す", "なさる")
        or following.surface in ("など", "等", "と", "も", "は", "の", "とも", "し", "とか")
    )


def _is_symbol(character: str) -> bool:
    return not character.isalnum() and character not in "、,.．:：;；"


def _ends_in_predicate(unit: Unit) -> bool:
    words = unit.sentences[-1].words if unit.sentences else ()
    return bool(words) and words[-1].pos[0] in ("動詞", "形容詞", "助動詞") and "形" in words[-1].pos[5]
