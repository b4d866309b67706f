"""Cutting documents into passages for search."""

from knowledge.chunkers.registry import chunk_document
