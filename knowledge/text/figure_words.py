"""Which block of a stored text has the words that OCR read in one of the document's pictures."""

from __future__ import annotations

from knowledge.types.documents import Block

LABEL, LABEL_EN = "図中の文字", "Words in the figure"


def has_words_of_figure(text: str, block: Block) -> bool:
    """Return whether a block has what a picture shows: a screen, a diagram, as far as OCR could read it."""
    return block.ocr is not None and text.startswith((f"{LABEL}: ", f"{LABEL_EN}: "), block.start)
