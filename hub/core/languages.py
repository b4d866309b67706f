"""The two languages of what is stored in both: which of them the caller reads."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import translation
from django.utils.translation import gettext

from hub.core.texts import Text


def in_language(ja: str, en: str) -> str:
    """Choose between a Japanese and an English text by the active language; Japanese unless that is English."""
    return en if (translation.get_language() or "").startswith("en") else ja


def shown(text: Text) -> str:
    """Return a text in the active language; Japanese unless that is English."""
    return in_language(text.ja, text.en)


def shown_stored(text: Mapping[str, str]) -> str:
    """Return what is stored with ``ja`` and ``en`` in the active language.

    Where it lacks that it is returned in the other one, and says so; empty where it has neither.
    """
    ja, en = text.get("ja", ""), text.get("en", "")
    if found := in_language(ja, en):
        return found
    only = in_language(gettext("{text} (in English only)"), gettext("{text} (in Japanese only)"))
    return only.format(text=ja or en) if ja or en else ""


def in_both(message: object) -> Text:
    """Return what a lazily translated message, such as a HubError, says in each language."""
    with translation.override("ja"):
        ja = str(message)
    with translation.override("en"):
        return Text(ja=ja, en=str(message))
