"""Texts in the cells of spreadsheets."""

import re

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes texts that begin so for formulas."""
MAX_CELL = 32_767
"""Characters in a cell. Source: Excel specifications and limits."""
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Leave out the characters that XML can't hold. Source: XML 1.0, 2.2."""
    return _NOT_XML.sub("", text)


def guarded(text: str) -> str:
    """Make a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def unguarded(text: str) -> str:
    """Undo what ``guarded`` put before a text."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text


def safe_text(text: object) -> str:
    """Make a text that no spreadsheet takes for a formula, and that fits into a cell of an Excel file."""
    clean = guarded(xml_text(str(text)))
    return clean if len(clean) <= MAX_CELL else f"{clean[: MAX_CELL - 1]}…"
