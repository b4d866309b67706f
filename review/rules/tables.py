"""Markdown pipe tables as cells with offsets: :mod:`knowledge.text.tables`, by the name that the rules use."""

from __future__ import annotations

from knowledge.text.tables import Cell, Row, Table, read_table, read_tables

__all__ = ["Cell", "Row", "Table", "read_table", "read_tables"]
