"""Three stores for search by words, filled with the same passages: see :mod:`benchmarks.lexical_stores`."""
