"""The knowledge graph: what documents and masters contribute to it, and how it is searched and queried."""
