"""Rules of style that need nothing but the text. Importing this package registers all of them."""

from review.rules.style import (
    brackets,
    grammar,
    hygiene,
    letters,
    marks,
    numerals,
    phrases,
    sentences,
    spacing,
    tone,
)
from review.rules.style.aliases import ALIASES, Use, aliases_of
from review.rules.style.base import Place, StyleRule, style_rules
from review.rules.style.reading import StyleText, read_markdown, read_plain

__all__ = [
    "ALIASES",
    "Place",
    "StyleRule",
    "StyleText",
    "Use",
    "aliases_of",
    "brackets",
    "grammar",
    "hygiene",
    "letters",
    "marks",
    "numerals",
    "phrases",
    "read_markdown",
    "read_plain",
    "sentences",
    "spacing",
    "style_rules",
    "tone",
]
