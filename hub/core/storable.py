"""Characters that no table of PostgreSQL can keep: NUL, and halves of surrogate pairs."""

from __future__ import annotations

import re

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Give a text without what can't be stored: U+FFFD stands for each such character."""
    return UNSTORABLE.sub("\ufffd", text)
