"""Document text in a request: fenced and labelled, so that a model can tell material from instructions. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

FENCE_LENGTH = 12


def label_of(index: int) -> str:
    """The id by which the model knows a passage: short ids are copied right more often than long ones."""
    return f"p{index + 1}"


def fence_of(parts: Iterable[str]) -> str:
    """A name for the fence: a hash of all that is inside, so that none of it can hold the text that would end it.

    >>> fence_of(["応答時間は3秒以内とする。"])
    '91ac4cfadfb9'
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:FENCE_LENGTH]


def fenced(content: str, *, label: str, place: str, fence: str, ocr: float | None = None) -> str:
    """One passage between its fences, under the place where it is in its document.

    ``ocr`` is how sure OCR was of words that it read, from 0 to 1: the model is told that characters may be wrong.
    """
    if ocr is not None:
        place = f"{place}; read from a picture by OCR, confidence {ocr:.2f}: characters may be wrong"
    return f'<passage-{fence} id="{label}">\n[{place}]\n{content}\n</passage-{fence}>'
