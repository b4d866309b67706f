"""Requirement-like identifiers of a document: :mod:`knowledge.text.identifiers`, by the name that the rules use."""

from __future__ import annotations

from knowledge.text.identifier_families import Family, Mention, Role, rows_with
from knowledge.text.identifier_shapes import conventions, number_of, prefix_of, renumbered
from knowledge.text.identifiers import read_families

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
