"""The text of a document with marks at the words of findings, and what they say below, as Markdown footnotes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from knowledge.parsers.annotated.notes import Markup
from knowledge.types.documents import Block, BlockKind

LABEL = "hub-"
_WHOLE = frozenset({BlockKind.CODE, BlockKind.FRONT_MATTER, BlockKind.FIGURE})
"""Where a mark inside would be shown as it is, or break what is there: it goes behind the block."""


def mark_text(markup: Markup, blocks: Sequence[Block]) -> bytes:
    """Return the stored Markdown with ``[^hub-1]`` behind the words of each note, and the notes at the end.

    A mark never is inside code, front matter, an escape or a figure. Nothing else of the text is changed.
    """
    text = markup.markdown
    marks: dict[int, list[int]] = defaultdict(list)
    for number, note in enumerate(markup.notes, 1):
        marks[_behind(text, blocks, note.end)].append(number)
    parts: list[str] = []
    last = 0
    for place in sorted(marks):
        parts += [text[last:place], *(f"[^{LABEL}{number}]" for number in marks[place])]
        last = place
    parts.append(text[last:].rstrip("\n") + "\n")
    for number, note in enumerate(markup.notes, 1):
        lines = note.text.split("\n")
        parts.append(f"\n[^{LABEL}{number}]: " + "\n    ".join(f"{line}  " for line in lines).rstrip() + "\n")
    return "".join(parts).encode()


def _behind(text: str, blocks: Sequence[Block], end: int) -> int:
    """Return where a mark for words that end at a place may stand."""
    block = next((one for one in blocks if one.start < end <= one.end), None)
    if block is not None and block.kind in _WHOLE:
        return block.end
    while 0 < end < len(text) and (text[end - 1] in "\\\n " or text[end - 1].isspace()):
        end -= 1
    return end
