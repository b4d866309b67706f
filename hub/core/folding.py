"""Comparing names that people type and typeset in several ways."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Fold width and case (NFKC, casefold) and drop all white space.

    >>> fold("ＳＱＬ サーバー")
    'sqlサーバー'
    """
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
