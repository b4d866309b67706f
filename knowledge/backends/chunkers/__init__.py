"""Cutting documents into passages for search."""

from knowledge.backends.chunkers.registry import chunk_document

__all__ = ["chunk_document"]
