"""Reading a whole document with a model: section by section with a table of facts, proposing, refuting, merging."""
