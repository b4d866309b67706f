"""Texts in Japanese and in English at once, and what no table of PostgreSQL can keep of a text. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text in both languages; `hub.core.languages.shown` chooses the caller's."""

    ja: str
    en: str

    def columns(self, name: str) -> dict[str, str]:
        """Return the text as the two columns of a table that hold it: ``name_ja`` and ``name_en``."""
        return {f"{name}_ja": self.ja, f"{name}_en": self.en}


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Give a text without what can't be stored: U+FFFD stands for each such character."""
    return UNSTORABLE.sub("\ufffd", text)
