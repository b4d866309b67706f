"""What a style rule says of a text, as the pieces of the text it points at."""

from __future__ import annotations

from typing import Any

from knowledge.parsers.markdown import markdown_blocks
from review.rules.style import Place, read_markdown, read_plain, style_rules


def places(rule_id: str, text: str, *, plain: bool = False, **params: Any) -> list[Place]:
    style_text = read_plain(text) if plain else read_markdown(text, markdown_blocks(text))
    return list(style_rules()[rule_id].places(style_text, params))


def found(rule_id: str, text: str, *, plain: bool = False, **params: Any) -> list[str]:
    return [text[place.start : place.end] for place in places(rule_id, text, plain=plain, **params)]


def corrected(rule_id: str, text: str, **params: Any) -> str:
    """The text with all replacements put in."""
    for place in reversed(places(rule_id, text, **params)):
        if place.replacement is not None:
            text = text[: place.start] + place.replacement + text[place.end :]
    return text
