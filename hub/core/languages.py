"""The two languages of what is stored in both: which of them the caller reads."""

from __future__ import annotations

from django.utils import translation

from hub.core.texts import Text


def in_language(ja: str, en: str) -> str:
    """Choose between a Japanese and an English text by the active language; Japanese unless that is English."""
    return en if (translation.get_language() or "").startswith("en") else ja


def shown(text: Text) -> str:
    """Return a text in the active language; Japanese unless that is English."""
    return in_language(text.ja, text.en)


def in_both(message: object) -> Text:
    """Return what a lazily translated message, such as a HubError, says in each language."""
    with translation.override("ja"):
        ja = str(message)
    with translation.override("en"):
        return Text(ja=ja, en=str(message))
