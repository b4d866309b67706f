"""The text rules over any text."""

from review.lint.texts import (
    MAX_CHARACTERS,
    MAX_RULES,
    LintOut,
    RulesOut,
    TextFormat,
    describe_rules,
    lint_out,
    lint_text,
)
