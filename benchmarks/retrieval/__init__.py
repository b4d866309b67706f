"""What ``benchmarks/search.py`` is made of."""
