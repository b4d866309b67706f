"""The text rules over any text."""

from review.lint.schemas import LintOut, RulesOut, lint_out, rules_out
from review.lint.texts import MAX_CHARACTERS, MAX_RULES, TextFormat, describe_rules, lint_text

__all__ = [
    "MAX_CHARACTERS",
    "MAX_RULES",
    "LintOut",
    "RulesOut",
    "TextFormat",
    "describe_rules",
    "lint_out",
    "lint_text",
    "rules_out",
]
