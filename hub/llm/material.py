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


def fenced(content: str, *, label: str, place: str, fence: str) -> str:
    """One passage between its fences, under the place where it is in its document."""
    return f'<passage-{fence} id="{label}">\n[{place}]\n{content}\n</passage-{fence}>'
