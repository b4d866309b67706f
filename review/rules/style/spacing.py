"""Spaces: between full and half width, around brackets, code and links, after ！ and ？, between katakana words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.core.texts import Text
from review.rules.style.base import Params, unit_rule
from review.rules.style.markup import PLACEHOLDER
from review.rules.style.places import Mark
from review.rules.style.reading import JAPANESE, Unit, UnitKind

_PROSE = (UnitKind.BODY, UnitKind.LIST, UnitKind.CAPTION)
_SPACE = "[ \u3000]+"
_ALPHABETS, _NUMBERS = "A-Za-z", "0-9"
_PUNCTUATION = "、。「」『』（）！？：，．"
_KATAKANA = "\u30a1-\u30fa\u30fc"
_BETWEEN_WIDE = re.compile(f"(?<=[{JAPANESE}]){_SPACE}(?=[{JAPANESE}])")
_KATAKANA_SIDES = re.compile(f"[{_KATAKANA}]{{2}}")
_OPENING, _CLOSING = "「『（［【〈《〔", "」』）］】〉》〕"
_AROUND_BRACKETS = re.compile(
    f"(?<=[{_OPENING}]){_SPACE}|(?<![ 　]){_SPACE}+(?=[{_CLOSING}])"
    f"|(?<=[^\\s！？!?]){_SPACE}(?=[{_OPENING}])|(?<=[{_CLOSING}]){_SPACE}(?=[^\\s])"
    f"|(?<=\\(){_SPACE}(?=[{JAPANESE}])|(?<=[{JAPANESE}]){_SPACE}(?=\\))"
)
_AFTER_MARK = re.compile(
    "(?P<mark>[！？!?])(?P<space>[ ]+(?=[^\\s！？!?])|(?=[^\\s！？!?」』）)］】〉》”\"'、。，．…]))"
)
_GOES_ON = ("助詞", "助動詞", "補助記号", "記号")
_KATAKANA_JOINED = re.compile(f"(?<=[{_KATAKANA}])(?:\u3000|･|＝|=)(?=[{_KATAKANA}])")


@unit_rule(
    id="style.space_half_full",
    title=Text(ja="全角と半角の間の空白", en="Spaces between full and half width"),
    looks_at=Text(
        ja="日本語と英数字の間の空白（既定は入れない）",
        en="spaces between Japanese and Latin letters or digits (none by default)",
    ),
    message=Text(
        ja="全角文字と半角文字の間の空白をそろえます。", en="Keep one way of spacing between full and half width."
    ),
    defaults={"space": "never", "except_punctuation": True},
    kinds=_PROSE,
    by_default=False,
    skips_named=True,
)
def space_half_full(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces that should not be, or are missing.

    Params: ``space`` (never, always, or a list of alphabets, numbers and punctuation beside which a space is wanted),
    ``except_punctuation`` (marks such as 、 and 「 need none).
    """
    wanted = _wanted(params)
    never = "".join(ranges for name, ranges in (("alphabets", _ALPHABETS), ("numbers", _NUMBERS)) if name not in wanted)
    wide = JAPANESE if params["except_punctuation"] or "punctuation" in wanted else JAPANESE + _PUNCTUATION
    if never:
        pattern = f"(?<=[{wide}]){_SPACE}(?=[{never}])|(?<=[{never}]){_SPACE}(?=[{wide}])"
        message = Text(ja="全角文字と半角文字の間に空白を入れません。", en="No space between full and half width.")
        for match in re.finditer(pattern, unit.plain):
            yield Mark(*match.span(), "", message)
    always = "".join(ranges for name, ranges in (("alphabets", _ALPHABETS), ("numbers", _NUMBERS)) if name in wanted)
    if always:
        yield from _missing(unit, always)


