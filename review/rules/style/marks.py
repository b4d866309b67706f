"""Punctuation: the width of marks, those that Japanese text avoids, where full stops belong, unpaired brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.folding import normalise
from review.rules.style.base import WITH_HEADINGS, Mark, Params, pattern_rule, text_rule, unit_rule
from review.rules.style.code import without_code, without_comparisons, without_records
from review.rules.style.reading import JAPANESE, JAPANESE_LETTER, Unit, UnitKind, repeated

# Quotations, one inside another too; a half-width mark behind a Latin letter or a blank is a program's: string?, #REF!
_QUOTED_OR_ASKED = re.compile(
    r"「(?:[^「」]|「[^「」]*+」)*+」|『[^『』]*+』|\"[^\"\n]*+\"|“[^“”\n]*+”|[！？]|(?<=[^\x00-\x7f])[!?]"
)
# What a screen asks its user, with the sign that a drawing of the screen gives it.
_ASKED_OF_USER = re.compile(r"[^。！？!?]{0,100}(?:ます|です|せん|ました|でしょう)か[？?]")
_WIDE = f"{JAPANESE}「」『』（）［］【】〈〉《》、。・！？〜～：；…"
_FULL = {"!": "！", "?": "？", ":": "：", "~": "〜", "･": "・"}
# Both 〜 U+301C and ～ U+FF5E are in use for the wave dash and are both full width.
_DISCOURAGED = {
    "hyphen": re.compile(f"(?<=[{JAPANESE}])-(?=[{JAPANESE}A-Za-z])|(?<=[A-Za-z])-(?=[{JAPANESE}])"),
    "semicolon": re.compile(f"(?<=[{_WIDE}]);|;(?=[{JAPANESE}])|；"),
    "dash": re.compile(
        f"(?<![\u2010-\u2015\u2212])[\u2010-\u2015\u2212]++(?=[{_WIDE}])|(?<=[{_WIDE}])[\u2010-\u2015\u2212]+(?![0-9])|(?<=[{_WIDE}])－(?![0-9０-９])"
    ),
}
_DISCOURAGED_NAMES = {
    "hyphen": Text(ja="ハイフン", en="hyphen"),
    "semicolon": Text(ja="セミコロン", en="semicolon"),
    "dash": Text(ja="ダッシュ", en="dash"),
}
# Between names in Latin letters a comma with a blank is theirs.
_COMMA = re.compile(f"(?<=[{_WIDE}])(?:,(?!\\d| [A-Za-z])|,(?=\\d*[{JAPANESE}])|，)|(?<=[A-Za-z0-9])，(?=[{_WIDE}])")
_PERIOD = re.compile(f"(?<=[{_WIDE}])(?:\\.(?![A-Za-z0-9.])|．(?![０-９0-9]))|(?<=[A-Za-z0-9])．(?=[{_WIDE}]|$)")
# The point behind the number of an item: １．概要, (2)．
_NUMBERED = re.compile(r"\s*[(（]?[0-9０-９A-Za-z]{1,3}[)）]?．")
_IN_NUMBER = re.compile(r"(?<=[0-9A-Za-z])[，．](?=[\s]?[0-9A-Za-z])")
_STOP_BEFORE_CLOSING = re.compile("[。｡](?=[」』）)])")
_HALF_STOP = re.compile("[｡､]")
_FULL_STOP = re.compile("[。．｡]\\s*$")
_MIN_ITEMS = 2
_PAIRS = ("「」", "『』", "（）", "()", "［］", "[]", "【】", "〈〉", "《》", "〔〕", "{}", "<>", '""', "''", "“”")
_FULL_BRACKETS = {"(": "（", ")": "）", "[": "［", "]": "］"}
_APOSTROPHE = re.compile(r"(?<=[A-Za-z0-9])'(?=[A-Za-z])|(?<=s)'(?=\s)|'(?=\d0s)")
_TO_ONE_WIDTH = str.maketrans("()", "（）")
# What a closing bracket ends that nothing opens: 例）, 4)以降.
_MARKER = re.compile(r"(?:(?:^|[\s。、・※])[0-9０-９]{1,2}|例|注記?|案|補足)$")
_LONGEST_MARKER = 4
# Signs that are talked about: 『"』, <>&".
_NAMED_SIGN = re.compile(r"(?<=[「『（(])[\"'<>{}\[\]]{1,2}(?=[」』）)])|[<>&\"'{}]{3,}")
# Greater and less as signs of comparison or arrows are no brackets.
_NO_ANGLE = re.compile(
    r"<=|>=|<-|->|=>|<<|>>|(?:(?<=\s)|^)[<>](?=\s)|[<>](?=[0-9０-９])|(?<=\d)\s*[<>]\s*(?=\d)|(?<=\S)\s*[<>]\s*(?=\d)"
)
# A number or letter in front of a list entry is closed only: 1) a) 例).
_ENTRY = re.compile(r"^[^\S\n]*[0-9０-９A-Za-zａ-ｚア-ン一-十①-⑳]{1,2}[)）]", re.M)


@unit_rule("style.mark_width", defaults={"marks": ("!", "?", "~", "･")}, skips_named=True)
def mark_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width punctuation after a Japanese character. ``marks``: which."""
    wanted = "".join(mark for mark in _FULL if mark in params["marks"])
    if not wanted:
        return
    for match in re.finditer(f"(?<=[{_WIDE}])[{re.escape(wanted)}]+|[~･](?=[{JAPANESE}])", unit.plain):
        if all(character in wanted for character in match[0]):
            yield Mark(*match.span(), "".join(_FULL[character] for character in match[0]))


