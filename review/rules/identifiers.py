"""Requirement-like identifiers of a document: :mod:`knowledge.identifiers`, by the name that the rules use."""

from __future__ import annotations

from knowledge.identifiers import Family, Mention, Role, conventions, number_of, read_families, rows_with

__all__ = ["Family", "Mention", "Role", "conventions", "number_of", "read_families", "rows_with"]
