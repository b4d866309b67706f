"""How well an embedding set finds what people marked as relevant: scoring cases, summing up, working on runs."""
