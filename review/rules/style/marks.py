"""Punctuation marks: their width, those that Japanese text avoids, and where full stops stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.core.texts import Text
from review.rules.style.base import Mark, Params, text_rule, unit_rule
from review.rules.style.reading import JAPANESE, Unit, UnitKind

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
_COMMA = re.compile(f"(?<=[{_WIDE}])(?:,(?!\\d)|,(?=\\d*[{JAPANESE}])|，)|(?<=[A-Za-z0-9])，(?=[{_WIDE}])")
_PERIOD = re.compile(f"(?<=[{_WIDE}])(?:\\.(?![A-Za-z0-9.])|．(?![０-９0-9]))|(?<=[A-Za-z0-9])．(?=[{_WIDE}]|$)")
_IN_NUMBER = re.compile(r"(?<=[0-9A-Za-z])[，．](?=[\s]?[0-9A-Za-z])")
_STOP_BEFORE_CLOSING = re.compile("[。｡](?=[」』）)])")
_HALF_STOP = re.compile("[｡､]")
_FULL_STOP = re.compile("[。．｡]\\s*$")
_MIN_ITEMS = 2


@unit_rule("style.mark_width", defaults={"marks": ("!", "?", "~", "･")}, skips_named=True)
def mark_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width punctuation after a Japanese character. ``marks``: which."""
    wanted = "".join(mark for mark in _FULL if mark in params["marks"])
    if not wanted:
        return
    for match in re.finditer(f"(?<=[{_WIDE}])[{re.escape(wanted)}]+|[~･](?=[{JAPANESE}])", unit.plain):
        if all(character in wanted for character in match[0]):
            yield Mark(*match.span(), "".join(_FULL[character] for character in match[0]))


@unit_rule("style.exclamation_question", defaults={"marks": ("!", "！", "?", "？")}, by_default=False, skips_named=True)
def exclamation_question(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark every exclamation or question mark. ``marks``: which."""
    for match in re.finditer("[!！?？]", unit.plain):
        if match[0] in params["marks"] and unit.is_japanese:
            yield Mark(*match.span())


@unit_rule("style.discouraged_mark", defaults={"marks": tuple(_DISCOURAGED)}, by_default=False, skips_named=True)
def discouraged_mark(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark hyphens, semicolons and dashes. ``marks``: hyphen, semicolon, dash."""
    for name, pattern in _DISCOURAGED.items():
        if name in params["marks"]:
            for match in pattern.finditer(unit.plain):
                yield Mark(*match.span(), values={"name": _DISCOURAGED_NAMES[name]})


@unit_rule("style.punctuation", skips_named=True)
def punctuation(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark commas and full stops of another kind after Japanese letters."""
    for pattern, to in ((_COMMA, "、"), (_PERIOD, "。")):
        yield from (Mark(*match.span(), to) for match in pattern.finditer(unit.plain))
    for match in _HALF_STOP.finditer(unit.plain):
        yield Mark(*match.span(), {"｡": "。", "､": "、"}[match[0]])


@unit_rule("style.fullwidth_point", skips_named=True)
def fullwidth_point(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark ， and ． inside numbers and names."""
    for match in _IN_NUMBER.finditer(unit.plain):
        yield Mark(*match.span(), {"，": ",", "．": "."}[match[0]])


@unit_rule("style.stop_in_brackets", skips_named=True)
def stop_in_brackets(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a full stop before a closing bracket."""
    for match in _STOP_BEFORE_CLOSING.finditer(unit.plain):
        yield Mark(*match.span(), "")


@unit_rule("style.heading_stop", kinds=(UnitKind.HEADING,))
def heading_stop(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a heading's final full stop."""
    match = _FULL_STOP.search(unit.plain)
    if match:
        yield Mark(match.start(), match.start() + 1, "")


@text_rule("style.list_stop", kinds=(UnitKind.LIST,))
def list_stop(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark the items of a list that differ from its majority; a tie asks for full stops."""
    groups: dict[int, list[Unit]] = {}
    for unit in units:
        last = len(unit.plain.rstrip()) - 1
        if unit.is_japanese and not unit.is_named(last, last + 1):
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