@text_rule("style.exclamation_question", defaults={"marks": ("!", "！", "?", "？")}, by_default=False, skips_named=True)
def exclamation_question(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark every exclamation or question mark in the writer's own words. ``marks``: which.

    Not his own are quotations, code, a line that asks the user something (削除しますか？), and lines that stand
    three times word for word: names and labels.
    """
    names = repeated(units)
    for unit in units:
        line = unit.plain.strip()
        if not unit.is_japanese or line in names or _ASKED_OF_USER.fullmatch(line):
            continue
        for match in _QUOTED_OR_ASKED.finditer(without_code(unit.plain)):
            if match[0] in params["marks"]:
                yield unit, Mark(*match.span())


@unit_rule("style.discouraged_mark", defaults={"marks": tuple(_DISCOURAGED)}, by_default=False, skips_named=True)
def discouraged_mark(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark hyphens, semicolons and dashes. ``marks``: hyphen, semicolon, dash."""
    for name, pattern in _DISCOURAGED.items():
        if name in params["marks"]:
            for match in pattern.finditer(unit.plain):
                yield Mark(*match.span(), values={"name": _DISCOURAGED_NAMES[name]})


@unit_rule("style.punctuation", skips_named=True)
def punctuation(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark commas and full stops that are not those of Japanese, code and data apart."""
    text = without_code(without_records(unit.plain))
    numbered = _NUMBERED.match(text)
    for pattern, wanted in ((_COMMA, "、"), (_PERIOD, "。"), (_HALF_STOP, None)):
        for match in pattern.finditer(text, numbered.end() if numbered else 0):
            yield Mark(*match.span(), wanted or normalise(match[0]))


pattern_rule("style.fullwidth_point", (_IN_NUMBER, normalise), skips_named=True)


pattern_rule("style.stop_in_brackets", (_STOP_BEFORE_CLOSING, ""), skips_named=True)


@unit_rule("style.heading_stop", kinds=(UnitKind.HEADING,))
def heading_stop(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a heading's final full stop."""
    match = _FULL_STOP.search(unit.plain)
    if match:
        yield Mark(match.start(), match.start() + 1, "")


@text_rule("style.list_stop", kinds=(UnitKind.LIST,))
def list_stop(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark the items of a list that differ from its majority; a tie asks for full stops.

    An item that ends in a colon leads to those below it.
    """
    groups: dict[int, list[Unit]] = {}
    for unit in units:
        last = len(unit.plain.rstrip()) - 1
        if unit.is_japanese and not unit.is_named(last, last + 1) and unit.plain[last] not in ":：":
            groups.setdefault(unit.group, []).append(unit)
    for items in groups.values():
        if len(items) >= _MIN_ITEMS:
            yield from _differing(items)


def _differing(items: list[Unit]) -> Iterator[tuple[Unit, Mark]]:
    stopped = [bool(_FULL_STOP.search(item.plain)) for item in items]
    wanted = 2 * sum(stopped) >= len(items)
    if all(stopped) or not any(stopped):
        return
    for item, has_stop in zip(items, stopped, strict=True):
        if has_stop != wanted:
            end = len(item.plain.rstrip())
            yield item, Mark(end - 1, end, "" if has_stop else f"{item.plain[end - 1]}。")


@dataclass(frozen=True, slots=True)
class _Bracket:
    opening: int | None
    closing: int | None


@text_rule(
    "style.bracket_pair",
    defaults={"pairs": tuple(pair for pair in _PAIRS if pair not in ("''", "“”"))},
    kinds=WITH_HEADINGS,
    skips_named=True,
)
def bracket_pair(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark brackets without a partner, lines without Japanese apart: those are code. ``pairs``: as two characters each.

    A form has （ in one cell and ） in another: what opens and closes in one table or list has a partner.
    """
    groups: dict[int, list[Unit]] = {}
    for unit in units:
        groups.setdefault(unit.group, []).append(unit)
    # （注) has a partner, though of another width: where both are looked at, the rule on widths tells of it.
    of_one_width = {"()", "（）"} <= set(params["pairs"])
    for members in groups.values():
        texts = [_without_other_uses(unit.plain) for unit in members]
        if of_one_width:
            texts = [text.translate(_TO_ONE_WIDTH) for text in texts]
        for pair in params["pairs"]:
            for at, position in _alone(texts, pair):
                if members[at].is_japanese:
                    yield members[at], Mark(position, position + 1)


def _alone(texts: list[str], pair: str) -> Iterator[tuple[int, int]]:
    """Yield where a bracket without a partner stands: which of the texts, and where in it."""
    opened: list[tuple[int, int]] = []
    for at, text in enumerate(texts):
        if pair[0] not in text and pair[1] not in text:
            continue
        for bracket in _match(text, pair):
            if bracket.opening is not None and bracket.closing is None:
                opened.append((at, bracket.opening))
            elif bracket.opening is None and bracket.closing is not None:
                if opened:
                    opened.pop()
                elif not _MARKER.search(text, max(0, bracket.closing - _LONGEST_MARKER), bracket.closing):
                    yield at, bracket.closing
    yield from opened


@unit_rule("style.bracket_width", defaults={"brackets": ("()", "[]")}, skips_named=True)
def bracket_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width brackets whose inside holds Japanese, and single ones next to it. ``brackets``: which."""
    for pair in params["brackets"]:
        for bracket in _match(unit.plain, pair):
            yield from _narrow(unit.plain, bracket)


def _narrow(text: str, bracket: _Bracket) -> Iterator[Mark]:
    if bracket.opening is not None and bracket.closing is not None:
        is_wrong = bool(JAPANESE_LETTER.search(text, bracket.opening, bracket.closing))
    else:
        at = bracket.opening if bracket.opening is not None else bracket.closing or 0
        is_wrong = bool(JAPANESE_LETTER.search(text[max(0, at - 1) : at] + text[at + 1 : at + 2]))
    for position in (bracket.opening, bracket.closing):
        if is_wrong and position is not None:
            yield Mark(position, position + 1, _FULL_BRACKETS[text[position]])


def _match(text: str, pair: str) -> Iterator[_Bracket]:
    if pair[0] == pair[1]:
        places = [match.start() for match in re.finditer(re.escape(pair[0]), text)]
        for index in range(0, len(places), 2):
            yield _Bracket(places[index], places[index + 1] if index + 1 < len(places) else None)
        return
    open_at: list[int] = []
    for match in re.finditer(f"[{re.escape(pair)}]", text):
        if match[0] == pair[0]:
            open_at.append(match.start())
        else:
            yield _Bracket(open_at.pop() if open_at else None, match.start())
    yield from (_Bracket(position, None) for position in open_at)


def _without_other_uses(text: str) -> str:
    text = without_comparisons(_NAMED_SIGN.sub(lambda match: " " * len(match[0]), text))
    for pattern in (_APOSTROPHE, _NO_ANGLE, _ENTRY):
        text = pattern.sub(lambda match: re.sub(r"[<>'()（）]", " ", match[0]), text)
    return text
