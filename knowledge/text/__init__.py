"""What the text of a document tells by itself: sections, tables, numbers, identifiers, words. Pure functions."""
