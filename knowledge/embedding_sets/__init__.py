"""Embedding sets: building, comparing, switching and removing them."""
