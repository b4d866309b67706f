"""Looking things up in the section tree: :mod:`knowledge.text.outline`, by the name that the rules use."""

from __future__ import annotations

from hub.core.folding import fold
from knowledge.text.outline import apparatus, bare_title, contents_ids, inside, is_history, place

__all__ = ["apparatus", "bare_title", "contents_ids", "fold", "inside", "is_history", "place"]