@unit_rule(
    id="style.space_full_full",
    title=Text(ja="全角文字の間の空白", en="Spaces between full-width characters"),
    looks_at=Text(
        ja="日本語の文字の間の空白（片仮名の語の間を除く）", en="spaces between Japanese letters, katakana words apart"
    ),
    message=Text(ja="全角文字の間に空白を入れません。", en="No space between full-width characters."),
    kinds=_PROSE,
    skips_named=True,
)
def space_full_full(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces between Japanese letters."""
    for match in _BETWEEN_WIDE.finditer(unit.plain):
        sides = unit.plain[match.start() - 1] + unit.plain[match.end()]
        if not _KATAKANA_SIDES.fullmatch(sides):
            yield Mark(*match.span(), "")


@unit_rule(
    id="style.space_brackets",
    title=Text(ja="かっこの内外の空白", en="Spaces around brackets"),
    looks_at=Text(ja="全角のかっこの内側と外側の空白", en="spaces inside and outside of full-width brackets"),
    message=Text(ja="かっこの外側にも内側にも空白を入れません。", en="No space inside or outside of brackets."),
    kinds=_PROSE,
    skips_named=True,
)
def space_brackets(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces next to brackets."""
    for match in _AROUND_BRACKETS.finditer(unit.plain):
        yield Mark(*match.span(), "")


@unit_rule(
    id="style.space_after_mark",
    title=Text(ja="感嘆符・疑問符の後の空白", en="Space after ！ and ？"),
    looks_at=Text(
        ja="文末の ！ ？ に続く文の前の全角の空白", en="the full-width space between ！ or ？ and the next sentence"
    ),
    message=Text(
        ja="文末の「{mark}」の後に文が続くときは、全角の空白を 1 つ入れます。",
        en="A full-width space goes between “{mark}” and the next sentence.",
    ),
    defaults={"marks": ("！", "？")},
    kinds=_PROSE,
    by_default=False,
    skips_named=True,
)
def space_after_mark(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width or missing spaces after a sentence's ！ or ？. ``marks``: which."""
    for match in _AFTER_MARK.finditer(unit.plain):
        if match["mark"] not in params["marks"] or (not match["space"] and _goes_on(unit, match.end())):
            continue
        mark = match["mark"]
        yield Mark(match.start(), match.end(), f"{mark}\u3000", values={"mark": mark})


@unit_rule(
    id="style.space_code",
    title=Text(ja="コードの前後の空白", en="Spaces around code"),
    looks_at=Text(
        ja="インラインコードと日本語の間の空白（既定は入れない）",
        en="spaces between inline code and Japanese (none by default)",
    ),
    message=Text(ja="コードの前後の空白をそろえます。", en="Keep one way of spacing around code."),
    defaults={"before": False, "after": False},
    kinds=_PROSE,
    by_default=False,
)
def space_code(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces around inline code. ``before``, ``after``: whether one is wanted."""
    for side, pattern in _code_sides(params):
        wanted = bool(params[side])
        message = Text(
            ja=f"コードの{'前' if side == 'before' else '後'}に空白を{'入れます' if wanted else '入れません'}。",
            en=f"{'A' if wanted else 'No'} space {side} inline code.",
        )
        for match in pattern.finditer(unit.plain):
            yield Mark(match.start(), match.end(), None if wanted else "", message)


@unit_rule(
    id="style.space_link",
    title=Text(ja="リンクの前後の空白", en="Spaces around links"),
    looks_at=Text(
        ja="リンクと日本語の間の空白（既定は入れない）", en="spaces between links and Japanese (none by default)"
    ),
    message=Text(ja="リンクの前後の空白をそろえます。", en="Keep one way of spacing around links."),
    defaults={"before": False, "after": False},
    kinds=_PROSE,
    by_default=False,
)
def space_link(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces around links. ``before``, ``after``: whether one is wanted."""
    edges = [at for at in range(1, len(unit.plain)) if (at in unit.named) != (at - 1 in unit.named)]
    for at in edges:
        side = "before" if at in unit.named else "after"
        outside = at - 1 if side == "before" else at
        if (unit.plain[outside] == " ") != bool(params[side]) and unit.plain[outside] != "\n":
            yield Mark(outside, outside + 1, "" if unit.plain[outside] == " " else None)


@unit_rule(
    id="style.katakana_separator",
    title=Text(ja="片仮名語の区切り", en="Separators of katakana words"),
    looks_at=Text(
        ja="片仮名語の間の、中黒・半角の空白以外の区切り",
        en="separators of katakana words other than ・ and a half-width space",
    ),
    message=Text(
        ja="片仮名の語は中黒「・」か半角の空白で区切ります。", en="Separate katakana words by ・ or a half-width space."
    ),
    kinds=_PROSE,
    skips_named=True,
)
def katakana_separator(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark other separators between katakana words."""
    for match in _KATAKANA_JOINED.finditer(unit.plain):
        yield Mark(*match.span(), "・")


def _wanted(params: Params) -> frozenset[str]:
    space = params["space"]
    if isinstance(space, str):
        return frozenset({"alphabets", "numbers", "punctuation"}) if space == "always" else frozenset()
    return frozenset(space)


def _missing(unit: Unit, half: str) -> Iterator[Mark]:
    message = Text(ja="全角文字と半角文字の間に空白を入れます。", en="A space goes between full and half width.")
    for match in re.finditer(f"(?<=[{JAPANESE}])[{half}]|(?<=[{half}])[{JAPANESE}]", unit.plain):
        yield Mark(match.start(), match.end(), f" {match[0]}", message)


def _goes_on(unit: Unit, position: int) -> bool:
    """Tell whether the sentence goes on after its mark: with a particle, as in よいのか？という."""
    following = next((token for token in unit.tokens if token.start >= position), None)
    return following is None or following.pos[0] in _GOES_ON or following.surface in ("って", "という", "といった")


def _code_sides(params: Params) -> Iterator[tuple[str, re.Pattern[str]]]:
    japanese = f"[{JAPANESE}]"
    if params["before"]:
        yield "before", re.compile(f"{japanese}(?={PLACEHOLDER})")
    else:
        yield "before", re.compile(f"(?<={japanese}) +(?={PLACEHOLDER})")
    if params["after"]:
        yield "after", re.compile(f"(?<={PLACEHOLDER}){japanese}")
    else:
        yield "after", re.compile(f"(?<={PLACEHOLDER}) +(?={japanese})")
