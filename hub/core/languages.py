"""The two languages of what is stored in both: which of them the caller reads."""

from __future__ import annotations

from django.utils.translation import get_language


def in_language(ja: str, en: str) -> str:
    """Choose between a Japanese and an English text by the active language; Japanese unless that is English."""
    return en if (get_language() or "").startswith("en") else ja
