"""Extension points of services that load much: apps register at each start, most processes call none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hub.access.principals import Principal
from hub.core.extensions import ExtensionPoint
from knowledge.models import Document, EmbeddingSet

if TYPE_CHECKING:
    from knowledge.ports import GraphMasterSource  # brings NumPy in

ERASERS = ExtensionPoint[Callable[[Document], Mapping[str, int]]]()
"""Called for each document that is deleted, in the same transaction and before its rows go.

Each erases what its app keeps of the document's text, and returns the counts that the receipt states.
"""

SWITCH_CHECKS = ExtensionPoint[Callable[[Principal, EmbeddingSet], None]]()
"""Called before an embedding set is switched to, outside of the transaction that does so; raise Conflict to prevent it.
"""

GRAPH_MASTERS: ExtensionPoint[GraphMasterSource] = ExtensionPoint()
"""The masters of apps above that contribute to the knowledge graph."""
