"""The search index: text analysis, postings and vectors of chunks, and the embedding set in use."""
