"""The classes of a version as a tree: a class with several parents stands below each, with what is below it once."""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge.models import Ontology, OntologyClass


@dataclass(slots=True, kw_only=True)
class TreeNode:
    """A class at one place. ``is_repeated``: what is below it stands at its first place."""

    row: OntologyClass
    children: list[TreeNode] = field(default_factory=list)
    is_repeated: bool = False


def class_tree(ontology: Ontology) -> list[TreeNode]:
    """Build the tree, roots first by their labels. Two queries. Classes in a circle hang below one of them."""
    rows = list(ontology.classes.prefetch_related("parents").order_by("position", "label_ja", "code"))
    children: dict[int, list[OntologyClass]] = {}
    for row in rows:
        for parent in row.parents.all():
            children.setdefault(parent.pk, []).append(row)
    placed: set[int] = set()
    roots = [_node(row, children, placed) for row in rows if not row.parents.all()]
    roots += [_node(row, children, placed) for row in rows if row.pk not in placed]
    return [node for node in roots if not node.is_repeated]


def _node(row: OntologyClass, children: dict[int, list[OntologyClass]], placed: set[int]) -> TreeNode:
    """Place a class and all below it, without recursion: files of others may be deeper than Python's stack."""
    top = TreeNode(row=row)
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if node.row.pk in placed:
            node.is_repeated = bool(children.get(node.row.pk)) or node is top
            continue
        placed.add(node.row.pk)
        node.children = [TreeNode(row=child) for child in children.get(node.row.pk, ())]
        waiting.extend(reversed(node.children))
    return top
