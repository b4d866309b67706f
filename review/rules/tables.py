"""Markdown pipe tables as cells with offsets: :mod:`knowledge.tables`, by the name that the rules use."""

from __future__ import annotations

from knowledge.tables import Cell, Row, Table, read_table, read_tables

__all__ = ["Cell", "Row", "Table", "read_table", "read_tables"]
