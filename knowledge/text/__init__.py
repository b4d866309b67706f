"""What the text of a document says by itself: sections, tables, numbers, identifiers, words. Pure functions."""
