"""What a source says of the graph, before it is known which rows that touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRef:
    """A node by its public id, or by type and key: then it is looked up among names and aliases."""

    type: str
    id: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFact:
    """A source says that a node is there. ``rank`` orders what several sources say of one: the higher is heard.

    ``[start, end)`` is the place in the version's Markdown that says so.
    """

    ref: NodeRef
    name: str
    code: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFact:
    """A source says that two nodes are related; an end that is not there leaves the fact without effect."""

    source: NodeRef
    type: str
    target: NodeRef
    properties: Mapping[str, Any] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that one source says, each node and each edge once."""

    nodes: tuple[NodeFact, ...] = ()
    edges: tuple[EdgeFact, ...] = ()
