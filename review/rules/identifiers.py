"""Requirement-like identifiers of a document: :mod:`knowledge.identifiers`, by the name that the rules use."""

from __future__ import annotations

from knowledge.identifier_families import Family, Mention, Role, rows_with
from knowledge.identifier_shapes import conventions, number_of, prefix_of, renumbered
from knowledge.identifiers import read_families

__all__ = [
    "Family",
    "Mention",
    "Role",
    "conventions",
    "number_of",
    "prefix_of",
    "read_families",
    "renumbered",
    "rows_with",
]
