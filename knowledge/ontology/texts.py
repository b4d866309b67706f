"""What ontologies and coverage are said to be, in both languages: ``knowledge/data/ontology_texts.json``."""

from __future__ import annotations

import json
from pathlib import Path

from hub.core.texts import Text

_FILE = Path(__file__).resolve().parent.parent / "data" / "ontology_texts.json"
_TEXTS: dict[str, dict[str, dict[str, str]]] = json.loads(_FILE.read_text(encoding="utf-8"))


def text_of(subject: str, name: str, *terms: str, **words: object) -> Text:
    """Return a text with its numbered ``{0}`` and named words filled in."""
    written = _TEXTS[subject][name]
    return Text(ja=written["ja"].format(*terms, **words), en=written["en"].format(*terms, **words))
