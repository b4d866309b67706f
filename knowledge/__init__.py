"""What the hub knows: documents, their index, ontologies and the graph."""

import hub as hub  # before any library of a parser or an embedder: see there
