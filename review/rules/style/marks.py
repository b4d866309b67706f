"""Punctuation marks: their width, those that Japanese text avoids, and where a full stop stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.core.texts import Text
from review.rules.style.base import Params, unit_rule
from review.rules.style.places import Mark
from review.rules.style.reading import JAPANESE, Unit

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


@unit_rule(
    id="style.mark_width",
    title=Text(ja="半角の記号", en="Half-width marks"),
    looks_at=Text(ja="和文の中の半角の ! ? : ~ ･", en="half-width ! ? : ~ ･ in Japanese text"),
    message=Text(
        ja="和文の「{found}」は全角「{to}」で書きます。", en="In Japanese text write “{found}” in full width: “{to}”."
    ),
    # A half-width colon after a label is so common in Markdown that only JTF's own rule asks for it.
    defaults={"marks": ("!", "?", "~", "･")},
    skips_named=True,
)
def mark_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width punctuation after a Japanese character. ``marks``: which."""
    wanted = "".join(mark for mark in _FULL if mark in params["marks"])
    if not wanted:
        return
    for match in re.finditer(f"(?<=[{_WIDE}])[{re.escape(wanted)}]+|[~･](?=[{JAPANESE}])", unit.plain):
        if all(character in wanted for character in match[0]):
            yield Mark(*match.span(), "".join(_FULL[character] for character in match[0]))


@unit_rule(
    id="style.exclamation_question",
    title=Text(ja="感嘆符・疑問符の使用", en="Exclamation and question marks"),
    looks_at=Text(ja="本文の感嘆符と疑問符", en="exclamation and question marks in running text"),
    message=Text(ja="「{found}」は実務の文章では使いません。", en="Formal text does without “{found}”."),
    defaults={"marks": ("!", "！", "?", "？")},
    by_default=False,
    skips_named=True,
)
def exclamation_question(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark every exclamation or question mark. ``marks``: which."""
    for match in re.finditer("[!！?？]", unit.plain):
        if match[0] in params["marks"] and unit.is_japanese:
            yield Mark(*match.span())


@unit_rule(
    id="style.discouraged_mark",
    title=Text(ja="和文で使わない記号", en="Marks that Japanese text avoids"),
    looks_at=Text(
        ja="和文の語に接するハイフン、セミコロン、ダッシュ（電話番号・住所・英文は除く）",
        en="hyphen, semicolon and dash next to Japanese letters",
    ),
    message=Text(
        ja="和文では原則として{name}「{found}」を使いません。", en="Japanese text avoids the {name} “{found}”."
    ),
    defaults={"marks": tuple(_DISCOURAGED)},
    by_default=False,
    skips_named=True,
)
def discouraged_mark(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark hyphens, semicolons and dashes. ``marks``: hyphen, semicolon, dash."""
    language = {name: _DISCOURAGED_NAMES[name] for name in _DISCOURAGED if name in params["marks"]}
    for name, label in language.items():
        message = Text(
            ja=f"和文では原則として{label.ja}「{{found}}」を使いません。",
            en=f"Japanese text avoids the {label.en} “{{found}}”.",
        )
        for match in _DISCOURAGED[name].finditer(unit.plain):
            yield Mark(*match.span(), message=message)


@unit_rule(
    id="style.punctuation",
    title=Text(ja="句読点", en="Full stops and commas"),
    looks_at=Text(
        ja="和文の句読点として使われた「,」「.」「，」「．」「｡」「､」",
        en="commas and full stops other than 、 and 。 in Japanese",
    ),
    message=Text(
        ja="和文の句読点は「{to}」を使います。「{found}」は使いません。", en="Japanese text has “{to}”, not “{found}”."
    ),
    skips_named=True,
)
def punctuation(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark commas and full stops of another kind after Japanese letters."""
    for pattern, to in ((_COMMA, "、"), (_PERIOD, "。")):
        yield from (Mark(*match.span(), to) for match in pattern.finditer(unit.plain))
    for match in _HALF_STOP.finditer(unit.plain):
        yield Mark(*match.span(), {"｡": "。", "､": "、"}[match[0]])


@unit_rule(
    id="style.fullwidth_point",
    title=Text(ja="全角のピリオド・カンマ", en="Full-width points in numbers"),
    looks_at=Text(
        ja="数字・英字の間の全角ピリオドとカンマ", en="full-width points and commas between digits or letters"
    ),
    message=Text(ja="「{found}」は半角「{to}」で書きます。", en="Write “{found}” in half width: “{to}”."),
    skips_named=True,
)
def fullwidth_point(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark ， and ． inside numbers and names."""
    for match in _IN_NUMBER.finditer(unit.plain):
        yield Mark(*match.span(), {"，": ",", "．": "."}[match[0]])


@unit_rule(
    id="style.stop_in_brackets",
    title=Text(ja="閉じかっこの前の句点", en="Full stop before a closing bracket"),
    looks_at=Text(ja="閉じかっこの前に打たれた句点", en="a full stop right before a closing bracket"),
    message=Text(ja="閉じかっこの前に句点を打ちません。", en="No full stop before a closing bracket."),
    skips_named=True,
)
def stop_in_brackets(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark a full stop before a closing bracket."""
    for match in _STOP_BEFORE_CLOSING.finditer(unit.plain):
        yield Mark(*match.span(), "")
