"""Value objects of the knowledge app: plain data, no framework, safe to import anywhere.

Offsets are half-open ``[start, end)`` in Unicode code points of a version's stored Markdown. Pages (PDF pages,
slides) count from 1. ``None`` means unknown or not applicable; nothing is guessed.
"""
