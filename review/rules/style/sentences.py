"""Sentences: their length, their commas, words that come back too soon, polite and plain style in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from hub.core.texts import Text
from knowledge.text.sentences import CLOSING, OPENING
from review.rules.style.base import WITH_HEADINGS, Mark, Params, text_rule, unit_rule
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
_KIND_NAMES = {
    UnitKind.BODY: Text(ja="本文", en="running text"),
    UnitKind.LIST: Text(ja="箇条書き", en="lists"),
    UnitKind.CELL: Text(ja="表", en="tables"),
    UnitKind.CAPTION: Text(ja="図表のキャプション", en="captions"),
    UnitKind.HEADING: Text(ja="見出し", en="headings"),
}
_SHORTEST_MASK = 4
_FINAL_PARTICLES = frozenset({"ね", "よ", "か", "な", "ぞ", "さ", "わ"})
_PLAIN_FORMS = re.compile("終止形|意志推量形")
_POLITE_LEMMAS = ("です", "ます")
_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”|\"[^\"]*\"")


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


class Tone(StrEnum):
    POLITE = "polite"
    PLAIN = "plain"


_NAMES = {
    Tone.POLITE: Text(ja="敬体（です・ます調）", en="polite style"),
    Tone.PLAIN: Text(ja="常体（である調）", en="plain style"),
}
# What a caller may write for the parameter ``prefer``.
_PREFERENCES = {"ですます": Tone.POLITE, "敬体": Tone.POLITE, "である": Tone.PLAIN, "常体": Tone.PLAIN} | {
    tone.value: tone for tone in Tone
}

Ending = tuple[Unit, Mark, Tone]


@text_rule("style.mixed_tone", defaults={"prefer": "", "plain_ends": "all", "by_group": False}, kinds=WITH_HEADINGS)
def mixed_tone(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark the sentence ends of the rarer style.

    Params: ``prefer`` (ですます or である; the more frequent one when empty), ``plain_ends`` (``all`` ends in plain
    style, or only the ``copula`` である・だ), ``by_group`` (each list by itself).
    """
    groups: dict[object, list[Ending]] = {}
    for unit in units:
        key = (unit.kind, unit.group) if params["by_group"] else unit.kind
        groups.setdefault(key, []).extend(_endings(unit, copula_only=params["plain_ends"] == "copula"))
    for endings in groups.values():
        yield from _minority(endings, _PREFERENCES.get(params["prefer"]))


def tone_of(sentence: Sentence, *, copula_only: bool = False) -> tuple[Tone, Mark] | None:
    """Return the style of a sentence's end and the words that show it; None when it ends in a noun or says neither."""
    words = [word for word in sentence.words if not (word.pos[0] == "助詞" and word.surface in _FINAL_PARTICLES)]
    if not words:
        return None
    last = words[-1]
    before = words[-2] if len(words) > 1 else None
    if _is_polite(last, before):
        first = before if before is not None and before.lemma in _POLITE_LEMMAS else last
        return Tone.POLITE, Mark(first.start, last.end)
    if _is_copula(words):
        return Tone.PLAIN, Mark(last.start, last.end)
    is_plain = last.pos[0] in ("動詞", "形容詞", "助動詞") and bool(_PLAIN_FORMS.search(last.pos[5]))
    return (Tone.PLAIN, Mark(last.start, last.end)) if is_plain and not copula_only else None


def _endings(unit: Unit, *, copula_only: bool) -> Iterator[Ending]:
    # What stands in quotation marks, as a message on a screen does, has not the writer's tone.
    quoted = {position for match in _QUOTED.finditer(unit.plain) for position in range(*match.span())}
    for sentence in unit.sentences:
        found = tone_of(sentence, copula_only=copula_only)
        if found and not unit.is_named(found[1].start, found[1].end) and found[1].start not in quoted:
            yield unit, found[1], found[0]


def _minority(endings: list[Ending], preferred: Tone | None) -> Iterator[tuple[Unit, Mark]]:
    polite = sum(1 for _, _, tone in endings if tone is Tone.POLITE)
    # A tie goes to the polite style, which readers of official writing expect.
    wanted = preferred or (Tone.POLITE if 2 * polite >= len(endings) else Tone.PLAIN)
    for unit, mark, tone in endings:
        if tone is not wanted:
            kind = _KIND_NAMES.get(unit.kind, _KIND_NAMES[UnitKind.BODY])
            message = Text(
                ja=f"{kind.ja}は{_NAMES[wanted].ja}に統一します。「{{found}}」は{_NAMES[tone].ja}です。",
                en=f"Keep {kind.en} in {_NAMES[wanted].en}; “{{found}}” is {_NAMES[tone].en}.",
            )
            yield unit, Mark(mark.start, mark.end, message=message)


def _is_polite(last: Token, before: Token | None) -> bool:
    if last.lemma in _POLITE_LEMMAS:
        return last.pos[0] == "助動詞"
    if before is not None and before.lemma in _POLITE_LEMMAS and last.pos[0] == "助動詞":
        return True
    return last.surface in ("ください", "下さい", "ましょう", "でしょう")


def _is_copula(words: list[Token]) -> bool:
    last = words[-1]
    tail = "".join(word.surface for word in words[-4:])
    if last.lemma == "だ" and last.pos[0] == "助動詞" and last.surface in ("だ", "だろう", "だろ"):
        return True
    return bool(re.search(r"(?:で(?:は|も)?ある|であろう|であった|だった|だろう)$", tail)) and last.pos[0] != "名詞"
