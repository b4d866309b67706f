"""The text rules over any text."""
