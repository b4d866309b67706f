"""Cutting documents into chunks for search."""

from knowledge.chunkers.registry import chunk_document
