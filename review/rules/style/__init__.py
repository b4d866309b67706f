"""Rules of style that need nothing but the text. Importing this package registers all of them."""

from review.rules.style import grammar, letters, marks, numerals, phrases, sentences, spacing, tone
from review.rules.style.aliases import ALIASES, Use, aliases_of
from review.rules.style.base import Place, StyleRule, style_rules
from review.rules.style.reading import StyleText, read_markdown, read_plain
