"""The check list as a document is read against it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hub.llm.tokens import estimate_text_tokens

# What a request holds of what rules said, and the most characters of one line of it.
OBSERVED_TOKENS = 3000
MAX_OBSERVATION = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A check item that a document is held against. ``said`` is what rules said of it, a line each."""

    code: str
    text: str
    said: tuple[str, ...] = ()


def check_list_text(points: Sequence[Point]) -> str:
    """The check items, each with what rules said of it, as far as that fits."""
    lines: list[str] = []
    left = OBSERVED_TOKENS
    for point in points:
        lines.append(f"{point.code} {point.text}")
        for said in point.said:
            line = f"  rules: {said[:MAX_OBSERVATION]}"
            left -= estimate_text_tokens(line)
            lines += [line] * (left >= 0)
    return "\n".join(lines)
