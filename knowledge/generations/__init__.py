"""Copies of embedding sets in a search engine: made, filled, told of changes, compared, switched to and dropped."""
