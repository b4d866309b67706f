"""Rules of style that need nothing but the text. Importing this package registers all of them."""

from review.rules.style import (
    brackets,
    grammar,
    hygiene,
    katakana,
    layout,
    letters,
    marks,
    numerals,
    particles,
    phrases,
    sentences,
    spacing,
    spellings,
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
    "katakana",
    "layout",
    "letters",
    "marks",
    "numerals",
    "particles",
    "phrases",
    "read_markdown",
    "read_plain",
    "sentences",
    "spacing",
    "spellings",
    "style_rules",
    "tone",
]
