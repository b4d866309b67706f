"""Spaces: between full and half width, around brackets, code and links, after ！ and ？, between katakana words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.core.texts import Text
from review.rules.style.base import Mark, Params, pattern_rule, unit_rule
from review.rules.style.markup import PLACEHOLDER
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
    "style.space_half_full",
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


@unit_rule("style.space_full_full", kinds=_PROSE, skips_named=True)
def space_full_full(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces between Japanese letters."""
    for match in _BETWEEN_WIDE.finditer(unit.plain):
        sides = unit.plain[match.start() - 1] + unit.plain[match.end()]
        if not _KATAKANA_SIDES.fullmatch(sides):
            yield Mark(*match.span(), "")


pattern_rule("style.space_brackets", (_AROUND_BRACKETS, ""), kinds=_PROSE, skips_named=True)


@unit_rule("style.space_after_mark", defaults={"marks": ("！", "？")}, kinds=_PROSE, by_default=False, skips_named=True)
def space_after_mark(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width or missing spaces after a sentence's ！ or ？. ``marks``: which."""
    for match in _AFTER_MARK.finditer(unit.plain):
        if match["mark"] not in params["marks"] or (not match["space"] and _goes_on(unit, match.end())):
            continue
        mark = match["mark"]
        yield Mark(match.start(), match.end(), f"{mark}\u3000", values={"mark": mark})


@unit_rule("style.space_code", defaults={"before": False, "after": False}, kinds=_PROSE, by_default=False)
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


@unit_rule("style.space_link", defaults={"before": False, "after": False}, kinds=_PROSE, by_default=False)
def space_link(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark spaces around links. ``before``, ``after``: whether one is wanted."""
    edges = [at for at in range(1, len(unit.plain)) if (at in unit.named) != (at - 1 in unit.named)]
    for at in edges:
        side = "before" if at in unit.named else "after"
        outside = at - 1 if side == "before" else at
        if (unit.plain[outside] == " ") != bool(params[side]) and unit.plain[outside] != "\n":
            yield Mark(outside, outside + 1, "" if unit.plain[outside] == " " else None)


pattern_rule("style.katakana_separator", (_KATAKANA_JOINED, "・"), kinds=_PROSE, skips_named=True)


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
