"""How a text is prepared before any embedder sees it."""

from __future__ import annotations

import re

from knowledge.text.folding import normalise


def prepare_text(text: str, *, prefix: str) -> str:
    """Build what the model reads: prefix and normalised text, without outer white space."""
    return (prefix + normalise(text).strip()).strip()


def default_prefixes(model: str) -> tuple[str, str]:
    """Give the (query, passage) prefixes a model was trained with: E5 has them, other families do not.

    Source: model card of intfloat/multilingual-e5-large, "Each input text should start with query: or
    passage:".
    """
    is_e5 = re.search(r"(?<![a-z0-9])e5(?![0-9])", model.lower()) is not None
    return ("query: ", "passage: ") if is_e5 else ("", "")
