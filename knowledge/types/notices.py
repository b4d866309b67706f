"""Remarks that come with a result, and the words of all that this app says in both languages: ``data/texts.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from hub.core.texts import Text

_FILE = Path(__file__).resolve().parent.parent / "data" / "texts.json"
_TEXTS: dict[str, dict[str, dict[str, str]]] = json.loads(_FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Text):
    """A remark for people about a degraded or partial answer; ``code`` is stable, the texts are not."""

    code: str

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "ja": self.ja, "en": self.en}


def find_text(subject: str, name: str) -> Text | None:
    """Return a text as it is written."""
    written = _TEXTS[subject].get(name)
    return Text(**written) if written else None


def text_of(subject: str, name: str, *terms: str, **words: object) -> Text:
    """Return a text with its numbered ``{0}`` and named words filled in; a word that is a Text by its own language.

    Raises KeyError when there is no such text, or a word that it needs is missing.
    """
    written = _TEXTS[subject][name]
    ja = {key: word.ja if isinstance(word, Text) else word for key, word in words.items()}
    en = {key: word.en if isinstance(word, Text) else word for key, word in words.items()}
    return Text(ja=written["ja"].format(*terms, **ja), en=written["en"].format(*terms, **en))


def notice_of(subject: str, name: str, *, code: str = "", **words: object) -> Notice:
    """Return a text as a notice, under its own name unless a ``code`` is given."""
    text = text_of(subject, name, **words)
    return Notice(code=code or name, ja=text.ja, en=text.en)
