"""Rules on headings, chapters, figures, tables and references to them."""
