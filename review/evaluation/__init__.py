"""Measuring the reviewer: which findings answer a case, the gold list's format, runs, and one run against another."""
