"""The search index: text analysis, postings and vectors of passages, and the embedding set in use."""
