"""Public documents that no rule was made on, two readings of each, and what the rules say of them at the first run."""
