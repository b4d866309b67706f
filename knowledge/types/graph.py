"""Paths of the knowledge graph, by the ids of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Edge = tuple[str, str, str]
"""An edge by its source's id, its type, its target's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPath:
    """Neighbouring nodes by their ids, and the edges between them, each in its own direction."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def along(cls, *edges: Edge, start: str) -> GraphPath:
        """Make the path that goes along edges from a node, whatever their direction."""
        nodes = [start]
        for source, _type, target in edges:
            nodes.append(target if source == nodes[-1] else source)
        return cls(nodes=tuple(nodes), edges=tuple(edges))

    @classmethod
    def through(cls, nodes: Sequence[str], edges: Iterable[Edge]) -> GraphPath | None:
        """Make the path through nodes by one of the given edges for each step; None where one lacks its edge."""
        by_ends = {frozenset((source, target)): (source, type, target) for source, type, target in edges}
        steps = [by_ends.get(frozenset(ends)) for ends in pairwise(nodes)]
        found = tuple(step for step in steps if step)
        return cls(nodes=tuple(nodes), edges=found) if len(found) == len(steps) else None

    def as_json(self) -> list[list[object]]:
        """Return the path as JSON keeps it: the nodes, then the edges."""
        return [list(self.nodes), [list(edge) for edge in self.edges]]

    @classmethod
    def from_json(cls, stored: Sequence[Sequence[Any]]) -> GraphPath:
        """Return the path that ``as_json`` gave."""
        nodes, edges = stored
        return cls(nodes=tuple(nodes), edges=tuple((source, kind, target) for source, kind, target in edges))
