"""A Django database backend that starts the embedded PostgreSQL with the first connection."""
