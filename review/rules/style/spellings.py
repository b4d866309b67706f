"""表記ゆれ in a single text: one noun in two spellings."""

from __future__ import annotations

from collections.abc import Iterator

from review.rules.style.base import Mark, Params, text_rule
from review.rules.style.reading import Token, Unit, UnitKind


@text_rule(
    "style.noun_spelling",
    defaults={"allow": ()},
    kinds=(UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION, UnitKind.HEADING),
    by_default=False,
)
def noun_spelling(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark nouns that the text has spelled in another way before. ``allow``: spellings that may differ."""
    first: dict[str, str] = {}
    for unit in units:
        for token in unit.tokens:
            if not _counts(token) or token.surface in params["allow"]:
                continue
            known = first.setdefault(token.normal, token.surface)
            if known != token.surface:
                yield unit, Mark(token.start, token.end, values={"first": known})


def _counts(token: Token) -> bool:
    is_noun = token.is_a("名詞", "普通名詞")
    return is_noun and len(token.surface) > 1 and not any(character.isascii() for character in token.surface)
