"""Read-only openCypher over the graph: the guard, the caller's copy of the graph, and who answers."""
